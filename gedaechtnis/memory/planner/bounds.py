"""Bounds: from what was said about time to the interval a statement claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from gedaechtnis.common.instants import UNKNOWN, UNKNOWN_START
from gedaechtnis.memory.planner.intervals import FOREVER, OPEN, UNKNOWN_EDGE, Edge, Interval, is_finer
from gedaechtnis.memory.planner.refusals import empty_interval, still_ended
from gedaechtnis.memory.planner.rows import Assert, Belief, Conflict, ConflictKind


def settle(statement: Assert, believed: Sequence[Belief], taken: Belief | None) -> Interval | Conflict:
    """The interval claimed, given the belief whose interval the statement takes over, if any.

    A conflict, if the start is unknown and another value holds at the stated end.

    Raises:
        Problem: `empty_interval`, `still_ended`.
    """
    if statement.still and statement.valid_to and statement.valid_to.at <= statement.said_at:
        raise still_ended()
    start = taken.interval.start if taken else _start(statement, believed)
    if isinstance(start, Conflict):
        return start
    interval = Interval(start, _end(statement, believed, taken, start.at))
    if interval.empty:
        raise empty_interval()
    return interval


def _start(statement: Assert, believed: Sequence[Belief]) -> Edge | Conflict:
    """Defaults: an unsaid start is the time of the statement, or unknown for what has no beginning."""
    unknown_by_default = statement.immutable or statement.start_defaults_unknown
    default = UNKNOWN if unknown_by_default else statement.default_from
    bound = statement.valid_from or default
    if bound.at == UNKNOWN_START:
        return _unknown_start(statement, believed) if statement.single_valued else UNKNOWN_EDGE
    start = Edge.of(bound, stated=statement.valid_from is not None)
    limit = statement.valid_to.at if statement.valid_to else FOREVER
    starts = (row.interval.start for row in believed if statement.equals(row))
    return _finest(start, (other for other in starts if other.at < limit), statement)


def _unknown_start(statement: Assert, believed: Sequence[Belief]) -> Edge | Conflict:
    """Unknown start in a functional slot: right after the last other value that is over by then.

    "Then" is the stated end, else the time of the statement. If another value holds then, a
    statement without a stated end starts when it was made; one with a stated end has to wait
    until a person decides.
    """
    then = statement.valid_to.at if statement.valid_to else statement.said_at
    others = [row for row in believed if statement.competes_with(row)]
    if statement.valid_to:
        holding = [row for row in others if row.valid_from < then < row.interval.end.at]
        if holding and not statement.decided:
            return Conflict(ConflictKind.UNKNOWN_START, tuple(row.id for row in holding))
    elif any(row.interval.holds(then) for row in others):
        return Edge.of(statement.default_from, stated=False)
    over = [row.interval.end for row in others if row.interval.end.at <= then]
    return max(over, key=_at).inferred() if over else UNKNOWN_EDGE


def _end(statement: Assert, believed: Sequence[Belief], taken: Belief | None, start: datetime) -> Edge:
    """A stated end stands; a correction is not clipped; any other end stops at what is known later."""
    if statement.valid_to:
        stated = Edge.of(statement.valid_to, stated=True)
        return _finest(stated, (row.interval.end for row in believed if statement.equals(row)), statement)
    if statement.still:
        return _next_begin(statement, believed, max(start, statement.said_at))
    if taken:
        end = taken.interval.end
        return Edge(end.at, end.precision, stated=end.at != FOREVER)
    return OPEN if statement.correction else clipped_end(statement, believed, start)


def clipped_end(statement: Assert, believed: Sequence[Belief], start: datetime) -> Edge:
    """Clipping: an unstated end stops where a competing row begins or an equal row is stated to end."""
    known_ends = [
        row.interval.end.inferred()
        for row in believed
        if statement.equals(row) and row.valid_to_stated and row.interval.end.at > start
    ]
    return min([_next_begin(statement, believed, start), *known_ends], key=_at)


def _next_begin(statement: Assert, believed: Sequence[Belief], after: datetime) -> Edge:
    """Where the next competing row begins, later than an instant; open if there is none."""
    begins = [
        row.interval.start.inferred() for row in believed if statement.competes_with(row) and row.valid_from > after
    ]
    return min(begins, key=_at, default=OPEN)


def _finest(edge: Edge, known: Iterable[Edge], statement: Assert) -> Edge:
    """The known edge that states the same bound more exactly, if there is one; else `edge`."""
    return next((other for other in known if is_finer(other, edge, statement.zone)), edge)


def _at(edge: Edge) -> datetime:
    return edge.at
