"""Applying a plan: its closes and inserts become rows, and the mirrors of what holds both ways follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.memory import planner, values
from gedaechtnis.memory.writing.ledger import Group
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.slots import pair_key, slot_key
from gedaechtnis.memory.writing.statements import sentence_of
from gedaechtnis.scoping.rows import columns_of, make
from gedaechtnis.world.models import Entity, Fact

# What a remainder or a confirmed row copies from the row it descends from; everything else the plan sets.
_DESCRIPTION = (
    "classification",
    "subject_id",
    "predicate",
    "object_value",
    "object_entity_id",
    "object_key",
    "slot",
    "applies_to_id",
    "observed_at",
    "statement",
    "confidence",
    "source",
    "source_trust_tier",
    "memory_type",
    "acted_by",
    "domain",
    "topic",
    "run_id",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The rows an operation wrote and closed, mirrors included. `primary` answers for the statement."""

    inserted: tuple[Fact, ...]
    closed: tuple[Fact, ...]
    primary: UUID | None

    def as_payload(self) -> dict[str, Any]:
        """The ids an event keeps: enough to explain the operation and to undo it."""
        return {
            "fact_ids": [str(row.pk) for row in self.inserted],
            "closed_fact_ids": [str(row.pk) for row in self.closed],
            "primary_fact_id": str(self.primary) if self.primary else None,
        }


def apply_plan(
    *,
    session: WriteSession,
    plan: planner.Plan,
    rows: dict[UUID, Fact],
    new: dict[str, Any] | None,
    event_id: UUID,
    reason: str | None,
) -> Applied:
    """Close, then insert, both at the plan's tick. `new` describes the new statement, if there is one."""
    inserted: list[Fact] = []
    twins: dict[UUID, UUID] = {}
    for insert in plan.inserts:
        source = rows[insert.copy_of] if insert.copy_of else None
        row = _row(insert, source, new, session, plan, event_id)
        inserted.append(row)
        if is_mirrored(session, row):
            twin = reflected(session, row, twin_of(session, source) if source else None)
            if source is not None and source.mirror_of is not None:
                row.mirror_of = twin.pk
            else:
                twin.mirror_of = row.pk
            twins[row.pk] = twin.pk
            inserted.append(twin)
    closed: list[Fact] = []
    for close in plan.closes:
        row = rows[close.id]
        mirror = twin_of(session, row) if is_mirrored(session, row) else None
        for side, closed_by in (
            (row, close.closed_by),
            (mirror, twins.get(close.closed_by or row.pk, close.closed_by)),
        ):
            if side is not None:
                session.ledger.close(side, tick=plan.tick, reason=close.reason, closed_by=closed_by, why=reason)
                closed.append(side)
    for row in inserted:
        session.ledger.insert(row)
    session.touched.update(id for row in (*inserted, *closed) for id in (row.subject_id, row.object_entity_id) if id)
    return Applied(inserted=tuple(inserted), closed=tuple(closed), primary=plan.primary)


def _row(
    insert: planner.Insert,
    source: Fact | None,
    new: dict[str, Any] | None,
    session: WriteSession,
    plan: planner.Plan,
    event_id: UUID,
) -> Fact:
    if source is not None:
        described: dict[str, Any] = {name: getattr(source, name) for name in _DESCRIPTION}
        supersedes = source.supersedes_fact_id
        if new is not None and insert.rank > source.rank:  # confirmed by a weightier word, which alone would be as sure
            described["confidence"] = max(source.confidence, new["confidence"])
    elif new is not None:
        described, supersedes = new, insert.supersedes
    else:
        raise RuntimeError("the plan of an ending never holds a new statement")
    columns = {
        **session.ownership,
        **described,
        "id": insert.id,
        "polarity": insert.polarity,
        "valid_from": insert.valid_from,
        "valid_to": insert.valid_to,
        "valid_from_precision": insert.valid_from_precision,
        "valid_to_precision": insert.valid_to_precision,
        "valid_from_stated": insert.valid_from_stated,
        "valid_to_stated": insert.valid_to_stated,
        "rank": insert.rank,
        "made_at": insert.made_at,
        "recorded_at": plan.tick,
        "origin_fact_id": insert.origin_id,
        "supersedes_fact_id": supersedes,
        "event_id": event_id,
    }
    row = make(Fact, columns)
    if source is not None:  # the rules may have changed since it was written
        row.object_key, row.slot = keys_of(session, row)
    return row


def keys_of(session: WriteSession, row: Fact) -> tuple[UUID, UUID]:
    """The object key and the slot of a row under the registry's present rules."""
    predicate = session.catalogue.predicates.get(row.predicate)
    object_key = values.object_key(predicate, value=row.object_value, entity_id=row.object_entity_id)
    slot = slot_key(
        subject_id=row.subject_id,
        predicate=row.predicate,
        functional=predicate is not None and predicate.is_functional,
        applies_to_id=row.applies_to_id,
        object_key=object_key,
        polarity=row.polarity,
    )
    return object_key, slot


def is_mirrored(session: WriteSession, row: Fact) -> bool:
    """Whether a row is one of a pair: a symmetric predicate holds from either end."""
    predicate = session.catalogue.predicates.get(row.predicate)
    return predicate is not None and predicate.symmetric and row.object_entity_id is not None


def compared_key(session: WriteSession, row: Fact) -> UUID:
    """The object of a row as the planner compares it: a pair is the same from either end."""
    if row.object_entity_id is None or not is_mirrored(session, row):
        return row.object_key
    return pair_key(row.subject_id, row.object_entity_id)


def twin_of(session: WriteSession, row: Fact) -> Fact | None:
    """The believed row that says the same from the other end."""
    if row.object_entity_id is None:
        return None
    key = canonical.object_key(entity_id=row.subject_id)
    others = session.ledger.group(Group(row.object_entity_id, row.predicate, row.applies_to_id, key))
    return next((other for id, other in others.items() if other.mirror_of == row.pk or row.mirror_of == id), None)


def reflected(session: WriteSession, row: Fact, twin: Fact | None) -> Fact:
    """The other end's row of a new row; it shares its origin and with it the evidence. `twin` is the source's."""
    if row.object_entity_id is None:
        raise ValueError("a literal has no other end")
    turned = {
        "id": uuid7(),
        "subject_id": row.object_entity_id,
        "object_entity_id": row.subject_id,
        "statement": twin.statement if twin else _worded(session, row),
        "supersedes_fact_id": twin.supersedes_fact_id if twin else row.supersedes_fact_id,
    }
    other = make(Fact, columns_of(row) | turned)
    other.object_key, other.slot = keys_of(session, other)
    return other


def _worded(session: WriteSession, row: Fact) -> str:
    ends = [session.directory.by_id(id) for id in (row.object_entity_id, row.subject_id) if id]
    subject, target = (end or Entity(canonical_name="?") for end in ends)
    return sentence_of(session, subject, session.catalogue.predicates[row.predicate], row.polarity, None, target)
