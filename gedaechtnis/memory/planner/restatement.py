"""Restatement: what of a statement is believed already, and what that gains by being said again."""

from __future__ import annotations

from collections.abc import Sequence

from gedaechtnis.memory.planner.intervals import Interval, is_finer
from gedaechtnis.memory.planner.rows import Assert, Belief, ClosedReason
from gedaechtnis.memory.planner.writer import Writer


def confirm(equal: Sequence[Belief], statement: Assert, interval: Interval, write: Writer) -> list[Belief]:
    """The equal rows that answer for parts of the interval, after confirming them where that is due.

    A row of lower rank is closed and its covered part written again at the new rank; a row whose
    bound the statement states more exactly is written again with the finer bound. The origin stays.
    """
    known: list[Belief] = []
    for row in equal:
        held = _refined(row, equal, statement, interval)
        if not held.overlaps(interval):
            continue
        if row.rank >= statement.rank and held == row.interval:
            known.append(row)
            continue
        covered = held.within(interval) if row.rank < statement.rank else held
        confirmed = write.copy(row, covered, rank=statement.rank, made_at=statement.said_at)
        write.close(row, ClosedReason.CONFIRMED, confirmed.id)
        for remainder in held.minus(covered):
            write.copy(row, remainder)
        known.append(confirmed)
    return known


def gaps(interval: Interval, known: Sequence[Belief]) -> list[Interval]:
    """The parts of the interval that no equal row covers, in order."""
    return interval.outside(row.interval for row in known)


def _refined(row: Belief, equal: Sequence[Belief], statement: Assert, interval: Interval) -> Interval:
    """What a row holds once its bounds are as exact as those of the statement.

    Bounds that agree at the coarser precision are one bound, and the finer of the two is kept. A
    weaker statement refines nothing, and no row grows over another.
    """
    held = row.interval
    if statement.rank < row.rank:
        return held
    start, end = held.start, held.end
    if is_finer(interval.start, start, statement.zone):
        start = interval.start
    if is_finer(interval.end, end, statement.zone) and interval.start.at <= end.at:
        end = interval.end
    refined = Interval(start, end)
    crowded = any(other is not row and refined.overlaps(other.interval) for other in equal)
    return held if crowded or refined.empty else refined
