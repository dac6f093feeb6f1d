"""JSON Lines, one message a line: the form for chats of any other origin (docs/howto/import-chats.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import IO, Any, cast
from zoneinfo import ZoneInfo

from gedaechtnis.chat.imports.stream import (
    MAX_ID_CHARS,
    Flaw,
    ImportedChat,
    ImportedMessage,
    Item,
    Part,
    Role,
    clean,
    instant,
    text_of,
)

SOURCE = "jsonl"
MAX_LINE_BYTES = 16 * 1024 * 1024

_KNOWN = frozenset({"chat", "title", "session", "id", "speaker", "role", "sent_at", "text"})
_PIECE_MESSAGES = 500
_MARK = "\ufeff"

_Read = tuple[str, str, ImportedMessage]
"""Chat, its title, the message."""


def matches(entry: Any) -> bool:
    return isinstance(entry, dict) and {"chat", "text"} <= entry.keys()


def chats(file: IO[bytes], *, name: str, zone: ZoneInfo) -> Iterator[Item]:
    """Neighbouring lines of a chat as one piece of it; a line that cannot be read is a flaw of its number."""
    for is_flaw, run in groupby(_lines(file, name, zone), key=lambda item: isinstance(item, Flaw)):
        if is_flaw:
            yield from cast(Iterator[Flaw], run)
            continue
        for chat, rows in groupby(cast(Iterator[_Read], run), key=lambda row: row[0]):
            yield from _pieces(chat, rows, name)


def _pieces(chat: str, rows: Iterator[_Read], name: str) -> Iterator[ImportedChat]:
    title, messages = "", list[ImportedMessage]()
    for _chat, given, message in rows:
        title = title or given
        messages.append(message)
        if len(messages) == _PIECE_MESSAGES:
            yield _piece(chat, title, messages, name)
            messages = []
    if messages:
        yield _piece(chat, title, messages, name)


def _piece(chat: str, title: str, messages: list[ImportedMessage], name: str) -> ImportedChat:
    return ImportedChat(
        source=SOURCE,
        external_id=chat,
        title=title,
        created_at=messages[0].sent_at,
        messages=tuple(messages),
        file=name,
        unit="line",
    )


def _lines(file: IO[bytes], name: str, zone: ZoneInfo) -> Iterator[_Read | Flaw]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)
            yield Flaw(file=name, unit="line", number=number, reason="too_long")
        elif line.strip():
            read = _message(line, number, zone)
            yield Flaw(file=name, unit="line", number=number, reason=read) if isinstance(read, str) else read


def _message(line: bytes, number: int, zone: ZoneInfo) -> _Read | str:
    """The message of a line, or why there is none."""
    try:
        row = json.loads(line.decode().removeprefix(_MARK))
    except (ValueError, RecursionError):
        return "not_json"
    if not isinstance(row, dict):
        return "not_a_message"
    chat, id, text = clean(text_of(row.get("chat"))), clean(text_of(row.get("id"))), row.get("text")
    if not chat or not id:
        return "no_chat" if not chat else "no_id"
    if not isinstance(text, str):
        return "no_text"
    role = row.get("role")
    if role not in {"user", "assistant", "other"}:
        return "unknown_role"
    sent_at = instant(row.get("sent_at"), zone)
    if sent_at is None:
        return "no_time"
    speaker, session = clean(text_of(row.get("speaker"))), clean(text_of(row.get("session")))
    if max(map(len, (chat, id, speaker, session))) > MAX_ID_CHARS:
        return "too_long"
    text = clean(text)
    message = ImportedMessage(
        external_id=id,
        role=cast(Role, role),
        speaker=speaker,
        text=text,
        sent_at=sent_at,
        place=number,
        session=session,
        is_hidden=not text.strip(),
        parts=(Part(kind="text", text=text),) if text.strip() else (),
        original=clean({key: value for key, value in row.items() if key not in _KNOWN}),
    )
    return chat, clean(text_of(row.get("title"))), message
