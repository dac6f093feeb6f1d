"""The bitemporal conformance table, as far as a planner without tables can show it.

Days count from the tests' epoch; row ids count up from 1 in the order of writing.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.planner import UNKNOWN, PlanOutcome
from tests.unit.planner.ledger import Ledger, day


def test_insert_is_known_only_from_its_tick() -> None:
    ledger = Ledger()
    ledger.say("A", 1, now=1)
    assert ledger.known(0, 1) == []
    assert ledger.known(1, 1) == ["A"]


def test_change_keeps_the_past_on_both_axes() -> None:
    ledger = Ledger()
    ledger.say("A", 1, now=1)
    ledger.say("B", 5, now=3)
    assert (ledger.now(4), ledger.now(5)) == (["A"], ["B"])
    assert (ledger.known(2, 5), ledger.known(2, 100)) == (["A"], ["A"])


def test_change_leaves_exactly_three_rows() -> None:
    ledger = Ledger()
    first = ledger.say("A", 1, now=1).primary
    second = ledger.say("B", 5, now=3).primary
    assert first
    assert second
    assert len(ledger.recorded) == 3
    assert ledger.shape() == "A[1,5) B[5,∞)"
    assert ledger.reasons() == {"A[1,∞)": "changed"}
    assert ledger.recorded[first].closed.closed_by == second  # type: ignore[union-attr]
    assert ledger.recorded[second].row.supersedes == first
    remainder = next(row for row in ledger.believed() if row.object_key == "A")
    assert ledger.recorded[remainder.id].row.copy_of == remainder.origin_id == first
    assert (remainder.valid_from_stated, remainder.valid_to_stated) == (True, False)


def test_late_fact() -> None:
    ledger = Ledger()
    ledger.say("X", 2, 4, now=10)
    assert ledger.known(9, 3) == []
    assert (ledger.known(10, 3), ledger.known(10, 4)) == (["X"], [])


def test_value_in_the_middle_leaves_three_pieces() -> None:
    ledger = Ledger()
    ledger.say("A", 0, 100, now=1)
    ledger.say("B", 10, 20, now=2)
    assert [ledger.now(at) for at in (5, 15, 20)] == [["A"], ["B"], ["A"]]
    assert ledger.known(1, 15) == ["A"]
    assert ledger.shape() == "A[0,10) B[10,20) A[20,100)"


def test_retracting_takes_every_piece() -> None:
    ledger = Ledger()
    first = ledger.say("A", 0, 100, now=1).primary
    ledger.say("B", 10, 20, now=2)
    ledger.retract(first, now=5)
    assert [ledger.now(at) for at in (0, 5, 50, 99)] == [[], [], [], []]
    assert ledger.known(4, 2) == ["A"]
    assert ledger.shape() == "B[10,20)"


def test_ended_is_not_retracted() -> None:
    ledger = Ledger()
    first = ledger.say("A", 1, now=1).primary
    ended = ledger.end(first, 6, now=8)
    assert (ledger.now(5), ledger.now(6)) == (["A"], [])
    assert ledger.known(7, 6) == ["A"]
    assert ledger.reasons() == {"A[1,∞)": "ended"}
    (piece,) = ledger.believed()
    assert piece.valid_to_stated
    assert piece.id == ended.primary
    assert piece.origin_id == first


def test_future_value_waits_without_a_job() -> None:
    ledger = Ledger()
    ledger.say("A", 0, now=1)
    ledger.say("B", 50, now=10)
    assert (ledger.now(10), ledger.now(49), ledger.now(50)) == (["A"], ["A"], ["B"])


def test_three_corrections_of_one_window() -> None:
    ledger = Ledger()
    a, b, c = (ledger.say(v, 0, 10, now=r, correction=True).primary for v, r in (("A", 1), ("B", 2), ("C", 3)))
    assert a
    assert b
    assert c
    assert [ledger.known(r, 7) for r in (1, 2, 3)] == [["A"], ["B"], ["C"]]
    assert ledger.recorded[c].row.supersedes == b
    assert ledger.recorded[b].row.supersedes == a
    assert ledger.reasons() == {"A[0,10)": "corrected", "B[0,10)": "corrected"}
    assert len(ledger.recorded) == 3


def test_restating_writes_nothing_and_adds_evidence() -> None:
    ledger = Ledger()
    first = ledger.say("A", 1, now=1).primary
    again = ledger.say("A", 3, now=4)
    assert again.outcome is PlanOutcome.RESTATED
    assert (again.evidence_for, again.primary) == ((first,), first)
    assert len(ledger.recorded) == 1


def test_order_of_arrival_shows_only_in_system_time() -> None:
    forward, backward = Ledger(), Ledger()
    forward.say("B", 5, now=1)
    forward.say("A", 1, 5, now=2)
    backward.say("A", 1, 5, now=1)
    backward.say("B", 5, now=2)
    assert forward.shape() == backward.shape() == "A[1,5) B[5,∞)"
    assert forward.known(1, 2) == [] != backward.known(1, 2)


@pytest.mark.parametrize("end", [5, 4])
def test_empty_and_inverted_intervals_are_refused(end: int) -> None:
    ledger = Ledger()
    with pytest.raises(Problem) as refused:
        ledger.say("A", 5, end, now=1)
    assert refused.value.code == "empty_interval"
    assert ledger.recorded == {}


def test_backdated_news_ends_where_the_later_value_begins() -> None:
    later_first, earlier_first = Ledger(), Ledger()
    ulm = later_first.say("Ulm", 24, now=30).primary
    graz = later_first.say("Graz", 19, now=31)
    earlier_first.say("Graz", 19, now=30)
    earlier_first.say("Ulm", 24, now=31)
    assert later_first.shape() == earlier_first.shape() == "Graz[19,24) Ulm[24,∞)"
    assert graz.closes == ()
    assert [e.row.id for e in later_first.recorded.values() if e.row.object_key == "Ulm"] == [ulm]
    assert not graz.inserts[0].valid_to_stated


def test_back_to_the_first_value_is_one_chain() -> None:
    ledger = Ledger()
    for value, start in (("A", 1), ("B", 5), ("A", 8)):
        made = ledger.say(value, start, now=start)
    assert ledger.shape() == "A[1,5) B[5,8) A[8,∞)"
    assert ledger.now(9) == ["A"]
    chain = []
    row = made.primary
    while row is not None:
        chain.append(ledger.recorded[row].row.object_key)
        row = ledger.recorded[row].row.supersedes
    assert chain == ["A", "B", "A"]


def test_set_predicate() -> None:
    ledger = Ledger(functional=False)
    ledger.say("X", 1, 10, now=1)
    ledger.say("Y", 3, now=2)
    assert ledger.now(5) == ["X", "Y"]
    ledger.say("X", 5, 15, now=3)
    assert ledger.shape() == "X[1,10) Y[3,∞) X[10,15)"
    ledger.say("Y", 7, now=4, polarity=False)
    assert ledger.now(8) == ["X", "not-Y"]
    assert ledger.shape() == "X[1,10) Y[3,7) not-Y[7,∞) X[10,15)"


# Cases that earlier readings of the rules got wrong.


@pytest.mark.parametrize("functional", [True, False])
def test_saying_again_does_not_undo_a_stated_end(functional: bool) -> None:
    ledger = Ledger(functional=functional)
    first = ledger.say("A", 1, now=1).primary
    ledger.end(first, 6, now=8)
    assert ledger.say("A", 3, now=9).outcome is PlanOutcome.RESTATED
    assert ledger.shape() == "A[1,6)"


@pytest.mark.parametrize("functional", [True, False])
def test_saying_again_does_not_undo_a_later_negation(functional: bool) -> None:
    ledger = Ledger(functional=functional)
    ledger.say("A", 1, now=1)
    ledger.say("A", 5, now=5, polarity=False)
    assert ledger.say("A", 3, now=9).outcome is PlanOutcome.RESTATED
    assert ledger.shape() == "A[1,5) not-A[5,∞)"


def test_still_stops_where_a_future_value_begins() -> None:
    ledger = Ledger()
    ledger.say("A", 1, now=1)
    ledger.say("B", 50, now=10)
    ledger.say("C", 9, now=11, still=True)
    assert ledger.shape() == "A[1,9) C[9,50) B[50,∞)"


def test_still_overrides_what_began_before() -> None:
    ledger = Ledger()
    ledger.say("Ulm", 0, now=1)
    ledger.say("Graz", 50, now=51)
    ledger.say("Ulm", 40, now=60, still=True)
    assert ledger.shape() == "Ulm[0,50) Ulm[50,∞)"
    assert ledger.reasons() == {"Ulm[0,∞)": "changed", "Graz[50,∞)": "corrected"}


def test_unknown_start_beside_a_current_value_starts_now() -> None:
    ledger = Ledger()
    ledger.say("Ben", UNKNOWN, now=1)
    ledger.say("Carl", UNKNOWN, now=50)
    assert ledger.shape() == "Ben[-∞,50) Carl[50,∞)"


def test_replaced_belief_ends_where_the_new_one_begins() -> None:
    ledger = Ledger()
    first = ledger.say("A", 1, now=1).primary
    ledger.say("B", 5, now=5, replaces_origin_id=first)
    assert ledger.shape() == "A[1,5) B[5,∞)"


def test_correction_without_bounds_takes_the_interval() -> None:
    ledger = Ledger()
    first = ledger.say("19", now=10).primary
    corrected = ledger.say("18", now=20, correction=True)
    assert ledger.shape() == "18[10,∞)"
    assert corrected.inserts[0].supersedes == first
    assert ledger.known(15, 12) == ["19"]
    assert ledger.reasons() == {"19[10,∞)": "corrected"}


def test_correction_keeps_an_unknown_start() -> None:
    ledger = Ledger()
    ledger.say("1990-04-03", UNKNOWN, now=1)
    ledger.say("1990-03-04", now=9, correction=True)
    assert ledger.shape() == "1990-03-04[-∞,∞)"


def test_confirmation_by_a_person_protects_from_weaker_statements() -> None:
    ledger = Ledger()
    guessed = ledger.say("A", 1, now=1, rank=1).primary
    confirmed = ledger.say("A", 1, now=2, rank=3)
    assert confirmed.outcome is PlanOutcome.COMMITTED
    assert confirmed.evidence_for == (guessed,)
    assert ledger.say("B", 5, now=6, rank=2).outcome is PlanOutcome.PROPOSAL
    (row,) = ledger.believed()
    assert (row.rank, row.origin_id, row.id) == (3, guessed, confirmed.primary)
    assert ledger.reasons() == {"A[1,∞)": "confirmed"}


def test_adjacent_equal_rows_keep_their_own_origins() -> None:
    ledger = Ledger(functional=False)
    ledger.say("X", 0, 10, now=1)
    second = ledger.say("X", 10, 20, now=2).primary
    ledger.retract(second, now=3)
    assert ledger.shape() == "X[0,10)"


def test_unknown_start_begins_after_the_last_other_value() -> None:
    ledger = Ledger()
    ledger.say("A", UNKNOWN, 10, now=1)
    ledger.say("B", 20, now=2)
    ledger.say("C", UNKNOWN, 15, now=3)
    assert ledger.shape() == "A[-∞,10) C[10,15) B[20,∞)"


def test_unknown_start_before_everything_stays_unknown() -> None:
    ledger = Ledger()
    ledger.say("B", 20, now=2)
    ledger.say("C", UNKNOWN, 15, now=3)
    assert ledger.shape() == "C[-∞,15) B[20,∞)"
    assert ledger.believed()[-1].id == UUID(int=2)


def test_a_correction_may_begin_before_what_it_corrects() -> None:
    ledger = Ledger()
    ledger.say("Nord", 60, now=100)
    ledger.say("Süd", 0, now=200, correction=True)
    assert (ledger.now(30), ledger.now(90)) == (["Süd"], ["Süd"])
    assert (ledger.known(100, 30), ledger.known(100, 90)) == ([], ["Nord"])
    assert all(e.row.valid_to is None or e.row.valid_to > e.row.valid_from for e in ledger.recorded.values())


def test_two_statements_at_one_instant_the_last_wins() -> None:
    ledger = Ledger()
    first = ledger.say("accepted", 8, now=8).primary
    ledger.say("on its way", 8, now=9)
    assert ledger.now(8) == ["on its way"]
    assert first
    assert ledger.recorded[first].superseded_at == day(9)
    assert len(ledger.believed()) == 1
