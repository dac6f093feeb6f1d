"""What an extractor reads: the part of a conversation after the watermark, and what is already known.

A window is plain data. Nothing here reads a clock or a database; every instant comes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gedaechtnis.common.problems import Problem

Role = Literal["user", "assistant", "tool"]
Trust = Literal["trusted", "untrusted"]

_ROLES = ("user", "assistant", "tool")
_TRUSTS = ("trusted", "untrusted")


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """One message. `seen` = before the watermark: it gives context and is never learned from again."""

    id: str
    role: Role
    text: str
    sent_at: datetime
    trust: Trust = "trusted"
    seen: bool = False
    tool: str | None = None

    @property
    def learnable(self) -> bool:
        """Only a person's own new words may become memory."""
        return self.role == "user" and self.trust == "trusted" and not self.seen


@dataclass(frozen=True, slots=True)
class KnownFact:
    """An active belief: exactly one of `value` (literal) and `object_ref` (relationship) is set."""

    id: str
    predicate: str
    value: Any = None
    object_ref: str | None = None
    valid_from: str | None = None
    learned_at: datetime | None = None
    polarity: bool = True


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity the memory holds already, with its key active facts."""

    ref: str
    name: str
    kind: str
    is_self: bool = False
    aliases: tuple[str, ...] = ()
    facts: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """Messages in order of sending. `zone` is the owner's; relative words are read in it."""

    messages: tuple[WindowMessage, ...]
    now: datetime
    zone: tzinfo
    known: tuple[KnownEntity, ...] = ()
    language: str | None = None
    by_ref: Mapping[str, KnownEntity] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_ref", {entity.ref: entity for entity in self.known})

    @property
    def new_messages(self) -> tuple[WindowMessage, ...]:
        """The messages behind the watermark."""
        return tuple(message for message in self.messages if not message.seen)

    @property
    def tainted(self) -> bool:
        """Whether untrusted content stands anywhere in the window: then everything goes to review."""
        return any(message.trust == "untrusted" for message in self.messages)


def from_preview(line: Mapping[str, Any]) -> Window:
    """Read one input object of `curator preview`.

    The zone is `zone` (an IANA name) if given, else the offset of `now`. Messages may carry
    `id`, `sent_at` and `seen`; without them they are numbered from 1 and sent at `now`. Fact number n of an
    entity, counted from 0, has the id `<ref>#<n>` unless it brings its own.

    Raises:
        Problem: `invalid_window`, located at the field that cannot be read.
    """
    now = _instant(line.get("now"), "now")
    messages = tuple(
        _message(item, number, now, f"messages.{number - 1}")
        for number, item in enumerate(_sequence(line.get("messages"), "messages"), start=1)
    )
    known = tuple(
        _entity(item, f"known.{index}") for index, item in enumerate(_sequence(line.get("known", []), "known"))
    )
    language = line.get("language")
    if language not in (None, "de", "en"):
        raise _invalid("language", "de or en")
    return Window(messages=messages, known=known, now=now, zone=_zone(line, now), language=language)


def _message(item: Any, number: int, now: datetime, where: str) -> WindowMessage:
    line = _mapping(item, where)
    role, trust = line.get("role"), line.get("trust")
    if role not in _ROLES:
        raise _invalid(f"{where}.role", ", ".join(_ROLES))
    if trust is None:
        trust = "untrusted" if role == "tool" else "trusted"
    if trust not in _TRUSTS:
        raise _invalid(f"{where}.trust", ", ".join(_TRUSTS))
    sent_at = line.get("sent_at")
    return WindowMessage(
        id=str(line.get("id", number)),
        role=cast(Role, role),
        text=_string(line.get("text"), f"{where}.text"),
        sent_at=now if sent_at is None else _instant(sent_at, f"{where}.sent_at"),
        trust=cast(Trust, trust),
        seen=bool(line.get("seen", False)),
        tool=line.get("tool"),
    )


def _entity(item: Any, where: str) -> KnownEntity:
    line = _mapping(item, where)
    ref = _string(line.get("ref"), f"{where}.ref")
    facts = tuple(
        _fact(fact, f"{ref}#{index}", f"{where}.facts.{index}")
        for index, fact in enumerate(_sequence(line.get("facts", []), f"{where}.facts"))
    )
    return KnownEntity(
        ref=ref,
        name=_string(line.get("name"), f"{where}.name"),
        kind=str(line.get("kind") or ref.rpartition(":")[0]),
        is_self=bool(line.get("is_self", False)),
        aliases=tuple(str(alias) for alias in _sequence(line.get("aliases", []), f"{where}.aliases")),
        facts=facts,
    )


def _fact(item: Any, default_id: str, where: str) -> KnownFact:
    line = _mapping(item, where)
    learned_at = line.get("learned_at")
    return KnownFact(
        id=str(line.get("id") or default_id),
        predicate=_string(line.get("predicate"), f"{where}.predicate"),
        value=line.get("value"),
        object_ref=line.get("object"),
        valid_from=line.get("valid_from"),
        learned_at=None if learned_at is None else _instant(learned_at, f"{where}.learned_at"),
        polarity=bool(line.get("polarity", True)),
    )


def _zone(line: Mapping[str, Any], now: datetime) -> tzinfo:
    name = line.get("zone")
    if name is None:
        return cast(tzinfo, now.tzinfo)
    try:
        return ZoneInfo(_string(name, "zone"))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _invalid("zone", "an IANA time zone name") from error


def _instant(value: Any, where: str) -> datetime:
    try:
        instant = datetime.fromisoformat(_string(value, where))
    except ValueError as error:
        raise _invalid(where, "an RFC 3339 instant") from error
    if instant.tzinfo is None:
        raise _invalid(where, "an instant with its offset")
    return instant


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _invalid(where, "an object")
    return value


def _sequence(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise _invalid(where, "a list")
    return value


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _invalid(where, "a text")
    return value


def _invalid(where: str, expected: str) -> Problem:
    return Problem("invalid_window", f"Expected here: {expected}.", field=where)
