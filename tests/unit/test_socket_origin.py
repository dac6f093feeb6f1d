"""Which handshakes are let through behind a proxy: scheme, name and port as Django reads them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gedaechtnis.live.origin import SameOrigin

HOST = "memory.example"


@pytest.fixture
def proxied(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    settings.ALLOWED_HOSTS = [HOST]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.CSRF_TRUSTED_ORIGINS = ["https://other.example", "https://*.trusted.example"]


def is_admitted(origin: str, *, scheme: str = "wss", query: bytes = b"", **headers: str) -> bool:
    """Whether a handshake reaches what is behind the check; a refusal closes it instead."""
    reached = False
    said = []

    async def behind(_scope: Any, _receive: Any, _send: Any) -> None:
        nonlocal reached
        reached = True

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        said.append(message["type"])
        if message["type"] == "websocket.close":
            raise asyncio.CancelledError

    given = {"Host": HOST, "Origin": origin, **headers}
    scope = {
        "type": "websocket",
        "scheme": scheme,
        "path": "/ws/",
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode("latin1")) for name, value in given.items()],
        "subprotocols": [],
    }
    try:
        asyncio.run(SameOrigin(behind)(scope, receive, send))
    except asyncio.CancelledError:
        assert said == ["websocket.close"]
    return reached


@pytest.mark.parametrize(
    ("origin", "more"),
    [
        (f"https://{HOST}", {}),
        (f"https://{HOST}", {"scheme": "ws", "X-Forwarded-Proto": "https"}),
        (f"https://{HOST}:8443", {"Host": f"{HOST}:8443"}),
        ("https://other.example", {}),
        ("https://deep.trusted.example", {}),
        (f"https://{HOST}", {"query": b"\xff\xfe"}),
    ],
)
def test_our_own_pages_are_let_through(proxied: None, origin: str, more: dict[str, Any]) -> None:
    assert is_admitted(origin, **more)


@pytest.mark.parametrize(
    ("origin", "more"),
    [
        (f"http://{HOST}", {}),
        (f"https://{HOST}:8443", {}),
        (f"https://{HOST}", {"Host": f"{HOST}:8443"}),
        (f"https://sub.{HOST}", {}),
        (f"https://{HOST}.evil.example", {}),
        ("https://evil.example", {"Host": "evil.example"}),
        ("http://other.example", {}),
        ("https://trusted.example.evil.example", {}),
        ("https://[broken", {}),
        ("null", {}),
        ("", {}),
        ("\xff", {}),
    ],
)
def test_all_others_are_refused(proxied: None, origin: str, more: dict[str, Any]) -> None:
    assert not is_admitted(origin, **more)
