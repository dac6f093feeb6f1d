"""Exports of Claude: each conversation is a list of messages that name their parent, made of typed blocks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from gedaechtnis.chat.imports.stream import (
    MAX_ID_CHARS,
    Flaw,
    ImportedChat,
    ImportedMessage,
    Item,
    Part,
    Role,
    arranged,
    clean,
    instant,
    said,
    text_of,
)

SOURCE = "claude"
SPEAKER = "Claude"

_ROOT = "00000000-0000-4000-8000-000000000000"
_KINDS = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_call",
    "server_tool_use": "tool_call",
    "tool_result": "tool_result",
    "web_search_tool_result": "tool_result",
    "injected_prompt_block": "context",
    "voice_note": "transcript",
    "image": "image",
    "document": "file",
}
_HIDDEN = frozenset({"thinking", "tool_call", "tool_result", "context"})
_WORDS = ("title", "text", "thinking", "prompt", "content", "extracted_content", "message", "summary", "summaries")


def matches(entry: Any) -> bool:
    return isinstance(entry, dict) and "chat_messages" in entry


def chats(entries: Iterable[tuple[int, Any]], *, file: str, zone: ZoneInfo) -> Iterator[Item]:
    """One chat for each conversation with messages; the others are flaws."""
    for number, entry in entries:
        listed = entry.get("chat_messages") if isinstance(entry, dict) else None
        if not isinstance(listed, list):
            yield Flaw(file=file, unit="chat", number=number, reason="no_messages")
            continue
        rows = [row for row in listed if isinstance(row, dict)]
        if len(rows) < len(listed):
            yield Flaw(file=file, unit="chat", number=number, reason="broken_message")
        if not rows:
            yield Flaw(file=file, unit="chat", number=number, reason="no_messages")
            continue
        created_at = instant(entry.get("created_at"), zone)
        messages = _messages(entry, rows, created_at, zone)
        yield ImportedChat(
            source=SOURCE,
            external_id=clean(text_of(entry.get("uuid")) or f"of {messages[0].external_id}")[:MAX_ID_CHARS],
            title=clean(text_of(entry.get("name"))),
            created_at=created_at or messages[0].sent_at,
            messages=tuple(messages),
            original=clean({name: value for name, value in entry.items() if name != "chat_messages"}),
            file=file,
        )


def _messages(
    entry: dict[str, Any], rows: list[dict[str, Any]], start: datetime | None, zone: ZoneInfo
) -> list[ImportedMessage]:
    """The messages in reading order. Nothing marks the current end: it is the message that was written last."""
    by_id: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows, start=1):
        by_id.setdefault(text_of(row.get("uuid")) or f"{number}", row)
    parents: dict[str, str | None] = {}
    children: dict[str, list[str]] = {}
    before: str | None = None
    for id, row in by_id.items():
        named = text_of(row.get("parent_message_uuid"))
        parents[id] = named if named in by_id and named != id else None if named == _ROOT else before
        children.setdefault(parents[id] or "", []).append(id)
        before = id
    leaf = text_of(entry.get("current_leaf_message_uuid"))
    if leaf not in by_id:
        times = {id: instant(row.get("created_at"), zone) for id, row in by_id.items()}
        places = {id: place for place, id in enumerate(by_id)}
        leaf = max(by_id, key=lambda id: (times[id].timestamp() if times[id] else 0.0, places[id]))  # type: ignore[union-attr]
    found: dict[str, ImportedMessage] = {}
    for id, is_current in arranged(parents, children, leaf):
        parent = parents[id] or ""
        earlier = found[parent].sent_at if parent in found else start
        found[id] = _message(
            id,
            by_id[id],
            sent_at=instant(by_id[id].get("created_at"), zone) or earlier,
            parent=parent,
            is_current=is_current,
            place=len(found) + 1,
        )
    return list(found.values())


def _message(
    id: str, row: dict[str, Any], *, sent_at: datetime | None, parent: str, is_current: bool, place: int
) -> ImportedMessage:
    sender = text_of(row.get("sender"))
    role: Role = "user" if sender in {"human", "user"} else "assistant" if sender == "assistant" else "other"
    parts = tuple(_parts(row))
    return ImportedMessage(
        external_id=clean(id)[:MAX_ID_CHARS],
        role=role,
        speaker=SPEAKER if role == "assistant" else "" if role == "user" else clean(sender)[:MAX_ID_CHARS],
        text=said(parts),
        sent_at=sent_at,
        place=place,
        parent=clean(parent)[:MAX_ID_CHARS],
        is_hidden=all(part.is_hidden for part in parts),
        is_current=is_current,
        parts=parts,
        original=clean(row),
    )


def _parts(row: dict[str, Any]) -> Iterator[Part]:
    content = row.get("content")
    blocks = [_block(block) for block in content] if isinstance(content, list) else []
    blocks = [block for block in blocks if block.text.strip() or block.name or block.kind != "text"]
    whole = clean(text_of(row.get("text")) or text_of(content))
    # In newer exports the text repeats all blocks, in older ones it is all there is.
    is_all = not any(block.kind == "text" for block in blocks)
    if is_all and whole.strip() and _bare("".join(block.text for block in blocks)) != _bare(whole):
        blocks.append(Part(kind="text", text=whole))
    yield from blocks
    for block in content if isinstance(content, list) else ():
        yield from _citations(block)
    attached = [item for item in _list(row.get("attachments")) if isinstance(item, dict)]
    names = {text_of(item.get("file_name")) for item in attached}
    for item in attached:
        name, text = text_of(item.get("file_name")), text_of(item.get("extracted_content"))
        yield Part(kind="file", name=clean(name or text_of(item.get("id"))), text=clean(text))
    for item in [*_list(row.get("files")), *_list(row.get("files_v2"))]:
        file = item if isinstance(item, dict) else {"file_name": item}
        name = next((text_of(file[key]) for key in ("file_name", "file_uuid", "uuid") if text_of(file.get(key))), "")
        if name not in names:
            names.add(name)
            yield Part(kind="image" if file.get("file_kind") == "image" else "file", name=clean(name))


def _block(block: Any) -> Part:
    if not isinstance(block, dict):
        return Part(kind="text", text=clean(text_of(block)))
    word = text_of(block.get("type")) or "part"
    kind = _KINDS.get(word, word)
    name = clean(text_of(block.get("name")))
    if kind == "tool_call":
        given = block.get("input")
        if isinstance(given, dict) and name == "artifacts" and text_of(given.get("content")):
            return Part(kind="canvas", name=clean(text_of(given.get("title"))), text=clean(text_of(given["content"])))
        return Part(kind=kind, name=name, text=clean(_shown(given)), is_hidden=True)
    if kind in {"image", "file"}:
        name = name or clean(text_of(block.get("file_name")) or text_of(block.get("file_uuid")))
    hidden = kind in _HIDDEN or bool(block.get("hidden_in_chat"))
    return Part(kind=kind, name=name, text=clean("\n\n".join(_words(block))), is_hidden=hidden)


def _words(block: dict[str, Any]) -> Iterator[str]:
    for name in _WORDS:
        value = block.get(name)
        if (words := text_of(value)).strip():
            yield words
        for inner in _list(value):
            if isinstance(inner, dict):
                yield from _words(inner)
            elif (words := text_of(inner)).strip():
                yield words


def _citations(block: Any) -> Iterator[Part]:
    for citation in _list(block.get("citations")) if isinstance(block, dict) else ():
        details = citation.get("details") if isinstance(citation, dict) else None
        for source in (citation, details):
            if isinstance(source, dict) and (url := text_of(source.get("url"))):
                yield Part(kind="citation", text=clean(url), name=clean(text_of(source.get("title"))))


def _shown(value: Any) -> str:
    return text_of(value) or (json.dumps(value, ensure_ascii=False) if value else "")


def _bare(text: str) -> str:
    return "".join(text.split())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
