"""The ASGI application: pages, API and MCP over HTTP, live notices over WebSocket, and the life of the server."""

from __future__ import annotations

import os
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gedaechtnis.config.settings.dev")

# Loads the apps; modules that import models come after it.
http_application = get_asgi_application()

from gedaechtnis.config.startup import settle  # noqa: E402
from gedaechtnis.live.origin import SameOrigin  # noqa: E402
from gedaechtnis.live.routing import websocket_urlpatterns  # noqa: E402
from gedaechtnis.mcp.http import McpDoor  # noqa: E402

mcp = McpDoor()


async def http(scope: Any, receive: Any, send: Any) -> None:
    """MCP is answered by an application of its own, everything else by Django."""
    door = mcp if scope["path"].rstrip("/") == "/mcp" else http_application
    await door(scope, receive, send)


application = ProtocolTypeRouter(
    {
        "http": http,
        "lifespan": mcp,
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)

settle()
