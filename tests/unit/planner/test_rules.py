"""The write rules one by one: defaults, bounds, precision, named beliefs, ends and retractions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.planner import UNKNOWN, Bound, ConflictKind, PlanOutcome, Precision
from tests.unit.planner.ledger import EPOCH, Ledger, code_of, day

BERLIN = ZoneInfo("Europe/Berlin")


class TestDefaults:
    def test_unsaid_start_is_the_message_and_inferred(self) -> None:
        (row,) = Ledger().say("A", now=7).inserts
        assert (row.valid_from, row.valid_from_stated, row.valid_to) == (day(7), False, None)

    @pytest.mark.parametrize("flag", ["immutable", "start_defaults_unknown"])
    def test_what_has_no_beginning_starts_unknown(self, flag: str) -> None:
        (row,) = Ledger().say("A", now=7, **{flag: True}).inserts
        assert (row.valid_from, row.valid_from_precision) == (UNKNOWN.at, Precision.UNKNOWN)

    def test_ended_at_an_unknown_time_keeps_that_precision(self) -> None:
        (row,) = Ledger().say("A", 1, Bound(day(9), Precision.UNKNOWN), now=9).inserts
        assert (row.valid_to, row.valid_to_precision, row.valid_to_stated) == (day(9), Precision.UNKNOWN, True)

    def test_now_is_when_it_was_said_not_when_it_was_learned(self) -> None:
        """An old message imported today does not override what began after it was written."""
        ledger = Ledger()
        ledger.say("Graz", 50, now=51)
        ledger.say("Ulm", 10, now=20, still=True)
        assert ledger.shape() == "Ulm[10,50) Graz[50,∞)"


class TestBounds:
    def test_inferred_end_has_the_precision_of_what_sets_it(self) -> None:
        ledger = Ledger()
        ledger.say("B", Bound(day(31), Precision.MONTH), now=40)
        (row,) = ledger.say("A", 1, now=41).inserts
        assert (row.valid_to, row.valid_to_precision, row.valid_to_stated) == (day(31), Precision.MONTH, False)

    def test_stated_end_is_not_clipped(self) -> None:
        ledger = Ledger()
        ledger.say("B", 5, now=6)
        made = ledger.say("A", 1, 8, now=7)
        assert ledger.shape() == "A[1,8) B[8,∞)"
        assert made.conflict is not None
        assert made.conflict.kind is ConflictKind.CONTRADICTION

    def test_unknown_start_in_a_set_is_never_moved(self) -> None:
        ledger = Ledger(functional=False)
        ledger.say("A", 1, now=2)
        ledger.say("B", UNKNOWN, now=3)
        assert ledger.shape() == "B[-∞,∞) A[1,∞)"

    def test_unknown_start_of_a_negation_is_never_moved(self) -> None:
        ledger = Ledger()
        ledger.say("A", 5, now=6)
        ledger.say("A", UNKNOWN, now=7, polarity=False)
        assert ledger.shape() == "not-A[-∞,5) A[5,∞)"

    def test_unknown_start_waits_if_another_value_holds_at_its_end(self) -> None:
        ledger = Ledger()
        other = ledger.say("A", 1, now=2).primary
        made = ledger.say("B", UNKNOWN, 9, now=10)
        assert made.outcome is PlanOutcome.PROPOSAL
        assert made.conflict is not None
        assert (made.conflict.kind, made.conflict.fact_ids) == (ConflictKind.UNKNOWN_START, (other,))

    def test_past_value_of_unknown_start_may_end_where_the_present_one_begins(self) -> None:
        ledger = Ledger()
        ledger.say("Paris", 10, now=10)
        ledger.say("London", UNKNOWN, 10, now=10)
        assert ledger.shape() == "London[-∞,10) Paris[10,∞)"

    def test_still_and_over_contradict_each_other(self) -> None:
        with pytest.raises(Problem) as refused:
            Ledger().say("A", 1, 5, now=6, still=True)
        assert code_of(refused) == ("still_ended", 422)


class TestRestatement:
    MARCH = Bound(datetime(2026, 2, 28, 23, tzinfo=UTC), Precision.MONTH)
    """March 2026 in Berlin begins while UTC still has February."""
    MID_MARCH = Bound(datetime(2026, 3, 14, 23, tzinfo=UTC), Precision.DAY)

    def now(self) -> int:
        return (datetime(2026, 6, 1, tzinfo=UTC) - EPOCH).days

    def test_coarser_bound_is_the_same_bound(self) -> None:
        ledger = Ledger()
        ledger.say("A", self.MID_MARCH, now=self.now(), zone=BERLIN)
        again = ledger.say("A", self.MARCH, now=self.now() + 1, zone=BERLIN)
        assert again.outcome is PlanOutcome.RESTATED

    def test_finer_bound_is_kept_with_the_origin(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", self.MARCH, now=self.now(), zone=BERLIN).primary
        refined = ledger.say("A", self.MID_MARCH, now=self.now() + 1, zone=BERLIN)
        (row,) = ledger.believed()
        assert (row.valid_from, row.valid_from_precision) == (self.MID_MARCH.at, Precision.DAY)
        assert (row.origin_id, row.id, refined.evidence_for) == (first, refined.primary, (first,))
        assert [close.reason.value for close in refined.closes] == ["confirmed"]

    def test_finer_end_moves_a_rival_that_began_in_between(self) -> None:
        ledger = Ledger()
        ledger.say("A", 1, self.MARCH, now=self.now(), zone=BERLIN)
        ledger.say("B", self.MARCH, now=self.now() + 1, zone=BERLIN)
        ledger.say("A", 1, self.MID_MARCH, now=self.now() + 2, zone=BERLIN)
        first, second = ledger.believed()
        assert first.interval.end.at == second.interval.start.at == self.MID_MARCH.at

    def march(self, number: int) -> Bound:
        return Bound(datetime(2026, 3, number, tzinfo=BERLIN).astimezone(UTC), Precision.DAY)

    def edges(self, ledger: Ledger) -> list[tuple[datetime, datetime | None]]:
        return sorted((row.valid_from, row.valid_to) for row in ledger.believed())

    def test_no_row_grows_over_another_of_its_value(self) -> None:
        ledger = Ledger()
        ledger.say("A", 1, self.MARCH, now=self.now(), zone=BERLIN)
        ledger.say("A", self.march(5), self.march(25), now=self.now(), zone=BERLIN)
        ledger.say("A", 1, self.march(20), now=self.now(), zone=BERLIN)
        first, fifth, last = self.MARCH.at, self.march(5).at, self.march(25).at
        assert self.edges(ledger) == [(day(1), first), (first, fifth), (fifth, last)]

    def test_no_row_grows_over_what_nobody_stated(self) -> None:
        """Until March, and from the 10th to the 20th: between them nothing was said."""
        ledger = Ledger()
        ledger.say("A", 1, self.MARCH, now=self.now(), zone=BERLIN)
        ledger.say("A", self.march(10), self.march(20), now=self.now(), zone=BERLIN)
        assert self.edges(ledger) == [(day(1), self.MARCH.at), (self.march(10).at, self.march(20).at)]

    def test_finer_start_past_the_end_of_a_row_is_no_refinement(self) -> None:
        ledger = Ledger()
        ledger.say("A", self.MARCH, self.march(10), now=self.now(), zone=BERLIN)
        ledger.say("A", self.march(15), now=self.now(), zone=BERLIN)
        assert self.edges(ledger) == [(self.MARCH.at, self.march(10).at), (self.march(15).at, None)]

    def test_start_is_not_read_as_one_after_the_stated_end(self) -> None:
        ledger = Ledger()
        ledger.say("A", self.march(15), now=self.now(), zone=BERLIN)
        ledger.say("A", self.MARCH, self.march(10), now=self.now(), zone=BERLIN)
        assert self.edges(ledger) == [(self.MARCH.at, self.march(10).at), (self.march(15).at, None)]

    def test_month_of_another_zone_is_another_bound(self) -> None:
        """Read in UTC, the same instants lie in February and March: the gap is new."""
        ledger = Ledger()
        ledger.say("A", self.MID_MARCH, now=self.now(), zone=UTC)
        assert ledger.say("A", self.MARCH, now=self.now() + 1, zone=UTC).outcome is PlanOutcome.COMMITTED
        assert len(ledger.believed()) == 2

    def test_time_of_a_message_refines_nothing(self) -> None:
        ledger = Ledger()
        ledger.say("A", self.MARCH, now=self.now(), zone=BERLIN)
        mid_march = (self.MID_MARCH.at - EPOCH).days
        assert ledger.say("A", now=mid_march, zone=BERLIN).outcome is PlanOutcome.RESTATED

    def test_weaker_statement_refines_nothing(self) -> None:
        ledger = Ledger()
        ledger.say("A", self.MARCH, now=self.now(), zone=BERLIN)
        made = ledger.say("A", self.MID_MARCH, now=self.now() + 1, rank=1, zone=BERLIN)
        assert made.outcome is PlanOutcome.RESTATED

    def test_only_the_covered_part_gains_rank(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, 20, now=1, rank=1).primary
        ledger.say("A", 5, 9, now=6)
        assert [(row.valid_from, row.rank) for row in sorted(ledger.believed(), key=lambda r: r.valid_from)] == [
            (day(1), 1),
            (day(5), 3),
            (day(9), 1),
        ]
        assert {row.origin_id for row in ledger.believed()} == {first}

    def test_weaker_restatement_leaves_the_stronger_row(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        again = ledger.say("A", 2, now=3, rank=1)
        assert (again.outcome, again.evidence_for) == (PlanOutcome.RESTATED, (first,))

    def test_partly_new_interval_fills_the_gap_and_adds_evidence(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 5, 9, now=1).primary
        made = ledger.say("A", 1, 20, now=2)
        assert ledger.shape() == "A[1,5) A[5,9) A[9,20)"
        assert made.evidence_for == (first,)
        assert len({row.origin_id for row in ledger.believed()}) == 3


class TestNamedBelief:
    def test_on_a_set_it_ends_and_the_others_stay(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 1, now=1).primary
        ledger.say("C", 1, now=2)
        made = ledger.say("B", 5, now=5, replaces_origin_id=first)
        assert ledger.shape() == "C[1,∞) A[1,5) B[5,∞)"
        assert made.inserts[0].supersedes == first
        assert made.conflict is None

    def test_pieces_after_the_new_start_are_closed(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 0, now=1).primary
        ledger.say("B", 10, 20, now=2)
        ledger.say("C", 15, 18, now=3, replaces_origin_id=first)
        assert ledger.shape() == "A[0,10) B[10,15) C[15,18) B[18,20)"
        assert ledger.reasons()["A[20,∞)"] == "corrected"

    def test_correcting_it_on_a_set_takes_its_interval(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 1, 9, now=20).primary
        ledger.say("B", now=21, correction=True, replaces_origin_id=first)
        assert ledger.shape() == "B[1,9)"

    def test_correcting_it_takes_every_piece(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 0, now=1).primary
        ledger.say("B", 10, 20, now=2)
        ledger.say("C", now=30, correction=True, replaces_origin_id=first)
        assert ledger.shape() == "C[0,10) B[10,20) C[20,∞)"

    def test_correcting_it_into_what_is_known_fills_only_the_gaps(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 0, now=1).primary
        ledger.say("A", 10, 20, now=2, polarity=False)
        ledger.say("B", 5, 15, now=3)
        ledger.say("B", now=30, correction=True, replaces_origin_id=first)
        assert ledger.shape() == "B[0,5) B[5,15) not-A[10,20) B[20,∞)"

    def test_correcting_its_bounds(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=20).primary
        ledger.say("A", 3, 9, now=21, correction=True, replaces_origin_id=first)
        assert ledger.shape() == "A[3,9)"

    def test_it_ends_even_if_the_new_one_is_known(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 1, now=1).primary
        second = ledger.say("B", 1, now=2).primary
        made = ledger.say("B", 5, now=5, replaces_origin_id=first)
        assert ledger.shape() == "B[1,∞) A[1,5)"
        assert (made.outcome, made.primary, made.closes[0].closed_by) == (PlanOutcome.COMMITTED, second, second)

    def test_gone_it_is_refused(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        ledger.retract(first, now=2)
        with pytest.raises(Problem) as refused:
            ledger.say("B", 5, now=5, replaces_origin_id=first)
        assert code_of(refused) == ("nothing_believed", 409)


class TestEndAndRetract:
    def two_pieces(self) -> tuple[Ledger, UUID]:
        ledger = Ledger()
        first = ledger.say("A", 0, 100, now=1).primary
        assert first is not None
        ledger.say("B", 10, 20, now=2)
        return ledger, first

    def test_end_closes_later_pieces(self) -> None:
        ledger, first = self.two_pieces()
        ledger.end(first, 5, now=3)
        assert ledger.shape() == "A[0,5) B[10,20)"

    def test_end_between_pieces_leaves_the_earlier_one(self) -> None:
        ledger, first = self.two_pieces()
        made = ledger.end(first, 15, now=3)
        assert ledger.shape() == "A[0,10) B[10,20)"
        assert made.inserts == ()
        assert made.primary == next(r.id for r in ledger.believed() if r.origin_id == first)

    def test_one_piece_only(self) -> None:
        ledger, _ = self.two_pieces()
        last = max(ledger.believed(), key=lambda row: row.valid_from)
        ledger.end(last.id, 50, now=3, piece=True)
        assert ledger.shape() == "A[0,10) B[10,20) A[20,50)"
        first = min(ledger.believed(), key=lambda row: row.valid_from)
        ledger.retract(first.id, now=4, piece=True)
        assert ledger.shape() == "B[10,20) A[20,50)"

    def test_end_before_the_start_names_retract(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 5, now=6).primary
        with pytest.raises(Problem) as refused:
            ledger.end(first, 5, now=7)
        assert code_of(refused) == ("before_start", 422)
        assert refused.value.extra == {"instead": "retract"}

    def test_the_same_end_again_restates(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        ledger.end(first, 6, now=8)
        assert ledger.end(first, 6, now=9).outcome is PlanOutcome.RESTATED

    def test_a_later_end_than_believed_is_refused(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, 6, now=1).primary
        with pytest.raises(Problem) as refused:
            ledger.end(first, 9, now=10)
        assert code_of(refused) == ("already_ended", 409)

    @pytest.mark.parametrize("act", ["end", "retract"])
    def test_nothing_believed_any_more(self, act: str) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        ledger.retract(first, now=2)
        with pytest.raises(Problem) as refused:
            ledger.end(first, 5, now=6) if act == "end" else ledger.retract(first, now=6)
        assert code_of(refused) == ("nothing_believed", 409)

    def test_end_remembers_how_exactly_it_is_known(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        assert first is not None
        made = ledger.end(first, Bound(day(6), Precision.UNKNOWN), now=8)
        assert made.inserts[0].valid_to_precision is Precision.UNKNOWN


def test_answering_row_is_the_one_that_holds_when_it_is_said() -> None:
    ledger = Ledger(functional=False)
    ledger.say("A", 5, 9, now=1)
    made = ledger.say("A", 1, 20, now=3)
    (answer,) = (row for row in ledger.believed() if row.id == made.primary)
    assert answer.valid_from == day(1)


def test_microseconds_count() -> None:
    ledger = Ledger()
    ledger.say("A", 1, now=1)
    ledger.say("B", Bound(day(5) + timedelta(microseconds=1)), now=6)
    assert ledger.now(5) == ["A"]
