"""WebSockets of a real server within the test's own process, on a port of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID, uuid4

import uvicorn
from channels import DEFAULT_CHANNEL_LAYER
from channels.layers import channel_layers
from django.test import Client
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from gedaechtnis.config.asgi import application
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import user_scope
from gedaechtnis.live import publisher

_SECONDS = 10


class Lines:
    """An open line per person, read to its end on demand."""

    def __init__(self, lines: dict[UUID, ClientConnection]) -> None:
        self._lines = lines

    def heard(self) -> dict[UUID, list[dict[str, Any]]]:
        """All frames so far, by `sub`. A marked frame is sent behind them, and a line keeps their order."""
        mark = str(uuid4())
        for sub in self._lines:
            publisher.publish(user_scope(sub), {"type": "mark", "ids": [mark]})
        return {sub: list(_until(line, mark)) for sub, line in self._lines.items()}


def _until(line: ClientConnection, mark: str) -> Iterator[dict[str, Any]]:
    while (frame := json.loads(line.recv(timeout=_SECONDS)))["ids"] != [mark]:
        yield frame


@contextmanager
def lines(users: list[User]) -> Iterator[Lines]:
    """A server, and a line for each of these people.

    It has a channel layer of its own: one that the loop of an earlier server still listens to takes no other.
    """
    channel_layers.backends.pop(DEFAULT_CHANNEL_LAYER, None)
    server = uvicorn.Server(uvicorn.Config(application, port=0, lifespan="off", log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        address = _address(server)
        with ExitStack() as stack:
            yield Lines({user.sub: stack.enter_context(_line(address, user)) for user in users})
    finally:
        server.should_exit = True
        thread.join(timeout=_SECONDS)


def _address(server: uvicorn.Server) -> str:
    deadline = time.monotonic() + _SECONDS
    while not server.started:
        assert time.monotonic() < deadline, "the server does not start"
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    return f"127.0.0.1:{port}"


@contextmanager
def _line(address: str, user: User) -> Iterator[ClientConnection]:
    client = Client()
    client.force_login(user)
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    with connect(
        f"ws://{address}/ws/", origin=Origin(f"http://{address}"), additional_headers={"Cookie": cookie}
    ) as line:
        wait_until_joined(line, user)
        yield line


def wait_until_joined(line: ClientConnection, user: User) -> None:
    """A line hears nothing before it has joined its groups: knock until it answers, and hear all the knocks."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        knock(user)
        try:
            line.recv(timeout=0.2)
        except TimeoutError:
            continue
        Lines({user.sub: line}).heard()
        return
    raise AssertionError("the line does not join")


def knock(user: User) -> None:
    """Send what pages take no notice of."""
    publisher.publish(user_scope(user.sub), {"type": "knock", "ids": []})
