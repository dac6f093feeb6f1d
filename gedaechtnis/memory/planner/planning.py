"""The planner: believed rows and one operation in, closes and inserts out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from gedaechtnis.common.ids import uuid7
from gedaechtnis.memory.planner.bounds import settle
from gedaechtnis.memory.planner.intervals import Edge, Interval
from gedaechtnis.memory.planner.precedence import contradiction, outranking, second_value
from gedaechtnis.memory.planner.refusals import already_ended, before_start, nothing_believed, stale
from gedaechtnis.memory.planner.restatement import confirm, gaps
from gedaechtnis.memory.planner.rows import (
    Assert,
    Belief,
    Close,
    ClosedReason,
    Conflict,
    End,
    Operation,
    Plan,
    PlanOutcome,
    Retract,
)
from gedaechtnis.memory.planner.writer import Writer


def plan(
    believed: Sequence[Belief],
    operation: Operation,
    tick: datetime,
    new_id: Callable[[], UUID] = uuid7,
) -> Plan:
    """Work out one operation on the believed rows of one subject, predicate and applicability.

    Rows of every object and both polarities belong into `believed`; their order does not matter.
    `tick` is the system time of the operation; it is passed through and decides nothing.

    Raises:
        Problem: `empty_interval`, `still_ended`, `before_start` (422); `stale`,
            `nothing_believed`, `already_ended` (409).
    """
    rows = sorted(believed, key=lambda row: (row.valid_from, row.id))
    match operation:
        case Assert():
            return _plan_assert(rows, operation, tick, new_id)
        case End():
            return _plan_end(rows, operation, tick, new_id)
        case Retract():
            return _plan_retract(rows, operation, tick)


def _plan_assert(believed: Sequence[Belief], statement: Assert, tick: datetime, new_id: Callable[[], UUID]) -> Plan:
    """Defaults and bounds, then precedence, then restatement, then rectangles."""
    based_on = statement.based_on_fact_id
    if based_on is not None and all(row.id != based_on for row in believed):
        raise stale(based_on)

    if conflict := second_value(statement, believed):
        return _proposal(tick, conflict)
    finer = [row for row in believed if statement.is_refined_by(row)]
    if finer and not statement.refutes:
        return _restated(finer, statement, tick)

    coarser = [row for row in believed if statement.refines_row(row)]
    refutes = statement.refutes or bool(coarser)
    named = coarser or _named(statement, believed)
    if refutes and statement.immutable:  # another value of it never held at any time
        named = [row for row in believed if row in named or statement.competes_with(row)]
    taken = _taken_over(statement, believed, named) if refutes and statement.valid_from is None else None
    if taken and not named:
        named = [row for row in believed if row.origin_id == taken.origin_id]

    interval = settle(statement, believed, taken)
    if isinstance(interval, Conflict):
        return _proposal(tick, interval)
    rest = [row for row in believed if row not in named]
    claimed = [interval, *_other_pieces(statement, taken, named)]
    rivals = [row for row in rest if statement.competes_with(row) and any(map(row.interval.overlaps, claimed))]
    if conflict := outranking(
        [*named, *rivals],
        rank=statement.rank,
        observed_from=interval.start.at if statement.authority_source and not refutes else None,
    ):
        return _proposal(tick, conflict)

    write = Writer(new_id)
    equal = [row for row in rest if statement.equals(row)]
    known = confirm(equal, statement, interval, write)
    free = gaps(interval, known) + [gap for piece in claimed[1:] for gap in gaps(piece, [*equal, *known])]
    new = [write.state(statement, gap, supersedes=_superseded(gap, rivals, named)) for gap in free]
    primary = _answering(new or known, statement.said_at)
    for row in rivals:
        closer = next((own for own in [*new, *known] if own.interval.overlaps(row.interval)), primary)
        write.cut(row, claimed, _reason(refutes, interval.start, row), closer.id)
    for row in named:
        _follow(row, interval.start, refutes, primary, write)
    return Plan(
        tick=tick,
        outcome=PlanOutcome.COMMITTED if write.closes or write.inserts else PlanOutcome.RESTATED,
        closes=tuple(write.closes),
        inserts=tuple(write.inserts),
        evidence_for=_origins(known),
        primary=primary.id,
        conflict=contradiction(statement, interval, rivals),
    )


def _named(statement: Assert, believed: Sequence[Belief]) -> list[Belief]:
    """All believed pieces of the belief that the statement says it replaces."""
    origin = statement.replaces_origin_id
    if origin is None:
        return []
    pieces = [row for row in believed if row.origin_id == origin]
    if not pieces:
        raise nothing_believed(origin)
    return pieces


def _taken_over(statement: Assert, believed: Sequence[Belief], named: Sequence[Belief]) -> Belief | None:
    """The belief whose interval a correction without bounds takes: the named, else the competing one.

    Of a named belief in pieces it is the one current when the statement was made, else the latest.
    """
    candidates = named or [row for row in believed if statement.competes_with(row)]
    current = [row for row in candidates if row.interval.holds(statement.said_at)]
    if current:
        return current[0]
    return named[-1] if named else None


def _other_pieces(statement: Assert, taken: Belief | None, named: Sequence[Belief]) -> list[Interval]:
    """Where else a named belief held that a correction without any bounds takes over: it was wrong there too."""
    if taken is None or statement.replaces_origin_id is None or statement.valid_to or statement.still:
        return []
    return [row.interval for row in named if row is not taken]


def _follow(row: Belief, start: Edge, refutes: bool, successor: Belief, write: Writer) -> None:
    """A named belief ends where its successor begins; a refuted one is closed wholly."""
    if not refutes and row.interval.end.at <= start.at:
        return
    write.close(row, _reason(refutes, start, row), successor.id)
    if not refutes:
        for remainder in row.interval.until(start.inferred()):
            write.copy(row, remainder)


def _reason(refutes: bool, start: Edge, row: Belief) -> ClosedReason:
    """Corrected if flagged, or if nothing of the old belief stays before the new one; else changed."""
    return ClosedReason.CORRECTED if refutes or start.at <= row.valid_from else ClosedReason.CHANGED


def _superseded(gap: Interval, rivals: Sequence[Belief], named: Sequence[Belief]) -> UUID | None:
    """The row in whose place a new row stands: the first that it overlaps, else the named belief."""
    overlapped = [row for row in rivals if row.interval.overlaps(gap)]
    if overlapped:
        return overlapped[0].id
    return named[-1].id if named else None


def _answering(rows: Sequence[Belief], at: datetime) -> Belief:
    """The row that answers for a statement: the one holding when it was made, else the latest."""
    latest_first = sorted(rows, key=lambda row: row.valid_from, reverse=True)
    return next((row for row in latest_first if row.interval.holds(at)), latest_first[0])


def _origins(rows: Sequence[Belief]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(row.origin_id for row in rows))


def _proposal(tick: datetime, conflict: Conflict) -> Plan:
    return Plan(tick=tick, outcome=PlanOutcome.PROPOSAL, conflict=conflict)


def _restated(known: Sequence[Belief], statement: Assert, tick: datetime) -> Plan:
    """Said already, and more exactly."""
    return Plan(
        tick=tick,
        outcome=PlanOutcome.RESTATED,
        evidence_for=_origins(known),
        primary=_answering(known, statement.said_at).id,
    )


def _plan_end(believed: Sequence[Belief], end: End, tick: datetime, new_id: Callable[[], UUID]) -> Plan:
    """What lies after the end is closed; the piece that spans it is written again up to there."""
    pieces = _pieces(believed, end)
    if end.at.at <= min(row.valid_from for row in pieces):
        raise before_start()
    last = max(pieces, key=lambda row: row.interval.end.at)
    if last.valid_to == end.at.at:
        return Plan(
            tick=tick,
            outcome=PlanOutcome.RESTATED,
            evidence_for=(last.origin_id,),
            primary=last.id,
        )
    over = [row for row in pieces if row.interval.end.at > end.at.at]
    if not over:
        raise already_ended()
    observed_from = end.at.at if end.authority_source else None
    if conflict := outranking(over, rank=end.rank, observed_from=observed_from):
        return _proposal(tick, conflict)
    write = Writer(new_id)
    edge = Edge.of(end.at, stated=True)
    for row in over:
        write.close(row, ClosedReason.ENDED)
        for remainder in row.interval.until(edge):
            write.copy(row, remainder)
    closed = {row.id for row in over}
    left = [*(row for row in pieces if row.id not in closed), *write.inserts]
    return Plan(
        tick=tick,
        outcome=PlanOutcome.COMMITTED,
        closes=tuple(write.closes),
        inserts=tuple(write.inserts),
        primary=max(left, key=lambda row: row.valid_from).id,
    )


def _plan_retract(believed: Sequence[Belief], retract: Retract, tick: datetime) -> Plan:
    """Every piece is closed and nothing takes its place."""
    pieces = _pieces(believed, retract)
    if conflict := outranking(pieces, rank=retract.rank):
        return _proposal(tick, conflict)
    closes = tuple(Close(row.id, ClosedReason.RETRACTED) for row in pieces)
    return Plan(tick=tick, outcome=PlanOutcome.COMMITTED, closes=closes)


def _pieces(believed: Sequence[Belief], operation: End | Retract) -> list[Belief]:
    """The believed rows an operation acts on: all of the origin, or the one piece."""
    pieces = [
        row
        for row in believed
        if (row.id == operation.fact_id if operation.piece else row.origin_id == operation.origin_id)
    ]
    if not pieces:
        raise nothing_believed(operation.fact_id)
    return pieces
