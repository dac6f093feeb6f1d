"""The ports to whoever reads along: a new turn is announced in the transaction that stores it, a chat is had read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from gedaechtnis.chat.models import Message
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal

OnTurn = Callable[[Principal, Message], None]
_listeners: list[OnTurn] = []


class Reader(Protocol):
    """Learns from what is unread of a chat, to its end; safe to call twice."""

    def __call__(self, *, user: User, chat_id: UUID, org_id: UUID | None) -> object: ...


_reader: Reader | None = None


def listen(function: OnTurn) -> None:
    """Have `function` called for every message a person sends; it may write, and fails with the message."""
    _listeners.append(function)


def announce(principal: Principal, message: Message) -> None:
    for function in _listeners:
        function(principal, message)


def bind_reader(function: Reader) -> None:
    global _reader
    _reader = function


def have_read(*, user: User, chat_id: UUID, org_id: UUID | None) -> None:
    """Have a whole chat read, at once."""
    if _reader is not None:
        _reader(user=user, chat_id=chat_id, org_id=org_id)
