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
