"""Random histories: the planner agrees with the grid, and its promises hold."""

from __future__ import annotations

from itertools import combinations
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.planner import Belief, Bound, Precision
from tests.unit.planner.histories import STEP_CODES, check_history, decode
from tests.unit.planner.ledger import Ledger, day

histories = st.lists(st.integers(0, STEP_CODES - 1), min_size=1, max_size=7)
quick = settings(derandomize=True, deadline=None, database=None)


@pytest.mark.slow
@settings(quick, max_examples=20_000)
@given(histories, st.booleans())
def test_random_histories_agree_with_the_grid(codes: list[int], functional: bool) -> None:
    check_history(map(decode, codes), functional=functional)


@settings(quick, max_examples=1_000)
@given(st.permutations("ABCDE"), st.lists(st.integers(0, 20), min_size=5, max_size=5, unique=True))
def test_old_news_arrives_in_any_order(arrival: list[str], starts: list[int]) -> None:
    """Open-ended statements of different values give one timeline, whichever was heard first."""
    began = dict(zip("ABCDE", starts, strict=True))
    in_order, shuffled = Ledger(), Ledger()
    for tick, value in enumerate(sorted(began, key=began.__getitem__)):
        in_order.say(value, began[value], now=30 + tick)
    for tick, value in enumerate(arrival):
        shuffled.say(value, began[value], now=30 + tick)
    assert shuffled.shape() == in_order.shape()
    assert len(shuffled.believed()) == 5


bounds = st.sampled_from(
    [
        *(Bound(day(number), Precision.DAY) for number in (0, 20, 31, 40, 59, 60, 90, 366, 400)),
        *(Bound(day(number), Precision.MONTH) for number in (0, 31, 60, 91, 366, 397)),
        *(Bound(day(number), Precision.YEAR) for number in (0, 366, 731)),
    ]
)
statements = st.fixed_dictionaries(
    {
        "value": st.sampled_from("ABC"),
        "start": st.none() | bounds,
        "end": st.none() | bounds,
        "polarity": st.sampled_from([True, True, True, False]),
        "correction": st.sampled_from([False, False, False, True]),
        "rank": st.sampled_from([1, 2, 3]),
        "authority_source": st.booleans(),
        "replaces": st.none() | st.integers(0, 5),
    }
)


@settings(quick, max_examples=1_500)
@given(st.lists(statements, min_size=2, max_size=6), st.booleans())
def test_mixed_precisions_and_named_beliefs_keep_the_slots_clean(
    history: list[dict[str, object]], functional: bool
) -> None:
    """What the grid does not model still never overlaps, and never moves an old answer."""
    ledger = Ledger(functional=functional)
    instants = [day(number) for number in range(-1, 740, 3)]
    seen = []
    for tick, fields in enumerate(history, start=1):
        said = dict(fields)
        replaces = said.pop("replaces")
        origins = sorted({row.origin_id for row in ledger.believed()})
        named = origins[replaces] if isinstance(replaces, int) and replaces < len(origins) else None
        _say(ledger, said, named, now=tick * 30)
        assert not [pair for pair in combinations(ledger.believed(), 2) if _clash(*pair, functional)]
        seen.append((day(tick * 30), ledger.held(instants)))
    for known_at, then in seen:
        assert ledger.held(instants, known_at) == then


def _say(ledger: Ledger, said: dict[str, object], named: UUID | None, *, now: int) -> None:
    value, start, end = (said.pop(name) for name in ("value", "start", "end"))
    try:
        ledger.say(value, start, end, now=now, replaces_origin_id=named, **said)  # type: ignore[arg-type]
    except Problem as problem:
        if problem.code != "empty_interval":
            raise


def _clash(row: Belief, other: Belief, functional: bool) -> bool:
    one_slot = functional and row.polarity and other.polarity
    return (row.object_key == other.object_key or one_slot) and row.interval.overlaps(other.interval)
