"""Writing staged chats: what is there already stays as it is, what is new comes behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from gedaechtnis.chat.imports.stream import Flaw, ImportedChat, ImportedMessage, Part
from gedaechtnis.chat.models import UNJUDGED, Chat, EpisodeMark, Message
from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.scoping.rows import insert

_TITLE_CHARS = 200
_Key = tuple[str, str]
"""Source and external id of a chat."""
_Document = dict[str, Any]


@dataclass(kw_only=True)
class Written:
    """What a piece came to: new `chats` and `messages`, and those `known` before."""

    chats: int = 0
    messages: int = 0
    known: int = 0
    flaws: list[Flaw] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where an import writes. With `learn`, chats that were there before count as brought by it as well."""

    scope_ref: str
    import_id: UUID
    zone: str
    learn: bool


def staged(chat: ImportedChat) -> _Document:
    """A chat as a JSON document, to wait in the database."""
    return {
        "source": chat.source,
        "external_id": chat.external_id,
        "title": chat.title,
        "created_at": _written(chat.created_at),
        "original": chat.original,
        "file": chat.file,
        "unit": chat.unit,
        "messages": [_staged(message) for message in chat.messages],
    }


def write(documents: Sequence[_Document], target: Target) -> Written:
    """Write chats inside the open scope and its transaction."""
    written = Written()
    by_key: dict[_Key, list[_Document]] = defaultdict(list)
    for document in documents:
        by_key[document["source"], document["external_id"]].append(document)
    chats = _chats(by_key, target, written)
    known = _known(chats.values(), documents)
    rows: list[_Document] = []
    flipped: dict[bool, list[UUID]] = {True: [], False: []}
    for key, pieces in by_key.items():
        for piece in pieces:
            _write_piece(piece, chats[key], target, known, rows, flipped, written)
    insert(Message, rows)
    Chat.objects.bulk_update(chats.values(), ["last_seq", "title", "import_id"], batch_size=500)
    _flip(flipped)
    return written


def _chats(by_key: dict[_Key, list[_Document]], target: Target, written: Written) -> dict[_Key, Chat]:
    """The chats, locked; those that are new are made."""
    found: dict[_Key, Chat] = {}
    for source in {source for source, _id in by_key}:
        ids = [id for named, id in by_key if named == source]
        own = Chat.objects.filter(scope_ref=target.scope_ref, source=source, external_id__in=ids)
        found.update({(source, chat.external_id): chat for chat in own.select_for_update(no_key=True).order_by("pk")})
    new = [_new_chat(key, by_key[key][0], target) for key in by_key if key not in found]
    insert(Chat, [_columns(chat) for chat in new])
    written.chats += len(new)
    found.update({(chat.source, chat.external_id): chat for chat in new})
    for key, chat in found.items():
        chat.title = chat.title or next((_title(piece) for piece in by_key[key] if piece["title"]), "")
        if target.learn:
            chat.import_id = target.import_id
    return found


def _new_chat(key: _Key, document: _Document, target: Target) -> Chat:
    source, external_id = key
    title = {"title": document["title"]} if len(document["title"]) > _TITLE_CHARS else {}
    return Chat(
        id=uuid7(),
        scope_ref=target.scope_ref,
        title=_title(document),
        created_at=_read(document["created_at"]) or clock.now(),
        source=source,
        external_id=external_id,
        import_id=target.import_id,
        original={**title, **document["original"]},
    )


def _title(document: _Document) -> str:
    title: str = document["title"]
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"


def _columns(chat: Chat) -> _Document:
    names = ("id", "scope_ref", "title", "created_at", "source", "external_id", "import_id", "original")
    return {name: getattr(chat, name) for name in names}


_Known = dict[tuple[UUID, str], tuple[UUID | None, str, bool]]
"""By chat and external id: the row (None while it is not written), its text, whether it is on the current branch."""


def _known(chats: Iterable[Chat], documents: Sequence[_Document]) -> _Known:
    old = [chat.pk for chat in chats if chat.last_seq]
    if not old:
        return {}
    ids = [message["external_id"] for document in documents for message in document["messages"]]
    rows = Message.objects.filter(chat_id__in=old, external_id__in=ids)
    listed = rows.values_list("chat_id", "external_id", "id", "text", "is_current")
    return {(chat_id, str(external_id)): (id, text, current) for chat_id, external_id, id, text, current in listed}


def _write_piece(
    piece: _Document,
    chat: Chat,
    target: Target,
    known: _Known,
    rows: list[_Document],
    flipped: dict[bool, list[UUID]],
    written: Written,
) -> None:
    sent_at = chat.created_at
    for message in piece["messages"]:
        sent_at = _read(message["sent_at"]) or sent_at
        place = (chat.pk, message["external_id"])
        if place not in known:
            chat.last_seq += 1
            rows.append(_row(message, chat, target, sent_at))
            known[place] = (None, message["text"], message["is_current"])
            written.messages += 1
            continue
        id, text, is_current = known[place]
        written.known += 1
        if text != message["text"]:
            written.flaws.append(
                Flaw(file=piece["file"], unit=piece["unit"], number=message["place"], reason="said_otherwise")
            )
        if id is not None and is_current != message["is_current"]:
            flipped[message["is_current"]].append(id)


def _row(message: _Document, chat: Chat, target: Target, sent_at: datetime) -> _Document:
    return {
        "id": uuid7(),
        "scope_ref": chat.scope_ref,
        "classification": UNJUDGED,
        "chat_id": chat.pk,
        "seq": chat.last_seq,
        "created_at": clock.now(),
        "sent_at": sent_at,
        "sent_zone": target.zone,
        **{name: value for name, value in message.items() if name not in {"place", "sent_at"}},
    }


def _flip(flipped: dict[bool, list[UUID]]) -> None:
    """Follow a chat to its new branch: its episodes are counted anew, as other messages are neighbours now."""
    for is_current, ids in flipped.items():
        if ids:
            rows = Message.objects.filter(pk__in=ids)
            rows.update(is_current=is_current)
            EpisodeMark.objects.filter(chat_id__in=rows.values("chat_id")).update(seq=0, episodes=0)


def _staged(message: ImportedMessage) -> _Document:
    is_plain = message.parts in ((), (Part(kind="text", text=message.text),))
    return {
        "external_id": message.external_id,
        "role": message.role,
        "speaker": message.speaker,
        "text": message.text,
        "sent_at": _written(message.sent_at),
        "place": message.place,
        "parent": message.parent,
        "session": message.session,
        "is_hidden": message.is_hidden,
        "is_current": message.is_current,
        "parts": [] if is_plain else [_part(part) for part in message.parts],
        "original": message.original,
    }


def _part(part: Part) -> _Document:
    """Without what is empty: most of it is."""
    columns = {"kind": part.kind, "text": part.text, "name": part.name, "is_hidden": part.is_hidden}
    return {name: value for name, value in columns.items() if value}


def _written(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _read(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
