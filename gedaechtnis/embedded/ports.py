"""Ports that stay the same from start to start, as long as nobody else takes them."""

from __future__ import annotations

import json
import random
import socket
from pathlib import Path

from gedaechtnis.embedded.console import say
from gedaechtnis.embedded.credentials import write_private
from gedaechtnis.embedded.errors import EmbeddedError

_FILE = "ports.json"
# Below the range the kernel takes ports for outgoing connections from.
_RANGE = range(20_000, 32_000)
_ATTEMPTS = 100


def is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1:`port` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def known_ports(state: Path) -> dict[str, int]:
    """The ports of the last start by service name; empty before the first."""
    path = state / _FILE
    return json.loads(path.read_text()) if path.exists() else {}


def service_port(state: Path, service: str) -> int:
    """The service's port: that of the last start if it is free, else a new one, which is stored."""
    ports = known_ports(state)
    if service in ports and is_free(ports[service]):
        return ports[service]
    port = _find_free(taken=set(ports.values()))
    if service in ports:
        say(f"port {ports[service]} is taken by another program; {service} moves to {port}")
    write_private(state / _FILE, json.dumps({**ports, service: port}, indent=2))
    return port


def web_port(wanted: int | None, default: int = 8000, span: int = 20) -> int:
    """The port of the pages: exactly `wanted`, else the first free one from `default` on.

    Raises EmbeddedError if it is taken, or all of them are.
    """
    candidates = [wanted] if wanted else list(range(default, default + span))
    for port in candidates:
        if is_free(port):
            return port
    raise EmbeddedError(f"Port {candidates[0]} is taken by another program; choose one with --port.")


def _find_free(taken: set[int]) -> int:
    for port in random.sample(_RANGE, _ATTEMPTS):
        if port not in taken and is_free(port):
            return port
    raise EmbeddedError(f"No free port found between {_RANGE.start} and {_RANGE.stop}.")
