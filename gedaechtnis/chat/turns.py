"""The port through which a new turn is announced, inside the transaction that stores it."""

from __future__ import annotations

from collections.abc import Callable

from gedaechtnis.chat.models import Message
from gedaechtnis.identity.principals import Principal

OnTurn = Callable[[Principal, Message], None]
_listeners: list[OnTurn] = []


def listen(function: OnTurn) -> None:
    """Have `function` called for every message a person sends; it may write, and fails with the message."""
    _listeners.append(function)


def announce(principal: Principal, message: Message) -> None:
    for function in _listeners:
        function(principal, message)
