"""What happened of late to the linked entities, and why; and which of several bearers of a name was spoken of last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.context.linker import LinkedEntity, Unclear

_LATELY = timedelta(days=90)
_JUST = timedelta(days=7)
"""Only one of several bearers was spoken of within this time: then it is the one that is meant."""
_MOST_EVENTS = 5
_BOOKKEEPING = [
    "fact.asserted",
    "fact.restated",
    "fact.ended",
    "fact.retracted",
    "entity.created",
    "entity.alias_added",
    "entity.alias_ended",
    "proposal.opened",
    "proposal.accepted",
    "proposal.rejected",
    "predicate.changed",
]
"""What is told by the facts themselves, and would repeat values that hold no longer."""

_EVENTS = """
SELECT t.id, w.id, w.event_type, w.summary, w.occurred_at, w.source, w.acted_by, w.chat_id, w.caused_by_event_id,
  c.event_type, c.summary, w.event_type <> ALL(%(bookkeeping)s)
FROM unnest(%(ids)s::uuid[]) AS t (id) CROSS JOIN LATERAL (
  SELECT e.* FROM world_events e
  WHERE e.target_entity_id = t.id AND e.id >= world_uuid7_floor(%(since)s) AND e.occurred_at <= %(at)s
    AND (%(known)s::timestamptz IS NULL OR e.recorded_at <= %(known)s)
    AND (t.id = ANY(%(unclear)s) OR e.event_type <> ALL(%(bookkeeping)s))
  ORDER BY e.occurred_at DESC LIMIT 8
) AS w LEFT JOIN world_events c ON c.id = w.caused_by_event_id AND c.event_type <> ALL(%(bookkeeping)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEvent:
    """Something that happened; `cause` is what led to it, in words, if that is known."""

    id: UUID
    event_type: str
    summary: str
    occurred_at: datetime
    source: str
    acted_by: str
    cause_id: UUID | None
    cause_type: str | None
    cause: str | None


@dataclass(frozen=True, slots=True)
class Happened:
    """The few most telling events, oldest first, and for each unclear name who must be meant, if that shows."""

    events: tuple[ContextEvent, ...]
    meant: tuple[LinkedEntity | None, ...]


def happened(
    entities: Sequence[LinkedEntity],
    unclear: Sequence[Unclear],
    *,
    chat_id: UUID | None,
    at: datetime,
    known: datetime | None = None,
) -> Happened:
    """As known at an instant, else now. One question to the database, within an open scope."""
    candidates = {id: entity for name in unclear for entity in name.candidates for id in entity.ids}
    linked = {id for entity in entities for id in entity.ids}
    if not linked and not candidates:
        return Happened((), ())
    with connection.cursor() as cursor:
        cursor.execute(
            _EVENTS,
            {
                "ids": [*linked, *candidates],
                "unclear": list(candidates),
                "since": min(at, known or at) - _LATELY,
                "at": at,
                "known": known,
                "bookkeeping": _BOOKKEEPING,
            },
        )
        rows = cursor.fetchall()
    events: dict[UUID, ContextEvent] = {}
    last: dict[UUID, datetime] = {}
    in_chat: set[UUID] = set()
    for target, id, kind, summary, occurred_at, source, acted_by, chat, cause_id, cause_type, cause, is_salient in rows:
        if target in candidates:
            entity_id = candidates[target].id
            last[entity_id] = max(occurred_at, last.get(entity_id, occurred_at))
            if chat is not None and chat == chat_id:
                in_chat.add(entity_id)
        if is_salient and target in linked:
            events[id] = ContextEvent(
                id=id,
                event_type=kind,
                summary=summary,
                occurred_at=occurred_at,
                source=source,
                acted_by=acted_by,
                cause_id=cause_id,
                cause_type=cause_type,
                cause=cause,
            )
    telling = sorted(
        events.values(), key=lambda event: (event.cause_type is None, -event.occurred_at.timestamp(), event.id)
    )
    return Happened(
        tuple(sorted(telling[:_MOST_EVENTS], key=lambda event: (event.occurred_at, event.id))),
        tuple(_meant(name.candidates, in_chat, last, at) for name in unclear),
    )


def _meant(
    candidates: Sequence[LinkedEntity], in_chat: set[UUID], last: dict[UUID, datetime], at: datetime
) -> LinkedEntity | None:
    """The only one that this chat spoke of, else the only one that anybody spoke of just now."""
    for spoken_of in (
        [entity for entity in candidates if entity.id in in_chat],
        [entity for entity in candidates if entity.id in last and at - last[entity.id] <= _JUST],
    ):
        if spoken_of:
            return spoken_of[0] if len(spoken_of) == 1 else None
    return None
