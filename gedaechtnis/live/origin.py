"""Who may open a WebSocket: pages of this server only. Browsers send cookies along whatever page asks."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.core.handlers.asgi import ASGIRequest

from gedaechtnis.identity import origin


class SameOrigin:
    """Lets handshakes of our own pages through to `application` and refuses all others with 403."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        request = _as_request(scope)
        admitted = "HTTP_ORIGIN" in request.META and origin.is_ours(request)
        return await (self.application if admitted else WebsocketDenier.as_asgi())(scope, receive, send)


def _as_request(scope: Any) -> ASGIRequest:
    """The handshake as Django reads requests, so that names, proxies and schemes mean the same as for pages."""
    kept: Iterable[str] = ("headers", "client", "server")
    scheme = "https" if scope.get("scheme") in {"wss", "https"} else "http"
    about = {name: scope[name] for name in kept if name in scope}
    return ASGIRequest({**about, "type": "http", "method": "GET", "path": "/", "scheme": scheme}, BytesIO())
