"""What each operation of a proposal does: commit it, restate it, or leave it to a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, assert_never

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import parse_instant
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import name_key
from gedaechtnis.memory import planner, references
from gedaechtnis.memory.memory_types import RULES
from gedaechtnis.memory.schemas import (
    AddAlias,
    AssertFact,
    AssertRelationship,
    InvalidateFact,
    Operation,
    OperationResult,
    Outcome,
    RecordEvent,
    UpsertEntity,
)
from gedaechtnis.memory.services import assertions, closings, entities, proposals, statements
from gedaechtnis.memory.services.assertions import Extras, Said
from gedaechtnis.memory.services.authority import judge_operation
from gedaechtnis.memory.services.entities import EntityBook, Sketch
from gedaechtnis.memory.services.provenance import Provenance
from gedaechtnis.memory.services.session import WriteSession
from gedaechtnis.world.models import Entity

_TOLD_BY_THE_SERVER = ("entity.", "fact.", "proposal.")
"""Families of event types that are the record of this memory's own changes; nobody may forge them."""

_PLANNED = {
    planner.PlanOutcome.COMMITTED: Outcome.COMMITTED,
    planner.PlanOutcome.RESTATED: Outcome.RESTATED,
}


def carry_out(
    session: WriteSession, book: EntityBook, op: Operation, index: int, *, force_review: bool
) -> OperationResult:
    """Carry out one operation at its own tick. Raises Problem when a rule refuses it; nothing is written then."""
    provenance = judge_operation(session, book, op, force_review=force_review)
    if op.evidence is not None and not provenance.quoted and not session.principal.is_person:
        op = op.model_copy(update={"evidence": proposals.unquoted(op.evidence)})
    tick = session.ticks[index]
    match op:
        case UpsertEntity():
            return upsert(session, book, op, index, tick, provenance)
        case AssertFact() | AssertRelationship():
            return state(session, book, op, index, tick, provenance)
        case InvalidateFact():
            return closings.invalidate(session, book, op, index, tick, provenance)
        case AddAlias():
            return alias(session, book, op, index, tick, provenance)
        case RecordEvent():
            return record(session, book, op, index, tick, provenance)
        case _ as never:
            assert_never(never)


def upsert(
    session: WriteSession, book: EntityBook, op: UpsertEntity, index: int, tick: datetime, provenance: Provenance
) -> OperationResult:
    """Find the entity or make it. What may not be written yet becomes a sketch of this proposal."""
    session.catalogue.kind(op.kind)
    name = entities.read_name(op.canonical_name, field="canonical_name")
    entity = book.match(op)
    if entity is None and not provenance.commits:
        book.sketches[op.id_hint] = Sketch(
            hint=op.id_hint,
            kind=op.kind,
            name=name,
            aliases=tuple(op.aliases),
            description=op.description or "",
        )
        return OperationResult(op_index=index, outcome=Outcome.PENDING, entity_ref=op.id_hint)
    outcome = Outcome.RESTATED
    if entity is None:
        entity = assertions.introduce(
            session=session,
            kind=op.kind,
            name=name,
            tick=tick,
            description=op.description or "",
            provenance=provenance,
            evidence=op.evidence,
        )
        outcome = Outcome.COMMITTED
    book.bound[op.id_hint] = entity
    new_aliases = [*op.aliases, *([] if name_key(name) == entity.name_key else [name])]
    if new_aliases and provenance.commits and entity.scope_ref == session.scope_ref:
        for other in new_aliases:
            made = entities.add_alias(
                session=session, entity=entity, alias=other, tick=tick, source=provenance.source, rank=provenance.rank
            )
            outcome = Outcome.COMMITTED if made else outcome
    return OperationResult(op_index=index, outcome=outcome, entity_ref=entity.ref, entity_id=entity.pk)


def state(
    session: WriteSession,
    book: EntityBook,
    op: AssertFact | AssertRelationship,
    index: int,
    tick: datetime,
    provenance: Provenance,
    *,
    decided: bool = False,
) -> OperationResult:
    """Assert a fact or a relationship. `decided`: a person accepted it, whatever stands against it."""
    if provenance.commits:
        materialise(session, book, tick, provenance, op)
    statement = statements.resolve(op, session, book, said_at=provenance.said_at or tick)
    said = said_of(session, op, statement, decided=decided)
    rows = assertions.believed_rows(session.scope_ref, statement, said)
    plan = assertions.plan_assertion(
        statement=statement, said=said, provenance=provenance, rows=rows, tick=tick, session=session
    )
    if not provenance.commits and plan.outcome is planner.PlanOutcome.RESTATED:
        return OperationResult(
            op_index=index, outcome=Outcome.RESTATED, entity_ref=statement.subject.ref, fact_id=plan.primary
        )
    if not provenance.commits or plan.outcome is planner.PlanOutcome.PROPOSAL:
        return proposals.hold(
            session=session,
            book=book,
            op=op,
            index=index,
            tick=tick,
            provenance=provenance,
            statement=statement,
            rows=rows,
            conflict=plan.conflict,
        )
    event_id = uuid7()
    assertions.apply_assertion(
        session=session,
        plan=plan,
        rows=rows,
        statement=statement,
        provenance=provenance,
        extras=Extras(confidence=op.confidence, domain=op.domain or "", topic=op.topic or ""),
        evidence=op.evidence,
        event_id=event_id,
    )
    restated = plan.outcome is planner.PlanOutcome.RESTATED
    session.add_event(
        id=event_id,
        event_type="fact.restated" if restated else "fact.asserted",
        tick=tick,
        source=provenance.source,
        trust_tier=provenance.trust_tier,
        occurred_at=provenance.said_at,
        target_entity_id=statement.subject.pk,
        caused_by_event_id=op.caused_by_event_id,
        payload=assertions.changes_of(plan),
        summary=statement.sentence,
        retention_class=RULES[op.memory_type].retention_class,
    )
    _refresh_name(session, statement, tick)
    return OperationResult(
        op_index=index,
        outcome=_PLANNED[plan.outcome],
        entity_ref=statement.subject.ref,
        entity_id=statement.subject.pk,
        fact_id=plan.primary,
        closed_fact_ids=[close.id for close in plan.closes],
        event_id=event_id,
        reason=_("Your claim was lowered to what the evidence bears.") if provenance.lowered else None,
    )


def said_of(
    session: WriteSession,
    op: AssertFact | AssertRelationship,
    statement: statements.Statement,
    *,
    decided: bool = False,
) -> Said:
    """How a statement was made, with the beliefs it names.

    Raises:
        Problem: `not_found` for a fact it names, `replaces_another`.
    """
    replaces = None
    if op.replaces_fact_id:
        row = assertions.locate(op.replaces_fact_id, session.scope_ref, field="replaces_fact_id")
        if row.subject_id != statement.subject.pk or row.predicate != statement.predicate.key:
            raise Problem(
                "replaces_another",
                _("A statement can only replace one about the same subject and predicate."),
                field="replaces_fact_id",
            )
        replaces = row.origin_fact_id
    based_on = None
    if op.based_on_fact_id:
        based_on = assertions.locate(op.based_on_fact_id, session.scope_ref, field="based_on_fact_id").pk
    return Said(
        still=op.still,
        correction=op.correction,
        replaces_origin_id=replaces,
        based_on_fact_id=based_on,
        decided=decided,
    )


def _refresh_name(session: WriteSession, statement: statements.Statement, tick: datetime) -> None:
    """Keep the cached name equal to the believed `name` that holds at the tick."""
    if statement.predicate.key != "name" or statement.subject.scope_ref != session.scope_ref:
        return
    current = statement.subject.facts.filter(
        scope_ref=session.scope_ref, predicate="name", polarity=True, superseded_at=None
    )
    row = current.valid_at(tick).first()
    if row is not None and isinstance(row.object_value, str) and row.object_value != statement.subject.canonical_name:
        name = entities.read_name(row.object_value, field="object_value")
        statement.subject.canonical_name = name
        statement.subject.name_key = name_key(name)
        Entity.objects.filter(pk=statement.subject.pk).update(canonical_name=name, name_key=statement.subject.name_key)


def materialise(session: WriteSession, book: EntityBook, tick: datetime, provenance: Provenance, op: Operation) -> None:
    """Create the sketched entities that an operation about to be written names."""
    for ref in references.named_by(op):
        sketch = book.sketches.pop(ref, None)
        if sketch is None:
            continue
        entity = assertions.introduce(
            session=session,
            kind=sketch.kind,
            name=sketch.name,
            tick=tick,
            description=sketch.description,
            provenance=provenance,
            evidence=op.evidence,
        )
        for other in sketch.aliases:
            entities.add_alias(
                session=session, entity=entity, alias=other, tick=tick, source=provenance.source, rank=provenance.rank
            )
        book.bound[sketch.hint] = entity


def alias(
    session: WriteSession, book: EntityBook, op: AddAlias, index: int, tick: datetime, provenance: Provenance
) -> OperationResult:
    """Give an entity a further name."""
    if provenance.commits:
        materialise(session, book, tick, provenance, op)
    entity = book.bind(op.entity_ref, field="entity_ref")
    if not provenance.commits:
        return proposals.hold_alias(
            session=session, book=book, op=op, index=index, tick=tick, provenance=provenance, entity=entity
        )
    start = statements.read_from(op.valid_from, session, "valid_from")
    end = statements.read_to(op.valid_to, session, "valid_to", said_at=provenance.said_at or tick)
    made = entities.add_alias(
        session=session,
        entity=entity,
        alias=op.alias,
        namespace=op.namespace,
        tick=tick,
        source=provenance.source,
        rank=provenance.rank,
        valid_from=start.at if start else None,
        valid_to=end.at if end else None,
    )
    if made is not None:
        session.add_event(
            id=uuid7(),
            event_type="entity.alias_added",
            tick=tick,
            source=provenance.source,
            target_entity_id=entity.pk,
            payload={"alias_id": str(made.pk)},
            summary=made.alias,
        )
    outcome = Outcome.COMMITTED if made else Outcome.RESTATED
    return OperationResult(op_index=index, outcome=outcome, entity_ref=entity.ref, entity_id=entity.pk)


def record(
    session: WriteSession, book: EntityBook, op: RecordEvent, index: int, tick: datetime, provenance: Provenance
) -> OperationResult:
    """Append an event to the record of what happened."""
    session.catalogue.event_type(op.event_type)
    if op.event_type.startswith(_TOLD_BY_THE_SERVER):
        raise Problem(
            "reserved_event_type",
            _("“%(key)s” is only recorded when it happens here.") % {"key": op.event_type},
            field="event_type",
        )
    target = book.bind(op.target_ref, field="target_ref") if op.target_ref else None
    if target is not None and entities.is_sketch(target):
        raise Problem(
            "unconfirmed_entity",
            _("Nothing can have happened to “%(name)s” before somebody confirms that it exists.")
            % {"name": target.canonical_name},
            field="target_ref",
        )
    occurred = parse_instant(op.occurred_at, zone=session.zone, field="occurred_at") if op.occurred_at else tick
    event_id = uuid7()
    payload: dict[str, Any] = op.payload
    session.add_event(
        id=event_id,
        event_type=op.event_type,
        tick=tick,
        source=provenance.source,
        trust_tier=provenance.trust_tier,
        occurred_at=occurred,
        target_entity_id=target.pk if target else None,
        caused_by_event_id=op.caused_by_event_id,
        payload=payload,
        summary=op.summary,
    )
    if target is not None:
        session.touched.add(target.pk)
    return OperationResult(
        op_index=index,
        outcome=Outcome.COMMITTED,
        entity_ref=target.ref if target else None,
        event_id=event_id,
    )


def propose_unused_sketches(
    session: WriteSession, book: EntityBook, ops: Sequence[Operation], results: list[OperationResult]
) -> None:
    """An entity that no waiting fact brings along waits by itself."""
    waiting = (op for op, result in zip(ops, results, strict=True) if result.proposal_id or result.code == "suppressed")
    used = {ref for op in waiting for ref in references.named_by(op)}
    for op, result in zip(ops, results, strict=True):
        if isinstance(op, UpsertEntity) and op.id_hint in book.sketches and op.id_hint not in used:
            results[result.op_index] = _hold_entity(session, book, op, result)


def _hold_entity(session: WriteSession, book: EntityBook, op: UpsertEntity, result: OperationResult) -> OperationResult:
    provenance = judge_operation(session, book, op)
    tick = session.ticks[result.op_index]
    try:
        return proposals.hold_entity(
            session=session, book=book, op=op, index=result.op_index, tick=tick, provenance=provenance
        )
    except Problem as problem:
        return OperationResult(
            op_index=result.op_index, outcome=Outcome.REJECTED, code=problem.code, reason=problem.detail
        )
