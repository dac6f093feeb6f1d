"""WebSocket addresses."""

from __future__ import annotations

from django.urls import path

from gedaechtnis.live.consumers import LiveConsumer

websocket_urlpatterns = [path("ws/", LiveConsumer.as_asgi())]
