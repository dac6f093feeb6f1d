"""Ending and retracting: what is still believed of a statement is closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import Bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory import planner
from gedaechtnis.memory.schemas import InvalidateFact, OperationResult, Outcome, Source
from gedaechtnis.memory.writing import assertions, proposals, statements
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.apply import apply_plan
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.registry.models import Predicate
from gedaechtnis.scoping.models import PUBLIC
from gedaechtnis.world.models import Entity, Fact


def invalidate(act: Act, op: InvalidateFact) -> OperationResult:
    """End or retract a belief by the id of any of its rows.

    Raises:
        Problem: `nothing_believed` (409, naming the successors), `before_start`, `already_ended`, `invalid_time`.
    """
    row = assertions.locate(op.target_fact_id, act.session, field="target_fact_id")
    rows = assertions.rows_of_origin(act.session, row)
    act.session.level = max(row.classification, *(other.classification for other in rows.values()), PUBLIC)
    plan = _plan(act.session, row, rows, _operation(act, op, row), act.tick)
    restated = plan.outcome is planner.PlanOutcome.RESTATED
    if not restated and (not act.provenance.commits or plan.outcome is planner.PlanOutcome.PROPOSAL):
        return proposals.hold_invalidation(act, op, row=row, rows=rows)
    return OperationResult(
        op_index=act.index,
        outcome=Outcome.RESTATED if restated else Outcome.COMMITTED,
        fact_id=plan.primary or row.pk,
        closed_fact_ids=[close.id for close in plan.closes],
        event_id=_apply(act.session, op, row, rows, plan),
    )


def _operation(act: Act, op: InvalidateFact, row: Fact) -> planner.End | planner.Retract:
    provenance = act.provenance
    if op.mode == "retract":
        return planner.Retract(fact_id=row.pk, origin_id=row.origin_fact_id, piece=op.piece, rank=provenance.rank)
    at = statements.read_to(op.at, act.session, "at", said_at=act.said_at)
    if at is None and op.at is not None:
        raise Problem("invalid_time", _("What lasts for ever does not end."), field="at")
    predicate = act.session.catalogue.predicates.get(row.predicate)
    return planner.End(
        fact_id=row.pk,
        origin_id=row.origin_fact_id,
        at=at or Bound(act.said_at),
        piece=op.piece,
        rank=provenance.rank,
        authority_source=predicate is not None and predicate.authority == Predicate.Authority.SOURCE,
    )


def _plan(
    session: WriteSession, row: Fact, rows: dict[UUID, Fact], operation: planner.End | planner.Retract, tick: datetime
) -> planner.Plan:
    try:
        return assertions.ask_planner(session, rows, operation, tick)
    except Problem as problem:
        if problem.code == "nothing_believed":
            problem.extra["successors"] = [str(id) for id in _successors(row)]
        raise


def _apply(session: WriteSession, op: InvalidateFact, row: Fact, rows: dict[UUID, Fact], plan: planner.Plan) -> UUID:
    event_id = uuid7()
    applied = apply_plan(session=session, plan=plan, rows=rows, new=None, event_id=event_id, reason=op.reason)
    session.add_event(
        id=event_id,
        event_type="fact.ended" if op.mode == "end" else "fact.retracted",
        tick=plan.tick,
        source=Source.USER_ASSERTION if session.principal.is_person else Source.INFERENCE,
        target_entity_id=row.subject_id,
        payload=applied.as_payload(),
        summary=row.statement,
    )
    if row.predicate == "name":
        assertions.refresh_name(session, Entity.objects.get(pk=row.subject_id), plan.tick)
    return event_id


def _successors(row: Fact) -> Sequence[UUID]:
    """The believed rows that now stand in the slot of a row."""
    return list(
        Fact.objects.believed()
        .filter(scope_ref=row.scope_ref, subject_id=row.subject_id, slot=row.slot)
        .order_by("valid_from")
        .values_list("pk", flat=True)
    )
