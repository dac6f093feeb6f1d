"""What every parser yields: chats with their messages, and what could not be read, by place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal
from zoneinfo import ZoneInfo

from gedaechtnis.common.instants import is_in_range

Role = Literal["user", "assistant", "other"]
Unit = Literal["file", "line", "chat", "entry", "message"]

MAX_ID_CHARS = 200
UNSAID = frozenset({"file", "image", "audio", "video", "citation"})
"""Parts whose text is not what somebody said: what stands in a file, or what an image was made from."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LAST_SECONDS = 253_000_000_000
"""Numbers above it (year 9987) are milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a message. `kind` is one of ours (text, code, canvas, transcript, quote, image, file, audio, video,
    citation, thinking, tool_call, tool_result, context) or the vendor's own word for what is not known here.
    """

    kind: str
    text: str = ""
    name: str = ""
    is_hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMessage:
    """`text` is what was said; `parts` all there was, in order; `original` the message as it was exported.

    `is_hidden` is what the vendor did not show as conversation: thinking, tools, instructions. `is_current` is false
    on a branch that was left. `sent_at` is None where nothing tells. `place` is where it stands in its file.
    """

    external_id: str
    role: Role
    text: str
    sent_at: datetime | None
    place: int
    speaker: str = ""
    parent: str = ""
    session: str = ""
    is_hidden: bool = False
    is_current: bool = True
    parts: tuple[Part, ...] = ()
    original: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChat:
    """A chat, or a piece of one: pieces of the same `external_id` are put together in the order they come.

    `original` is what was exported of it beside its messages.
    """

    source: str
    external_id: str
    title: str
    created_at: datetime | None
    messages: tuple[ImportedMessage, ...]
    original: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    unit: Unit = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Something that could not be read, or not wholly: the `number`-th `unit` of a file, counted from 1."""

    file: str
    unit: Unit
    number: int
    reason: str


Item = ImportedChat | Flaw


def clean(value: Any) -> Any:
    """The same JSON value as PostgreSQL can hold it: NUL, half characters and infinite numbers replaced."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(str(key)): clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def text_of(value: Any) -> str:
    """A string as such, a number in digits, anything else as no text."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def said(parts: Iterable[Part]) -> str:
    """What the shown parts say; of a message with nothing shown, what all its parts say."""
    listed = [part for part in parts if part.kind not in UNSAID and part.text.strip()]
    shown = [part for part in listed if not part.is_hidden]
    return "\n\n".join(part.text for part in shown or listed)


def instant(value: Any, zone: ZoneInfo) -> datetime | None:
    """An instant written as seconds, as milliseconds or in ISO 8601 (without an offset: in `zone`); else None.

    None also at the edges of the calendar: "0001-01-01" is how some programs write that they do not know.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            read = datetime.fromtimestamp(value / 1000 if value > _LAST_SECONDS else value, UTC)
        elif isinstance(value, str):
            read = datetime.fromisoformat(value.strip())
        else:
            return None
        at = (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if is_in_range(at) else None


def arranged(
    parents: Mapping[str, str | None], children: Mapping[str, Sequence[str]], leaf: str | None
) -> list[tuple[str, bool]]:
    """The nodes of a conversation tree in reading order, each with whether it is on the line that ends in `leaf`.

    Nothing is left out: what hangs on a missing parent begins anew, and a circle is opened where it comes first.
    """
    line: set[str] = set()
    node = leaf
    while node is not None and node in parents and node not in line:
        line.add(node)
        node = parents[node]
    order: dict[str, None] = {}
    roots = [node for node, parent in parents.items() if parent is None or parent not in parents]
    for root in (*roots, *parents):
        order.update(dict.fromkeys(_below(root, children, order)))
    return [(node, node in line) for node in order]


def _below(root: str, children: Mapping[str, Sequence[str]], seen: Mapping[str, None]) -> Iterator[str]:
    found: set[str] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in seen or node in found:
            continue
        found.add(node)
        yield node
        waiting.extend(reversed(children.get(node, ())))
