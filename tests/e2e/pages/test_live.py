"""Live notices reach those who may read, hold ids only, and never stand in the way of a write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from channels_redis.core import RedisChannelLayer
from django.contrib.sessions.models import Session
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.live import publisher
from gedaechtnis.live.groups import scope_group
from gedaechtnis.memory import ports
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal
from tests.e2e.conftest import WORLD, apart
from tests.sockets import wait_until_joined
from tests.stack import Stack

QUIET_SECONDS = 0.5


@contextmanager
def line(stack: Stack, user: User | None, query: str = "") -> Iterator[ClientConnection]:
    """A WebSocket with that person's session, already joined to their groups."""
    client = Client()
    if user:
        client.force_login(user)
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    address = stack.url.replace("http", "ws", 1) + "/ws/" + query
    origin = Origin(stack.url)
    with connect(address, origin=origin, additional_headers={"Cookie": cookie}) as socket:
        if user:
            wait_until_joined(socket, user)
        else:
            socket.recv(timeout=5)
        yield socket


def tell(user: User, scope_ref: str | None = None) -> None:
    proposal = MemoryMutationProposal.model_validate({"operations": WORLD[:1]})
    apart(lambda: commit_proposal(principal=person(user), proposal=proposal, scope_ref=scope_ref))


def test_readers_hear_ids_and_strangers_nothing(stack: Stack, anna: User, clara: User) -> None:
    with line(stack, anna) as hers, line(stack, clara) as strange:
        tell(anna)
        frame = json.loads(hers.recv(timeout=5))
        assert set(frame) == {"type", "ids"}
        assert frame["type"] == "memory.committed"
        assert frame["ids"]
        with pytest.raises(TimeoutError):
            strange.recv(timeout=QUIET_SECONDS)


def test_case_c67_nobody_chooses_whom_to_hear(stack: Stack, anna: User, clara: User) -> None:
    hers_alone = person(anna).default_scope
    tell(clara)
    with (
        line(stack, anna) as hers,
        line(stack, clara, f"?tenant={hers_alone}&group={scope_group(hers_alone)}") as other,
    ):
        for name in ("facts", "facts.anna", hers_alone, scope_group(hers_alone), "../anna", "facts*", "x" * 200):
            other.send(json.dumps({"type": "subscribe", "group": name}))
        tell(anna)
        assert json.loads(hers.recv(timeout=5))["type"] == "memory.committed"
        for socket in (hers, other):  # once for her, never for the other, and nothing from before is played again
            with pytest.raises(TimeoutError):
                socket.recv(timeout=QUIET_SECONDS)


def test_nobody_listens_without_a_session(stack: Stack, database: None) -> None:
    with pytest.raises(ConnectionClosed) as closed, line(stack, None):
        pass
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


@pytest.mark.parametrize(
    "end",
    [
        lambda: Session.objects.all().delete(),
        lambda: User.objects.filter(username="anna").update(is_active=False),
    ],
    ids=["signed out", "disabled"],
)
def test_a_line_ends_with_the_right_to_listen(stack: Stack, anna: User, end: Callable[[], object]) -> None:
    with line(stack, anna) as hers:
        apart(end)
        tell(anna)
        with pytest.raises(ConnectionClosed) as closed:
            hers.recv(timeout=5)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


def test_case_c99_an_idle_line_loses_a_group_at_once(stack: Stack, anna: User, clara: User) -> None:
    family = apart(lambda: groups.create_group(user=anna, name="Familie"))
    apart(lambda: groups.add_member(user=anna, group_id=family.pk, username="clara"))
    shared = f"group:{family.pk}"
    with line(stack, anna) as hers, line(stack, clara) as strange:
        apart(lambda: groups.remove_member(user=anna, group_id=family.pk, sub=clara.sub))
        assert json.loads(strange.recv(timeout=2)) == {"type": "access.changed", "ids": []}
        tell(anna, shared)
        assert json.loads(hers.recv(timeout=5))["type"] == "memory.committed"
        with pytest.raises(TimeoutError):
            strange.recv(timeout=QUIET_SECONDS)
        # Who comes back hears again, on the same line.
        apart(lambda: groups.add_member(user=anna, group_id=family.pk, username="clara"))
        assert json.loads(strange.recv(timeout=2))["type"] == "access.changed"
        apart(lambda: ports.publish(shared, {"type": "memory.committed", "ids": []}))
        assert json.loads(strange.recv(timeout=5))["type"] == "memory.committed"


@pytest.mark.parametrize("frame", ["{broken", "\x00", b"\x00\xff", "[" * 100_000])
def test_what_a_page_sends_is_dropped_unread(stack: Stack, anna: User, frame: str | bytes) -> None:
    with line(stack, anna) as hers:
        hers.send(frame)
        tell(anna)
        assert json.loads(hers.recv(timeout=5))["type"] == "memory.committed"


@pytest.mark.parametrize("path", ["/ws/other", "/", "/%00"])
def test_there_is_one_address_to_listen_at(stack: Stack, path: str) -> None:
    address = stack.url.replace("http", "ws", 1) + path
    with pytest.raises(InvalidStatus) as refused, connect(address, origin=Origin(stack.url)):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "https://127.0.0.1:{port}",
        "http://localhost:{port}",
        "http://evil.example:{port}",
        "null",
        "",
        None,
    ],
)
def test_pages_of_other_addresses_do_not_listen(stack: Stack, anna: User, origin: str | None) -> None:
    client = Client()
    client.force_login(anna)
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    address = stack.url.replace("http", "ws", 1) + "/ws/"
    asked = None if origin is None else Origin(origin.format(port=stack.port))
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(address, origin=asked, additional_headers={"Cookie": cookie}),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_a_write_does_not_need_the_channel_layer(anna: User, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = RedisChannelLayer(hosts=["redis://127.0.0.1:1"])
    monkeypatch.setattr(publisher, "get_channel_layer", lambda: nowhere)
    tell(anna)
