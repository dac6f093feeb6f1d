"""Gemini's part of Google's activity: prompts with their answers, newest first and without conversations.

What was asked on one day (in UTC, so that it is the same for ever) becomes one chat; a pause begins a session in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from gedaechtnis.chat.imports.html_text import text_of_html
from gedaechtnis.chat.imports.stream import (
    Flaw,
    ImportedChat,
    ImportedMessage,
    Item,
    Part,
    clean,
    instant,
    said,
    text_of,
)

SOURCE = "gemini"
SPEAKER = "Gemini"
UNDATED = "undated"

_PAUSE = timedelta(hours=1)
_PRODUCT = re.compile(r"gemini|\bbard\b", re.IGNORECASE)
_ASKED = re.compile(r"(?:Prompted|Asked|Said|Eingegebener Prompt:|Prompt:|Gefragt:|Gesagt:)\s+", re.IGNORECASE)
"""What the activity puts before a prompt, in the languages that are known; of others the whole title is kept."""
_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class _Entry:
    number: int
    id: str
    at: datetime | None
    record: dict[str, Any]


def matches(entry: Any) -> bool:
    return isinstance(entry, dict) and {"header", "title", "time"} <= entry.keys()


def chats(entries: Iterable[tuple[int, Any]], *, file: str, zone: ZoneInfo) -> Iterator[Item]:
    """One chat a day. Entries of other products are passed over; one whose time cannot be read is kept, undated."""
    kept: dict[str, _Entry] = {}
    for number, record in entries:
        if not isinstance(record, dict) or not text_of(record.get("title")):
            yield Flaw(file=file, unit="entry", number=number, reason="no_messages")
            continue
        if not _is_gemini(record):
            yield Flaw(file=file, unit="entry", number=number, reason="other_product")
            continue
        at = instant(record.get("time"), zone)
        if at is None:
            yield Flaw(file=file, unit="entry", number=number, reason="undated")
        key = f"{record.get('time')}\n{record['title']}\n{_answer(record)}"
        id = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:32]
        kept.setdefault(id, _Entry(number, id, at, record))
    # The file begins with the newest.
    for day, found in groupby(sorted(kept.values(), key=_order), key=_day):
        yield _chat(day, list(found), file)


def _is_gemini(record: dict[str, Any]) -> bool:
    products = record.get("products")
    names = [text_of(record.get("header")), *(products if isinstance(products, list) else [])]
    return any(_PRODUCT.search(text_of(name)) for name in names)


def _order(entry: _Entry) -> tuple[bool, float, int]:
    return entry.at is None, entry.at.timestamp() if entry.at else 0.0, -entry.number


def _day(entry: _Entry) -> str:
    return entry.at.date().isoformat() if entry.at else UNDATED


def _chat(day: str, entries: list[_Entry], file: str) -> ImportedChat:
    messages: list[ImportedMessage] = []
    before: datetime | None = None
    session = ""
    for entry in entries:
        if before is None or entry.at is None or entry.at - before > _PAUSE:
            session = entry.id
        before = entry.at
        messages.extend(_messages(entry, session))
    asked = next((message.text for message in messages if message.role == "user"), messages[0].text)
    return ImportedChat(
        source=SOURCE,
        external_id=day,
        title=" ".join(asked.split())[:_TITLE_CHARS],
        created_at=entries[0].at,
        messages=tuple(messages),
        file=file,
        unit="entry",
    )


def _messages(entry: _Entry, session: str) -> Iterator[ImportedMessage]:
    record = entry.record
    title, answer = clean(text_of(record["title"])), clean(_answer(record))
    prompt = _ASKED.sub("", title, count=1) if _ASKED.match(title) else title
    is_talk = prompt != title or bool(answer)
    parts = (Part(kind="text", text=prompt, is_hidden=not is_talk), *_attached(record))
    yield ImportedMessage(
        external_id=entry.id,
        role="user" if is_talk else "other",
        speaker="" if is_talk else clean(text_of(record.get("header"))),
        text=said(parts),
        sent_at=entry.at,
        place=entry.number,
        session=session,
        is_hidden=not is_talk,
        parts=parts,
        original=clean(record),
    )
    if answer:
        yield ImportedMessage(
            external_id=f"{entry.id}-answer",
            role="assistant",
            speaker=SPEAKER,
            text=answer,
            sent_at=entry.at,
            place=entry.number,
            parent=entry.id,
            session=session,
            parts=(Part(kind="text", text=answer),),
        )


def _answer(record: dict[str, Any]) -> str:
    items = record.get("safeHtmlItem")
    texts = [text_of_html(text_of(item.get("html"))) for item in items or () if isinstance(item, dict)]
    return "\n\n".join(text for text in texts if text)


def _attached(record: dict[str, Any]) -> Iterator[Part]:
    """Files that went with a prompt, and what else the activity says below it."""
    for name in ("attachedFiles", "imageFile", "audioFiles"):
        listed = record.get(name)
        for item in listed if isinstance(listed, list) else [listed]:
            label = text_of(item.get("name") or item.get("url")) if isinstance(item, dict) else text_of(item)
            if label:
                kind = "image" if name == "imageFile" else "audio" if name == "audioFiles" else "file"
                yield Part(kind=kind, name=clean(label))
    for name in ("subtitles", "details"):
        listed = record.get(name)
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, dict) and (label := text_of(item.get("name"))):
                yield Part(kind="file", name=clean(label), text=clean(text_of(item.get("url"))))
