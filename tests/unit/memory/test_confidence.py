from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gedaechtnis.memory.selectors.views import folded

_part = st.floats(0, 1)


def test_a_single_statement_is_as_sure_as_it_was_stated() -> None:
    assert [folded(confidence, [weight]) for confidence in (1.0, 0.4) for weight in (1.0, 0.7)] == [1.0, 1.0, 0.4, 0.4]


def test_each_restatement_closes_three_tenths_of_the_doubt_by_its_weight() -> None:
    assert folded(0.5, [1.0, 1.0]) == pytest.approx(0.65)
    assert folded(0.5, [1.0, 1.0, 0.7]) == pytest.approx(0.65 + 0.35 * 0.21)
    assert folded(0.5, [1.0, 0.5]) == pytest.approx(0.575)


@given(_part, st.lists(_part, max_size=30))
def test_it_never_falls_and_never_exceeds_one(confidence: float, weights: list[float]) -> None:
    known = [folded(confidence, weights[:count]) for count in range(len(weights) + 1)]
    assert known == sorted(known)
    assert known[-1] <= 1
