"""The ASGI application: pages and API over HTTP, live notices over WebSocket."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gedaechtnis.config.settings.dev")

# Loads the apps; modules that import models come after it.
http_application = get_asgi_application()

from gedaechtnis.config.startup import settle  # noqa: E402
from gedaechtnis.live.origin import SameOrigin  # noqa: E402
from gedaechtnis.live.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": http_application,
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)

settle()
