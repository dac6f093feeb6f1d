"""Belief rows that come from elsewhere as they are: moved by a merge, written again by a split or an undo.

Nothing is settled, clipped or restated anew: rank, origin and the time of the statement stay with the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gedaechtnis.common.ids import uuid7
from gedaechtnis.memory.planner.rows import Belief, ClosedReason, Insert, Plan, PlanOutcome
from gedaechtnis.memory.planner.writer import Writer


@dataclass(frozen=True, slots=True)
class Clash:
    """Two rows that claimed the same instants: which one holds there now, and which one gave way."""

    kept: UUID
    yielded: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a move does to its target, and where rows gave way to each other."""

    plan: Plan
    clashes: tuple[Clash, ...] = ()


def move(
    believed: Sequence[Belief],
    moving: Sequence[Belief],
    *,
    single_valued: bool,
    tick: datetime,
    new_id: Callable[[], UUID] = uuid7,
) -> Moved:
    """Bring rows of one group into another group of the same predicate, under the rules of precedence.

    `copy_of` of what is inserted names the moving rows. Where a row of equal value and no lower rank is believed
    already nothing is written; elsewhere the higher rank holds, and of equal ranks the later statement.
    """
    write = Writer(new_id)
    clashes: list[Clash] = []
    placed: list[Insert] = []
    for row in sorted(_in_order(moving), key=_claim, reverse=True):  # rows that come together may meet each other, too
        rivals = [other for other in believed if competes(row, other, single_valued) and _overlap(row, other)]
        stronger = [other for other in rivals if _claim(other) > _claim(row)]
        clashes += [Clash(other.id, row.id) if other in stronger else Clash(row.id, other.id) for other in rivals]
        equal = [other for other in believed if says_the_same(row, other) and other.rank >= row.rank]
        before = [other for other in placed if _meets(row, other, single_valued)]
        free = row.interval.outside(other.interval for other in (*equal, *stronger, *before))
        placed += [write.copy(row, gap) for gap in free]
    for other in _in_order(believed):
        successors = [new for new in placed if _meets(new, other, single_valued) and _overlap(new, other)]
        if successors:
            write.cut(other, [new.interval for new in successors], ClosedReason.MERGED, successors[0].id)
    return Moved(plan=_plan(write, tick), clashes=tuple(clashes))


def rewrite(
    believed: Sequence[Belief],
    rows: Sequence[Belief],
    *,
    single_valued: bool,
    tick: datetime,
    new_id: Callable[[], UUID] = uuid7,
) -> tuple[Plan, tuple[UUID, ...]]:
    """Write closed rows again on their own intervals, as far as nothing believed stands there.

    Returns the plan and the rows that could not be written wholly.
    """
    write = Writer(new_id)
    short: list[UUID] = []
    standing: list[Belief] = list(believed)
    for row in _in_order(rows):
        blocking = [other for other in standing if _meets(row, other, single_valued)]
        free = row.interval.outside(other.interval for other in blocking)
        if free != [row.interval]:
            short.append(row.id)
        standing += [write.copy(row, gap) for gap in free]
    return _plan(write, tick), tuple(short)


def says_the_same(one: Belief, other: Belief) -> bool:
    """Equal object and polarity."""
    return (one.object_key, one.polarity) == (other.object_key, other.polarity)


def competes(one: Belief, other: Belief, single_valued: bool) -> bool:
    """X and not-X compete everywhere; two different values only where there is one at a time."""
    if one.object_key == other.object_key:
        return one.polarity != other.polarity
    return single_valued and one.polarity and other.polarity


def _meets(one: Belief, other: Belief, single_valued: bool) -> bool:
    """Whether two rows may not hold at the same instant."""
    return says_the_same(one, other) or competes(one, other, single_valued)


def _claim(row: Belief) -> tuple[int, datetime]:
    return row.rank, row.made_at


def _overlap(one: Belief, other: Belief) -> bool:
    return one.interval.overlaps(other.interval)


def _in_order(rows: Sequence[Belief]) -> list[Belief]:
    return sorted(rows, key=lambda row: (row.valid_from, row.id))


def _plan(write: Writer, tick: datetime) -> Plan:
    written = PlanOutcome.COMMITTED if write.closes or write.inserts else PlanOutcome.RESTATED
    return Plan(tick=tick, outcome=written, closes=tuple(write.closes), inserts=tuple(write.inserts))
