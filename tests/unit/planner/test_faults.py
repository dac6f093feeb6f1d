"""The property check is worth something: it catches planted faults."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.mutation.faults import FAULTS
from tests.unit.planner.histories import STEP_CODES, check_history, decode


@pytest.mark.parametrize("fault", ["clipping", "remainder", "restatement"])
def test_planted_fault_is_caught(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
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
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        check()
