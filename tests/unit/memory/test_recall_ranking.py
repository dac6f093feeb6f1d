"""The arithmetic of ranking."""

from __future__ import annotations

import math
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gedaechtnis.memory.selectors.recall import weights
from gedaechtnis.memory.selectors.recall.ranking import Candidate, Features, Spread, bounded, features, weighted
from gedaechtnis.memory.selectors.recall.weights import HYBRID, KEYWORD, Weights

IDF = {"hund": 3.0, "futter": 2.0}


def turn(
    position: int, counts: dict[str, float] | None = None, *, session: str | None = "s", length: int = 8
) -> Candidate:
    return Candidate(id=uuid4(), counts=counts or {}, length=length, session=session, position=position)


def seen(*candidates: Candidate, spread: Spread | None = None) -> list[Features]:
    return [Features(*row) for row in features(candidates, idf=IDF, mean_length=8, spread=spread)]


def test_a_turn_hears_its_neighbours_and_the_one_before_best() -> None:
    said = turn(3, {"hund": 1})
    far, two_after, after, before = turn(9), turn(5), turn(4), turn(2)
    scores = [found.lexical for found in seen(said, after, before, two_after, far)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1] > scores[2] > 0
    assert scores[-1] == 0


def test_sessions_do_not_hear_each_other() -> None:
    said, other = turn(3, {"hund": 1}), turn(4, session="another")
    assert seen(said, other)[1].lexical == 0
    assert seen(said, other)[1].session == 0


def test_a_long_neighbour_counts_less() -> None:
    short = seen(turn(3, {"hund": 1}, length=weights.NEIGHBOUR_LENGTH), turn(4))[1].lexical
    long = seen(turn(3, {"hund": 1}, length=weights.NEIGHBOUR_LENGTH * 4), turn(4))[1].lexical
    assert 0 < long < short


def test_words_nobody_used_leave_the_lexical_voice_weak() -> None:
    [covered] = seen(turn(1, {"hund": 2, "futter": 2}))
    [row] = features([turn(1, {"futter": 1})], idf=IDF | {"kq4711": 9.0}, mean_length=8, spread=None)
    assert covered.lexical == 1
    assert Features(*row).lexical < 0.3


def test_similarity_counts_in_deviations_of_what_is_in_sight() -> None:
    near = Candidate(id=uuid4(), counts={}, length=5, similarity=0.7)
    blind = Candidate(id=uuid4(), counts={}, length=5)
    assert [found.semantic for found in seen(near, blind, spread=Spread(0.5, 0.1))] == [pytest.approx(2), 0]
    assert [found.semantic for found in seen(near, spread=Spread(0.5, 0))] == [0]


def test_what_follows_a_question_with_the_words_answers() -> None:
    asked = Candidate(id=uuid4(), counts={"hund": 1}, length=8, session="s", position=3, asks=True)
    elsewhere = Candidate(id=uuid4(), counts={}, length=8, position=4)
    found = seen(asked, turn(4), turn(5), turn(4, session="another"), elsewhere)
    assert [one.answers for one in found] == [0, found[0].lexical, 0, 0, 0]
    assert not any(one.answers for one in seen(turn(3, {"hund": 1}), turn(4)))


def test_key_words_weigh_no_meaning_and_no_time() -> None:
    found = Features(
        lexical=0.5,
        session=0.5,
        subject=0,
        semantic=3,
        date=1,
        says_when=1,
        says_name=1,
        first_person=1,
        asks=1,
        short_question=1,
        answers=1,
        graph=1,
    )
    assert weighted(found, KEYWORD) == pytest.approx(0.5 * KEYWORD.lexical + 0.5 * KEYWORD.session)
    assert weighted(found, HYBRID) > weighted(found, KEYWORD)


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    assert Weights.__slots__ == Features._fields


@given(
    st.lists(
        st.builds(
            Candidate,
            id=st.uuids(),
            counts=st.dictionaries(st.sampled_from(sorted(IDF)), st.floats(0.1, 1000)),
            length=st.integers(0, 10_000),
            session=st.sampled_from([None, "a", "b"]),
            position=st.integers(0, 20),
            similarity=st.none() | st.floats(-1, 1),
            subject=st.floats(0, 1),
            date=st.floats(0, 1),
            graph=st.floats(0, 1),
        ),
        max_size=12,
    ),
    st.floats(0, 1),
)
def test_scores_are_finite_and_between_0_and_1(candidates: list[Candidate], deviation: float) -> None:
    for row in features(candidates, idf=IDF, mean_length=7.5, spread=Spread(0.2, deviation)):
        found = Features(*row)
        assert 0 <= found.lexical <= 1
        assert 0 <= found.session <= 1
        score = bounded(weighted(found, HYBRID))
        assert math.isfinite(score)
        assert 0 <= score <= 1


def test_the_order_is_that_of_the_sum() -> None:
    assert [bounded(score) for score in (-1e9, -3, 0, 2, 1e9)] == sorted(bounded(s) for s in (-1e9, -3, 0, 2, 1e9))
    assert bounded(0) == 0.5


def test_ids_do_not_matter() -> None:
    counts = {"hund": 1.0}
    first = Candidate(id=UUID(int=1), counts=counts, length=4)
    second = Candidate(id=UUID(int=2), counts=counts, length=4)
    assert seen(first, second)[0] == seen(first, second)[1]
