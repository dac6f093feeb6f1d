from __future__ import annotations

from datetime import timedelta

import pytest

from gedaechtnis.memory import decay
from gedaechtnis.memory.schemas import MemoryType


def test_every_memory_type_decays_its_own_way() -> None:
    assert set(decay.DECAY) == set(MemoryType)


def test_commitments_fade_in_weeks_profiles_hardly_and_policies_never() -> None:
    two_months, ten_years = timedelta(days=60), timedelta(days=3650)
    assert decay.left("commitment", two_months) < 0.1
    assert decay.left("user_assertion", two_months) > 0.95
    assert decay.left("policy", ten_years) == 1


@pytest.mark.parametrize("memory_type", [*MemoryType, "episode"])
def test_what_is_left_never_grows_with_age(memory_type: str) -> None:
    left = [decay.left(memory_type, timedelta(days=days)) for days in (-1, 0, 1, 10, 100, 1000)]
    assert left == sorted(left, reverse=True)
    assert left[:2] == [1, 1]


BY_HAND = [
    # exp(-(days / scale) ^ shape), worked out by hand
    ("user_assertion", 365, 0.853432),  # (1/10)^0.8 = 0.158489
    ("user_assertion", 3650, 0.367879),  # 1
    ("correction", 365, 0.853432),
    ("correction", 1825, 0.563071),  # (1/2)^0.8 = 0.574349
    ("preference", 365, 0.758854),  # (1/5)^0.8 = 0.275946
    ("preference", 1825, 0.367879),
    ("decision", 365, 0.606531),  # 1/2
    ("decision", 1460, 0.135335),  # 2
    ("commitment", 14, 0.727025),  # (14/30)^1.5 = 0.318794
    ("commitment", 60, 0.059106),  # 2^1.5 = 2.828427
    ("note", 90, 0.563071),  # (1/2)^0.8
    ("note", 360, 0.175327),  # 2^0.8 = 1.741101
    ("policy", 1, 1.0),
    ("policy", 36_500, 1.0),
    ("derived_preference", 365, 0.367879),
    ("derived_preference", 730, 0.175327),
    ("derived_pattern", 180, 0.367879),
    ("derived_pattern", 360, 0.175327),
    ("hypothesis", 30, 0.606531),
    ("hypothesis", 120, 0.135335),
    ("observed_state", 1, 0.809916),  # (1/7)^0.8 = 0.210825
    ("observed_state", 14, 0.175327),
    ("agent_action", 14, 0.367879),
    ("agent_action", 28, 0.135335),
    ("imported", 365, 0.758854),
    ("imported", 1825, 0.367879),
    ("episode", 90, 0.563071),  # what nobody knows, like a note
]


@pytest.mark.parametrize(("memory_type", "days", "expected"), BY_HAND)
def test_each_type_is_left_with_what_the_formula_says(memory_type: str, days: int, expected: float) -> None:
    assert decay.left(memory_type, timedelta(days=days)) == pytest.approx(expected, abs=1e-6)


def test_every_memory_type_is_worked_out_at_two_ages() -> None:
    ages = {memory_type: {days for kind, days, _left in BY_HAND if kind == memory_type} for memory_type in MemoryType}
    assert all(len(days) >= 2 for days in ages.values()), ages
