"""The pure planner: what a write closes and what it inserts, worked out without a database.

`plan(believed, operation, tick)` takes the believed rows of one subject, predicate and
applicability in one scope, and one operation on them. It returns a `Plan` to apply, or raises a
`Problem`. It reads no clock, makes no query and keeps no state.
"""

from __future__ import annotations

from gedaechtnis.common.instants import UNKNOWN, UNKNOWN_START, Bound, Precision
from gedaechtnis.common.rank import Rank
from gedaechtnis.memory.planner.planning import plan
from gedaechtnis.memory.planner.rows import (
    Assert,
    Belief,
    Close,
    ClosedReason,
    Conflict,
    ConflictKind,
    End,
    Insert,
    Operation,
    Plan,
    PlanOutcome,
    Retract,
)

__all__ = [
    "UNKNOWN",
    "UNKNOWN_START",
    "Assert",
    "Belief",
    "Bound",
    "Close",
    "ClosedReason",
    "Conflict",
    "ConflictKind",
    "End",
    "Insert",
    "Operation",
    "Plan",
    "PlanOutcome",
    "Precision",
    "Rank",
    "Retract",
    "plan",
]
