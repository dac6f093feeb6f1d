"""Exports of ChatGPT: each conversation is a tree of messages with a current end."""

from __future__ import annotations

import json
import re
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

SOURCE = "chatgpt"
SPEAKER = "ChatGPT"

_KINDS = {
    "code": "code",
    "execution_output": "tool_result",
    "computer_output": "tool_result",
    "citable_code_output": "tool_result",
    "tether_browsing_display": "tool_result",
    "tether_browsing_code": "tool_call",
    "sonic_webpage": "tool_result",
    "system_error": "tool_result",
    "tether_quote": "quote",
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "user_editable_context": "context",
    "model_editable_context": "context",
    "audio_transcription": "transcript",
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio",
}
_HIDDEN = frozenset({"thinking", "context", "tool_call", "tool_result"})
_WORDS = ("title", "summary", "text", "result", "output_str", "output", "content", "user_profile", "user_instructions")
_WORDS_ELSEWHERE = ("model_set_context", "repository", "repo_summary", "structured_context", "url")
_CITED = re.compile("\ue200[^\ue200\ue201]*\ue201")
_CANVAS = "canmore.create_textdoc"


def matches(entry: Any) -> bool:
    return isinstance(entry, dict) and "mapping" in entry


def chats(entries: Iterable[tuple[int, Any]], *, file: str, zone: ZoneInfo) -> Iterator[Item]:
    """One chat for each conversation with messages; the others are flaws."""
    for number, entry in entries:
        mapping = entry.get("mapping") if isinstance(entry, dict) else None
        if not isinstance(mapping, dict):
            yield Flaw(file=file, unit="chat", number=number, reason="no_messages")
            continue
        messages, is_whole = _messages(entry, mapping, zone)
        if not is_whole:
            yield Flaw(file=file, unit="chat", number=number, reason="broken_message")
        if not messages:
            yield Flaw(file=file, unit="chat", number=number, reason="no_messages")
            continue
        yield ImportedChat(
            source=SOURCE,
            external_id=clean(_id(entry) or f"of {messages[0].external_id}")[:MAX_ID_CHARS],
            title=clean(text_of(entry.get("title"))),
            created_at=instant(entry.get("create_time"), zone) or messages[0].sent_at,
            messages=tuple(messages),
            original=clean({name: value for name, value in entry.items() if name != "mapping"}),
            file=file,
        )


def _id(entry: dict[str, Any]) -> str:
    return text_of(entry.get("conversation_id")) or text_of(entry.get("id"))


def _messages(entry: dict[str, Any], mapping: dict[str, Any], zone: ZoneInfo) -> tuple[list[ImportedMessage], bool]:
    """The messages in reading order, and whether all could be read."""
    nodes = {id: node if isinstance(node, dict) else {} for id, node in mapping.items()}
    parents = {id: node["parent"] if isinstance(node.get("parent"), str) else None for id, node in nodes.items()}
    children = {id: _children(id, node, parents) for id, node in nodes.items()}
    for id, parent in parents.items():
        if parent in children and id not in children[parent]:
            children[parent].append(id)
    leaf = entry.get("current_node")
    if leaf not in nodes:
        ends = [id for id in nodes if not children[id]] or list(nodes)
        leaf = max(reversed(ends), key=lambda id: _time(nodes[id], zone), default=None)
    start = instant(entry.get("create_time"), zone)
    found: dict[str, ImportedMessage] = {}
    is_whole = True
    above: dict[str, str] = {}
    for id, is_current in arranged(parents, children, leaf):
        parent = above.get(parents[id] or "", "")
        above[id] = parent
        message = nodes[id].get("message")
        if not isinstance(message, dict):
            is_whole = is_whole and message is None and isinstance(mapping[id], dict)
            continue
        before = found[parent].sent_at if parent else start
        read = _message(id, message, zone, parent=parent, is_current=is_current, before=before, place=len(found) + 1)
        found[read.external_id] = read
        above[id] = read.external_id
    return list(found.values()), is_whole


def _children(id: str, node: dict[str, Any], parents: dict[str, str | None]) -> list[str]:
    listed = node.get("children")
    return [child for child in listed if parents.get(child) == id] if isinstance(listed, list) else []


def _time(node: dict[str, Any], zone: ZoneInfo) -> float:
    message = node.get("message")
    sent_at = instant(message.get("create_time"), zone) if isinstance(message, dict) else None
    return sent_at.timestamp() if sent_at else float("-inf")


def _message(
    id: str,
    message: dict[str, Any],
    zone: ZoneInfo,
    *,
    parent: str,
    is_current: bool,
    before: datetime | None,
    place: int,
) -> ImportedMessage:
    author = _object(message.get("author"))
    word = text_of(author.get("role"))
    role: Role = "user" if word == "user" else "assistant" if word == "assistant" else "other"
    parts = tuple(_parts(message))
    speaker = SPEAKER if role == "assistant" else "" if role == "user" else text_of(author.get("name")) or word
    return ImportedMessage(
        external_id=clean(id)[:MAX_ID_CHARS],
        role=role,
        speaker=clean(speaker)[:MAX_ID_CHARS],
        text=said(parts),
        sent_at=instant(message.get("create_time"), zone) or before,
        place=place,
        parent=parent,
        is_hidden=(
            role == "other"
            or bool(_object(message.get("metadata")).get("is_visually_hidden_from_conversation"))
            or all(part.is_hidden for part in parts)
        ),
        is_current=is_current,
        parts=parts,
        original=clean(message),
    )


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    content, metadata = message.get("content"), _object(message.get("metadata"))
    names = {
        text_of(attachment.get("id")): text_of(attachment.get("name")) or text_of(attachment.get("id"))
        for attachment in _objects(metadata.get("attachments"))
    }
    kinds = {text_of(a.get("id")): text_of(a.get("mime_type")) for a in _objects(metadata.get("attachments"))}
    to_tool = _recipient(message) not in {"", "all"} and _object(message.get("author")).get("role") == "assistant"
    for part in _of_content(content, metadata, names, _recipient(message)):
        yield Part(
            kind="tool_call" if to_tool and part.kind in {"text", "code"} else part.kind,
            text=clean(part.text),
            name=clean(part.name),
            is_hidden=part.is_hidden or (to_tool and part.kind != "canvas"),
        )
    for id, name in names.items():
        yield Part(kind="image" if kinds[id].startswith("image/") else "file", name=clean(name))
    yield from _citations(metadata)


def _recipient(message: dict[str, Any]) -> str:
    return text_of(message.get("recipient"))


def _of_content(content: Any, metadata: dict[str, Any], names: dict[str, str], recipient: str) -> Iterator[Part]:
    """The parts of a message's content; a name that a part bears is taken out of `names`."""
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    content = _object(content)
    kind = text_of(content.get("content_type")) or "text"
    listed = content.get("parts")
    if isinstance(listed, list):
        for piece in listed:
            if isinstance(piece, dict):
                yield _part(piece, text_of(piece.get("content_type")) or "part", names)
            elif words := _without_marks(text_of(piece), metadata):
                shown = _KINDS.get(kind, kind)
                yield Part(
                    kind="text" if kind in {"text", "multimodal_text"} else shown,
                    text=words,
                    is_hidden=shown in _HIDDEN,
                )
        return
    if kind == "text" and not any(name in content for name in _WORDS):
        return
    if recipient == _CANVAS and (canvas := _canvas(text_of(content.get("text")))):
        yield canvas
        return
    yield _part(content, kind, names)


def _part(piece: dict[str, Any], word: str, names: dict[str, str]) -> Part:
    kind = _KINDS.get(word, word)
    pointer = _pointer(piece)
    if not pointer and isinstance(piece.get("screenshot"), dict):
        pointer = _pointer(piece["screenshot"])
    id = pointer.rpartition("/")[2]
    text = "\n\n".join(_words(piece))
    if kind == "image":
        text = text_of(_object(_object(piece.get("metadata")).get("dalle")).get("prompt"))
    return Part(kind=kind, text=text, name=names.pop(id, "") or id, is_hidden=kind in _HIDDEN)


def _pointer(piece: dict[str, Any]) -> str:
    pointer = piece.get("asset_pointer") or piece.get("audio_asset_pointer")
    return text_of(pointer.get("asset_pointer") if isinstance(pointer, dict) else pointer)


def _words(piece: dict[str, Any]) -> Iterator[str]:
    for name in (*_WORDS, *_WORDS_ELSEWHERE):
        if (words := text_of(piece.get(name))).strip():
            yield words
    for thought in _objects(piece.get("thoughts")):
        yield from _words(thought)


def _canvas(text: str) -> Part | None:
    """The document that a message put beside the conversation."""
    try:
        document = _object(json.loads(text))
    except ValueError:
        return None
    words = text_of(document.get("content"))
    return Part(kind="canvas", text=words, name=text_of(document.get("name"))) if words else None


def _without_marks(text: str, metadata: dict[str, Any]) -> str:
    """A text without the marks that stand for its sources; those that have words are replaced by them."""
    if "\ue200" not in text:
        return text if text.strip() else ""
    for reference in _objects(metadata.get("content_references")):
        if mark := text_of(reference.get("matched_text")).strip():
            text = text.replace(mark, text_of(reference.get("alt")))
    return _CITED.sub("", text).strip()


def _citations(metadata: dict[str, Any]) -> Iterator[Part]:
    sources: dict[str, str] = {}
    for citation in _objects(metadata.get("citations")):
        source = _object(citation.get("metadata"))
        sources.setdefault(text_of(source.get("url")), text_of(source.get("title")))
    for reference in _objects(metadata.get("content_references")):
        for source in (reference, *_objects(reference.get("items")), *_objects(reference.get("sources"))):
            sources.setdefault(text_of(source.get("url")), text_of(source.get("title")))
    for url, title in sources.items():
        if url:
            yield Part(kind="citation", text=clean(url), name=clean(title))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []
