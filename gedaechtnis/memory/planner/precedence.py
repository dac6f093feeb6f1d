"""Precedence: what a statement may not simply write over, and what it contradicts when it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from gedaechtnis.common.rank import Rank
from gedaechtnis.memory.planner.intervals import Interval
from gedaechtnis.memory.planner.rows import Assert, Belief, Conflict, ConflictKind


def outranking(rows: Iterable[Belief], *, rank: int, observed_from: datetime | None = None) -> Conflict | None:
    """The rows of higher rank that a statement would change without having the right to.

    `observed_from`: from when on a source reports another state, where the predicate leaves that
    to the source. A person's word is protected on `[valid_from, made_at]`; a trusted source that
    observes something later changes it like any equal.
    """
    ids = tuple(
        row.id for row in rows if row.rank > rank and not (observed_from and _is_later(observed_from, row, rank))
    )
    return Conflict(ConflictKind.RANK, ids) if ids else None


def _is_later(observed_from: datetime, row: Belief, rank: int) -> bool:
    observes = row.rank == Rank.PERSON and rank == Rank.TRUSTED_SOURCE
    return observes and observed_from > max(row.valid_from, row.made_at)


def second_value(statement: Assert, believed: Iterable[Belief]) -> Conflict | None:
    """Immutable predicates: another value is a conflict, unless it is a person's correction or decision.

    The same value said more or less exactly is not another value.
    """
    if not statement.immutable or (statement.refutes and statement.rank >= Rank.PERSON):
        return None
    ids = tuple(
        row.id
        for row in believed
        if statement.competes_with(row) and not statement.refines_row(row) and not statement.is_refined_by(row)
    )
    return Conflict(ConflictKind.IMMUTABLE, ids) if ids else None


def contradiction(statement: Assert, interval: Interval, replaced: Sequence[Belief]) -> Conflict | None:
    """The replaced rows that claimed the same instants, unless one value plainly succeeds the other.

    Plain succession: the older row began earlier and nobody had said it would last into the new
    interval. A correction settles the matter and leaves no conflict.
    """
    if statement.refutes:
        return None
    ids = tuple(row.id for row in replaced if interval.start.at <= row.valid_from or row.valid_to_stated)
    return Conflict(ConflictKind.CONTRADICTION, ids) if ids else None
