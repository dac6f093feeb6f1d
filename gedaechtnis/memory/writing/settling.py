"""A person's word on two statements that contradict each other: one of them goes, or both stay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal
from uuid import UUID

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import Bound, Precision
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.rank import Rank
from gedaechtnis.memory import planner
from gedaechtnis.memory.writing import assertions, suppressions
from gedaechtnis.memory.writing.apply import apply_plan
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.shelf import pair_key
from gedaechtnis.world.models import Fact

Keep = Literal["new", "old", "both"]


def supersede(session: WriteSession, old: Fact, *, by: Fact) -> list[UUID]:
    """Let a statement end where another begins; wholly, if nothing of it lies before. The rows that were closed.

    One that is over itself takes nobody's place.
    """
    tick = session.ticks[0]
    if by.valid_to is not None and by.valid_to <= tick:
        return []
    rows = assertions.rows_of_origin(session, old)
    end = planner.End(
        fact_id=old.pk,
        origin_id=old.origin_fact_id,
        at=Bound(by.valid_from, Precision(by.valid_from_precision)),
        piece=False,
        rank=Rank.PERSON,
        authority_source=False,
    )
    try:
        plan, reason = assertions.ask_planner(session, rows, end, tick), planner.ClosedReason.CHANGED
    except Problem as problem:
        if problem.code == "already_ended":
            return []
        if problem.code != "before_start":
            raise
        plan, reason = _retraction(session, old, rows), planner.ClosedReason.CORRECTED
    closes = tuple(replace(close, closed_by=by.pk, reason=reason) for close in plan.closes)
    return _carry_out(session, replace(plan, closes=closes), rows, "fact.ended", old)


def withdraw(session: WriteSession, fact: Fact) -> list[UUID]:
    """Believe a statement no longer, wholly. The rows that were closed."""
    rows = assertions.rows_of_origin(session, fact)
    return _carry_out(session, _retraction(session, fact, rows), rows, "fact.retracted", fact)


def let_both_stand(session: WriteSession, one: Fact, others: Iterable[Fact]) -> None:
    """Do not hold these against each other again."""
    for other in others:
        key = pair_key(one.subject_id, str(one.object_value), str(other.object_value))
        suppressions.remember_key(session, key, lasts=None)


def _retraction(session: WriteSession, fact: Fact, rows: dict[UUID, Fact]) -> planner.Plan:
    operation = planner.Retract(fact_id=fact.pk, origin_id=fact.origin_fact_id, piece=False, rank=Rank.PERSON)
    return assertions.ask_planner(session, rows, operation, session.ticks[0])


def _carry_out(
    session: WriteSession, plan: planner.Plan, rows: dict[UUID, Fact], event_type: str, fact: Fact
) -> list[UUID]:
    event_id = uuid7()
    applied = apply_plan(session=session, plan=plan, rows=rows, new=None, event_id=event_id, reason=None)
    session.add_event(
        id=event_id,
        event_type=event_type,
        tick=plan.tick,
        source="user_assertion",
        target_entity_id=fact.subject_id,
        payload=applied.as_payload(),
        summary=fact.statement,
    )
    return [row.pk for row in applied.closed]
