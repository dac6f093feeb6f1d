"""WebSocket addresses."""

from __future__ import annotations

from typing import Any, cast

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from gedaechtnis.live.consumers import LiveConsumer

# Channels routes ASGI applications with Django's `path`, which is typed for views only.
websocket_urlpatterns = [
    path("ws/", cast(Any, LiveConsumer.as_asgi())),
    re_path("", cast(Any, WebsocketDenier.as_asgi())),
]
