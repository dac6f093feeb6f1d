"""Faults that could well be made, to be planted where a test is to prove that it would notice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from gedaechtnis.memory.planner import Assert, Belief, ClosedReason, bounds, planning
from gedaechtnis.memory.planner.intervals import OPEN, Edge, Interval
from gedaechtnis.memory.planner.writer import Writer
from gedaechtnis.scoping import clocks


def no_clipping(statement: Assert, believed: Sequence[Belief], start: datetime) -> Edge:
    """An unstated end runs over everything known later."""
    return OPEN


def no_remainders(
    self: Writer, row: Belief, holes: Sequence[Interval], reason: ClosedReason, closed_by: UUID | None
) -> None:
    """What lies before and after the new interval is lost."""
    self.close(row, reason, closed_by)


def no_restatement(interval: Interval, known: Sequence[Belief]) -> list[Interval]:
    """A statement is written again over equal rows."""
    return [interval]


RISING = "greatest(coalesce(%(now)s, clock_timestamp()), s.tick + interval '1 microsecond')"
"""How the scope's clock stays ahead of itself; the fault trusts the wall clock instead."""

FAULTS: dict[str, tuple[Any, str, Any]] = {
    "clipping": (bounds, "clipped_end", no_clipping),
    "remainder": (Writer, "cut", no_remainders),
    "restatement": (planning, "gaps", no_restatement),
    "clock": (clocks, "_TAKE", clocks._TAKE.replace(RISING, "coalesce(%(now)s, clock_timestamp())")),
}
"""Where each fault belongs: an object, the name of what it replaces, and the fault."""
