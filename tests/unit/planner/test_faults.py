"""The property check is worth something: it catches planted faults."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gedaechtnis.memory.planner import Assert, Belief, ClosedReason, bounds, planning
from gedaechtnis.memory.planner.intervals import OPEN, Edge, Interval
from gedaechtnis.memory.planner.writer import Writer
from tests.unit.planner.histories import STEP_CODES, check_history, decode


def no_clipping(statement: Assert, believed: Sequence[Belief], start: object) -> Edge:
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


@pytest.mark.parametrize(
    ("target", "name", "fault"),
    [
        (bounds, "clipped_end", no_clipping),
        (Writer, "cut", no_remainders),
        (planning, "gaps", no_restatement),
    ],
)
def test_planted_fault_is_caught(monkeypatch: pytest.MonkeyPatch, target: object, name: str, fault: object) -> None:
    @settings(
        max_examples=300,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.integers(0, STEP_CODES - 1), min_size=1, max_size=7), st.booleans())
    def check(codes: list[int], functional: bool) -> None:
        check_history(map(decode, codes), functional=functional)

    check()
    monkeypatch.setattr(target, name, fault)
    with pytest.raises(AssertionError):
        check()
