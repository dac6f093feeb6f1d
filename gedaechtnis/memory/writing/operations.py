"""What each operation of a proposal does: commit it, restate it, or leave it to a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import parse_instant
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.rank import Rank
from gedaechtnis.common.text import name_key
from gedaechtnis.memory import planner, ports, references
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
from gedaechtnis.memory.writing import (
    assertions,
    classification,
    closings,
    entities,
    freetext,
    proposals,
    questions,
    statements,
)
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.assertions import Extras, Said
from gedaechtnis.memory.writing.authority import guarded, judge_operation
from gedaechtnis.memory.writing.entities import EntityBook, Sketch
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.models import INTERNAL
from gedaechtnis.world.models import Entity, Fact

_TOLD_BY_THE_SERVER = ("conflict.", "entity.", "fact.", "grant.", "predicate.", "proposal.")
"""Families of event types that are the record of this memory's own changes; nobody may forge them."""

_PLANNED = {
    planner.PlanOutcome.COMMITTED: Outcome.COMMITTED,
    planner.PlanOutcome.RESTATED: Outcome.RESTATED,
}


def carry_out(
    session: WriteSession, book: EntityBook, op: Operation, index: int, *, force_review: bool
) -> OperationResult:
    """Carry out one operation at its own tick; where it is not clear whom it names, ask.

    Raises Problem when a rule refuses it; nothing is written then.
    """
    provenance = judge_operation(session, op)
    if op.evidence is not None and not provenance.quoted and not session.principal.is_person:
        op = op.model_copy(update={"evidence": proposals.unquoted(op.evidence)})
    act = Act(session=session, book=book, index=index, tick=session.ticks[index], provenance=provenance)
    try:
        with book.operation(said_at=act.said_at):
            judged = guarded(provenance, session, book, op, force_review=force_review)
            result = perform(replace(act, provenance=judged), op)
    except references.AmbiguousReference as unclear:
        with book.operation(said_at=act.said_at):
            result = questions.ask(act, op, unclear)
    if provenance.quoted and op.evidence is not None and op.evidence.ref is not None:
        ports.classify_quoted(session.scope_ref, op.evidence.ref, session.level)
    return result


def perform(act: Act, op: Operation) -> OperationResult:
    """Do what an operation says, as far as its act allows."""
    match op:
        case UpsertEntity():
            return _upsert(act, op)
        case AssertFact() | AssertRelationship():
            return _state(act, op)
        case InvalidateFact():
            return closings.invalidate(act, op)
        case AddAlias():
            return _alias(act, op)
        case RecordEvent():
            return _record(act, op)
        case _ as never:
            assert_never(never)


def _upsert(act: Act, op: UpsertEntity) -> OperationResult:
    """Find the entity or make it. What may not be written yet becomes a sketch of this proposal."""
    session, book, provenance = act.session, act.book, act.provenance
    session.catalogue.kind(op.kind)
    session.level = classification.of_kind(session, op.kind)
    name = entities.read_name(op.canonical_name, field="canonical_name")
    entity = book.match(op)
    if entity is None and not provenance.commits:
        book.sketches[op.id_hint] = Sketch(
            hint=op.id_hint,
            kind=op.kind,
            name=name,
            aliases=tuple(op.aliases),
            description=op.description or "",
            valid_from=op.valid_from,
        )
        return OperationResult(op_index=act.index, outcome=Outcome.PENDING, entity_ref=op.id_hint)
    outcome = Outcome.RESTATED
    if entity is None:
        entity = assertions.introduce(
            session=session,
            kind=op.kind,
            name=name,
            tick=act.tick,
            description=op.description or "",
            since=statements.read_from(op.valid_from, session, "valid_from"),
            provenance=provenance,
            evidence=op.evidence,
        )
        outcome = Outcome.COMMITTED
    book.bound[op.id_hint] = entity
    new_aliases = [*op.aliases, *([] if name_key(name) == entity.name_key else [name])]
    if new_aliases and provenance.commits and entity.scope_ref == session.scope_ref:
        for other in new_aliases:
            named = _add_name(act, entity, other)
            outcome = Outcome.COMMITTED if named else outcome
    return OperationResult(op_index=act.index, outcome=outcome, entity_ref=entity.ref, entity_id=entity.pk)


def _state(act: Act, op: AssertFact | AssertRelationship) -> OperationResult:
    """Assert a fact or a relationship."""
    session, provenance, tick = act.session, act.provenance, act.tick
    if provenance.commits:
        _materialise(act, op)
    statement = statements.resolve(op, session, act.book, said_at=act.said_at)
    if is_free_text := freetext.is_free_text(statement):
        op = freetext.filed(op, statement)
        statement = freetext.in_known_words(session, statement, op.topic or "", said_at=act.said_at)
    said = said_of(session, op, statement, decided=act.decided)
    rows = assertions.believed_rows(session, statement, said)
    plan = assertions.plan_assertion(
        statement=statement, said=said, provenance=provenance, rows=rows, tick=tick, session=session
    )
    is_known = plan.outcome is planner.PlanOutcome.RESTATED
    rivals = freetext.rivals(act, statement, op.topic or "", said) if is_free_text and not plan.evidence_for else []
    session.level = classification.of_statement(
        session, statement, memory_type=provenance.memory_type, rows=[*rows.values(), *rivals]
    )
    if not provenance.commits and is_known and not (is_free_text and freetext.is_new_witness(session, plan, op)):
        ref = statement.subject.ref
        return OperationResult(op_index=act.index, outcome=Outcome.RESTATED, entity_ref=ref, fact_id=plan.primary)
    waits = (not provenance.commits and not is_known) or (bool(rivals) and provenance.rank < Rank.PERSON)
    if waits or plan.outcome is planner.PlanOutcome.PROPOSAL:
        return proposals.hold(act, op, statement=statement, rows=rows, conflict=plan.conflict, rivals=rivals)
    event_id = uuid7()
    applied = assertions.apply_assertion(
        session=session,
        plan=plan,
        rows=rows,
        statement=statement,
        provenance=provenance,
        extras=Extras(
            confidence=op.confidence,
            domain=op.domain or "",
            topic=op.topic or "",
            sources=op.sources if isinstance(op, AssertFact) else (),
            by_veracity=is_free_text,
        ),
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
        payload=applied.as_payload(),
        summary=statement.sentence,
        retention_class=RULES[op.memory_type].retention_class,
    )
    contradicted = [*(plan.conflict.fact_ids if plan.conflict else ()), *(rival.pk for rival in rivals)]
    conflict_id = None
    if contradicted and plan.primary is not None:
        conflict_id = session.add_conflict(
            kind=plan.conflict.kind if plan.conflict else planner.ConflictKind.CONTRADICTION,
            fact_id=plan.primary,
            others=contradicted,
            tick=tick,
            event_id=event_id,
        )
    if statement.predicate.key == "name":
        assertions.refresh_name(session, statement.subject, tick)
    return OperationResult(
        op_index=act.index,
        outcome=_PLANNED[plan.outcome],
        entity_ref=statement.subject.ref,
        entity_id=statement.subject.pk,
        fact_id=plan.primary,
        closed_fact_ids=[close.id for close in plan.closes],
        conflict_id=conflict_id,
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
        Problem: `not_found` for a fact it names, `replaces_another`, `based_on_another`.
    """
    replaces = None
    if op.replaces_fact_id:
        replaces = assertions.locate(op.replaces_fact_id, session, field="replaces_fact_id")
        if not _is_about(session, replaces, statement):
            raise Problem(
                "replaces_another",
                _("A statement can only replace one about the same subject and predicate."),
                field="replaces_fact_id",
            )
    based_on = None
    if op.based_on_fact_id:
        based_on = assertions.locate(op.based_on_fact_id, session, field="based_on_fact_id")
        if based_on.superseded_at is None and not _is_about(session, based_on, statement):
            raise Problem(
                "based_on_another",
                _("A statement can only build on one about the same subject and predicate."),
                field="based_on_fact_id",
            )
    return Said(still=op.still, correction=op.correction, replaces=replaces, based_on=based_on, decided=decided)


def _is_about(session: WriteSession, row: Fact, statement: statements.Statement) -> bool:
    """Whether a row of any age speaks of the same subject and predicate, whatever its subject was merged into."""
    subject = assertions.standing_for(session, row.subject_id)
    return (subject, row.predicate) == (statement.subject.pk, statement.predicate.key)


def _materialise(act: Act, op: Operation) -> None:
    """Create the sketched entities that an operation about to be written names."""
    for ref in references.named_by(op) if act.book.sketches else ():
        sketch = act.book.sketches.pop(ref, None)
        if sketch is None:
            continue
        entity = assertions.introduce(
            session=act.session,
            kind=sketch.kind,
            name=sketch.name,
            tick=act.tick,
            description=sketch.description,
            since=statements.read_from(sketch.valid_from, act.session, "valid_from"),
            provenance=act.provenance,
            evidence=op.evidence,
        )
        for other in sketch.aliases:
            _add_name(act, entity, other)
        act.book.bound[sketch.hint] = entity


def _alias(act: Act, op: AddAlias) -> OperationResult:
    """Give an entity a further name."""
    if act.provenance.commits:
        _materialise(act, op)
    entity = act.book.bind(op.entity_ref, field="entity_ref")
    act.session.level = entity.classification
    if not act.provenance.commits:
        return proposals.hold_alias(act, op, entity=entity)
    start = statements.read_from(op.valid_from, act.session, "valid_from")
    end = statements.read_to(op.valid_to, act.session, "valid_to", said_at=act.said_at)
    event_id = _add_name(
        act,
        entity,
        op.alias,
        namespace=op.namespace,
        valid_from=start.at if start else None,
        valid_to=end.at if end else None,
    )
    return OperationResult(
        op_index=act.index,
        outcome=Outcome.COMMITTED if event_id else Outcome.RESTATED,
        entity_ref=entity.ref,
        entity_id=entity.pk,
        event_id=event_id,
    )


def _add_name(act: Act, entity: Entity, name: str, **more: Any) -> UUID | None:
    """Give an entity a further name; the event of it, None if it bears that name already."""
    made = entities.add_alias(
        session=act.session,
        entity=entity,
        alias=name,
        tick=act.tick,
        source=act.provenance.source,
        rank=act.provenance.rank,
        **more,
    )
    if not made:
        return None
    event_id = uuid7()
    act.session.add_event(
        id=event_id,
        event_type="entity.alias_added",
        tick=act.tick,
        source=act.provenance.source,
        target_entity_id=entity.pk,
        payload={"alias_ids": [str(alias.pk) for alias in made]},
        summary=made[0].alias,
    )
    return event_id


def _record(act: Act, op: RecordEvent) -> OperationResult:
    """Append an event to the record of what happened."""
    session, book, provenance, tick = act.session, act.book, act.provenance, act.tick
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
    session.level = target.classification if target else INTERNAL
    occurred = parse_instant(op.occurred_at, zone=session.zone, field="occurred_at") if op.occurred_at else tick
    event_id = uuid7()
    session.add_event(
        id=event_id,
        event_type=op.event_type,
        tick=tick,
        source=provenance.source,
        trust_tier=provenance.trust_tier,
        occurred_at=occurred,
        target_entity_id=target.pk if target else None,
        caused_by_event_id=op.caused_by_event_id,
        payload=op.payload,
        summary=op.summary,
    )
    if target is not None:
        session.touched.add(target.pk)
    return OperationResult(
        op_index=act.index,
        outcome=Outcome.COMMITTED,
        entity_ref=target.ref if target else None,
        event_id=event_id,
    )


def settle_hints(
    session: WriteSession, book: EntityBook, ops: Sequence[Operation], results: list[OperationResult]
) -> None:
    """Hints that no waiting operation uses: a new entity waits by itself, an unclear name is refused."""
    waiting = (op for op, result in zip(ops, results, strict=True) if result.proposal_id or result.code == "suppressed")
    used = {ref for op in waiting for ref in references.named_by(op)}
    questions.settle(book, ops, results, used)
    for op, result in zip(ops, results, strict=True):
        if isinstance(op, UpsertEntity) and op.id_hint in book.sketches and op.id_hint not in used:
            results[result.op_index] = _hold_entity(session, book, op, result)


def _hold_entity(session: WriteSession, book: EntityBook, op: UpsertEntity, result: OperationResult) -> OperationResult:
    session.level = classification.of_kind(session, op.kind)
    act = Act(
        session=session,
        book=book,
        index=result.op_index,
        tick=session.ticks[result.op_index],
        provenance=judge_operation(session, op),
    )
    try:
        with book.operation(said_at=act.said_at):
            return proposals.hold_entity(replace(act, provenance=guarded(act.provenance, session, book, op)), op)
    except Problem as problem:
        return OperationResult(
            op_index=result.op_index, outcome=Outcome.REJECTED, code=problem.code, reason=problem.detail
        )
