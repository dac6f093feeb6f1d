"""What was found, as the graph has it at the moment asked about: a projection finds, it never decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors import views
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall.records import Record
from gedaechtnis.scoping.rows import select
from gedaechtnis.world.models import Entity


@dataclass(frozen=True, slots=True)
class Ending:
    """Since when what was said no longer holds, and which fact holds instead, if one does."""

    at: datetime
    superseded_by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Facts and entities that may be told at the moment, by id, and what has ended: facts by id, messages by theirs."""

    facts: Mapping[UUID, FactView]
    entities: Mapping[UUID, Entity]
    endings: Mapping[UUID, Ending]

    def has(self, record: Record) -> bool:
        """Whether what a record copies is still there to be told."""
        match record.source_kind:
            case "fact":
                return record.source_id in self.facts
            case "entity" | "entity_live":
                return record.source_id in self.entities
            case _:
                return True


def read(records: Iterable[Record], moment: Moment) -> Truth:
    """Everything about the records in a few statements, however many they are."""
    by_kind: dict[str, list[UUID]] = defaultdict(list)
    for record in records:
        by_kind[record.source_kind].append(record.source_id)
    facts = _facts(by_kind["fact"], moment)
    entity_ids = [*by_kind["entity"], *by_kind["entity_live"]]
    entities = select(Entity, "id = ANY(%s) AND status = 'active'", [entity_ids]) if entity_ids else []
    return Truth(
        facts=facts,
        entities={entity.pk: entity for entity in entities},
        endings=_endings(facts, by_kind["episode"], moment),
    )


def _facts(ids: Sequence[UUID], moment: Moment) -> dict[UUID, FactView]:
    if not ids:
        return {}
    rows = Conditions().that("id = ANY(%s)", list(ids)).known_at(moment).facts()
    return {fact.id: fact for fact in views.fact_views(rows, moment)}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A belief row of a statement that a message is evidence of."""

    ref: str
    origin: UUID
    slot: UUID
    scope_ref: str
    valid_to: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None


_PIECES = """
SELECT e.ref, f.origin_fact_id, f.slot, f.scope_ref, f.valid_to, f.recorded_at, f.superseded_at
FROM fact_evidence e JOIN facts f ON f.origin_fact_id = e.fact_id WHERE e.ref = ANY (%s)
"""


def _endings(facts: Mapping[UUID, FactView], message_ids: Sequence[UUID], moment: Moment) -> dict[UUID, Ending]:
    over = {id: fact.valid_to for id, fact in facts.items() if fact.status != "active" and fact.valid_to}
    said = _said_no_longer(message_ids, moment)
    if not over and not said:
        return {}
    slots = _slots(list(over))
    holding = _holding({*slots.values(), *(slot for _at, slot in said.values())}, moment)
    return {id: Ending(at, holding.get(slots[id])) for id, at in over.items()} | {
        id: Ending(at, holding.get(slot)) for id, (at, slot) in said.items()
    }


def _said_no_longer(message_ids: Sequence[UUID], moment: Moment) -> dict[UUID, tuple[datetime, UUID]]:
    """Message → since when and in which slot something it stated was replaced or withdrawn.

    A statement that still stands as it was made is not over, however long ago it says something ended.
    """
    if not message_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_PIECES, [[f"msg:{id}" for id in message_ids]])
        pieces = [_Piece(*row) for row in cursor.fetchall()]
    statements: dict[tuple[str, UUID], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        if piece.scope_ref in moment.ticks and piece.recorded_at <= moment.ticks[piece.scope_ref]:
            statements[piece.ref, piece.origin].append(piece)
    holding_slots = {(ref, group[0].slot) for (ref, _), group in statements.items() if _holds(group, moment)}
    found: dict[UUID, tuple[datetime, UUID]] = {}
    for (ref, _origin), group in statements.items():
        ended = _ended_at(group, moment)
        id = UUID(ref.removeprefix("msg:"))
        # Who says "from Bonn to Kiel" tells both: the message is as true as ever.
        if ended and (ref, group[0].slot) not in holding_slots and (id not in found or found[id][0] < ended):
            found[id] = ended, group[0].slot
    return found


def _is_believed(piece: _Piece, moment: Moment) -> bool:
    return piece.superseded_at is None or piece.superseded_at > moment.ticks[piece.scope_ref]


def _holds(group: Sequence[_Piece], moment: Moment) -> bool:
    return any(
        _is_believed(piece, moment) and (piece.valid_to is None or piece.valid_to > moment.valid_at) for piece in group
    )


def _ended_at(group: Sequence[_Piece], moment: Moment) -> datetime | None:
    """When a statement was over, if something came in between."""
    closed = [piece.superseded_at for piece in group if not _is_believed(piece, moment) and piece.superseded_at]
    if not closed or _holds(group, moment):
        return None
    ends = [piece.valid_to for piece in group if _is_believed(piece, moment) and piece.valid_to]
    return max(ends) if ends else max(closed)


def _slots(fact_ids: Sequence[UUID]) -> dict[UUID, UUID]:
    if not fact_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, slot FROM facts WHERE id = ANY (%s)", [list(fact_ids)])
        return dict(cursor.fetchall())


def _holding(slots: Iterable[UUID], moment: Moment) -> dict[UUID, UUID]:
    """Slot → the fact that holds there at the moment."""
    asked = Conditions().that("slot = ANY(%s)", list(slots)).known_at(moment).valid_at(moment.valid_at)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT slot, id FROM facts WHERE {asked.text} ORDER BY valid_from", asked.parameters)  # noqa: S608
        return dict(cursor.fetchall())
