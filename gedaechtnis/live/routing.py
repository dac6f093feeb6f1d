"""WebSocket addresses."""

from __future__ import annotations

from typing import Any, cast

from django.urls import path

from gedaechtnis.live.consumers import LiveConsumer

# Channels routes ASGI applications with Django's `path`, which is typed for views only.
websocket_urlpatterns = [path("ws/", cast(Any, LiveConsumer.as_asgi()))]
