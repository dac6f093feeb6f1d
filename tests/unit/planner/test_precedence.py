"""Who may write over whom: precedence, immutable predicates, conflict rows, stale writes."""

from __future__ import annotations

from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.planner import UNKNOWN, ConflictKind, PlanOutcome, Rank
from tests.unit.planner.ledger import Ledger, code_of, day


class TestPrecedence:
    def test_nothing_is_written_over_a_higher_rank(self) -> None:
        ledger = Ledger()
        ledger.say("A", 5, 8, now=9)
        guess = ledger.say("C", 1, 3, now=10, rank=1).primary
        made = ledger.say("B", 2, 6, now=11, rank=1)
        assert made.outcome is PlanOutcome.PROPOSAL
        assert made.conflict is not None
        assert made.conflict.kind is ConflictKind.RANK
        assert made.conflict.fact_ids == (UUID(int=1),)
        assert guess in {row.id for row in ledger.believed()}

    def test_weaker_statement_beside_the_claimed_interval_is_plain(self) -> None:
        ledger = Ledger()
        ledger.say("A", 5, now=9)
        assert ledger.say("B", 1, now=10, rank=1).outcome is PlanOutcome.COMMITTED
        assert ledger.shape() == "B[1,5) A[5,∞)"

    def test_equal_rank_the_later_wins(self) -> None:
        ledger = Ledger()
        ledger.say("A", 1, now=1, rank=1)
        made = ledger.say("B", 1, now=2, rank=1)
        assert ledger.shape() == "B[1,∞)"
        assert made.conflict is not None
        assert made.conflict.kind is ConflictKind.CONTRADICTION

    @pytest.mark.parametrize(
        ("start", "authority_source", "rank", "outcome"),
        [
            (11, True, Rank.TRUSTED_SOURCE, "committed"),  # after the person spoke
            (10, True, Rank.TRUSTED_SOURCE, "proposal"),  # at that very time: protected
            (5, True, Rank.TRUSTED_SOURCE, "proposal"),  # within what the person vouched for
            (11, False, Rank.TRUSTED_SOURCE, "proposal"),  # the predicate is the person's
            (11, True, Rank.AGENT, "proposal"),  # no observation
        ],
    )
    def test_later_observation(self, start: int, authority_source: bool, rank: int, outcome: str) -> None:
        ledger = Ledger()
        ledger.say("open", 3, now=10)
        made = ledger.say("closed", start, now=12, rank=rank, authority_source=authority_source)
        assert made.outcome.value == outcome

    def test_observation_does_not_start_before_a_plan_of_the_person(self) -> None:
        """Said on day 10 about day 30 on: an observation from day 20 ends there, one stated beyond waits."""
        ledger = Ledger()
        ledger.say("away", 30, now=10)
        observed = {"rank": Rank.TRUSTED_SOURCE, "authority_source": True}
        assert ledger.say("home", 20, 40, now=20, **observed).outcome is PlanOutcome.PROPOSAL
        ledger.say("home", 20, now=20, **observed)
        assert ledger.shape() == "home[20,30) away[30,∞)"

    def test_remainder_stays_protected_for_as_long_as_its_statement(self) -> None:
        ledger = Ledger()
        ledger.say("open", 0, now=10)
        ledger.say("closed", 20, 30, now=20, rank=Rank.TRUSTED_SOURCE, authority_source=True)
        assert ledger.shape() == "open[0,20) closed[20,30) open[30,∞)"
        assert {row.made_at for row in ledger.believed() if row.object_key == "open"} == {day(10)}

    def test_precedence_covers_the_named_belief(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 1, now=1).primary
        made = ledger.say("B", 5, now=5, rank=1, replaces_origin_id=first)
        assert made.outcome is PlanOutcome.PROPOSAL

    @pytest.mark.parametrize("act", ["end", "retract"])
    def test_weaker_end_and_retract_wait(self, act: str) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        made = (
            ledger.end(first, 5, now=6, rank=Rank.AGENT)
            if act == "end"
            else ledger.retract(first, now=6, rank=Rank.AGENT)
        )
        assert made.outcome is PlanOutcome.PROPOSAL
        assert made.conflict is not None
        assert made.conflict.fact_ids == (first,)


class TestImmutable:
    def test_second_value_is_a_conflict(self) -> None:
        ledger = Ledger()
        first = ledger.say("1990", now=1, immutable=True).primary
        made = ledger.say("1991", now=2, immutable=True)
        assert made.outcome is PlanOutcome.PROPOSAL
        assert made.conflict is not None
        assert (made.conflict.kind, made.conflict.fact_ids) == (ConflictKind.IMMUTABLE, (first,))

    def test_person_corrects(self) -> None:
        ledger = Ledger()
        ledger.say("1990", now=1, immutable=True)
        ledger.say("1991", now=2, immutable=True, correction=True)
        assert ledger.shape() == "1991[-∞,∞)"
        assert ledger.known(1, 5) == ["1990"]

    def test_a_second_value_that_a_person_decided_for_refutes_the_first(self) -> None:
        ledger = Ledger()
        ledger.say("1990", now=1, immutable=True)
        made = ledger.say("1991", now=2, immutable=True, decided=True)
        assert (made.outcome, made.conflict) == (PlanOutcome.COMMITTED, None)
        assert ledger.shape() == "1991[-∞,∞)"
        assert ledger.reasons() == {"1990[-∞,∞)": "corrected"}

    def test_an_unknown_start_that_a_person_decided_for_begins_after_what_was_over(self) -> None:
        ledger = Ledger()
        ledger.say("Z", 0, 5, now=50)
        ledger.say("A", 10, 30, now=51)
        assert ledger.say("B", UNKNOWN, 20, now=52).outcome is PlanOutcome.PROPOSAL
        ledger.say("B", UNKNOWN, 20, now=53, decided=True)
        assert ledger.shape() == "Z[0,5) B[5,20) A[20,30)"

    @pytest.mark.parametrize("start", [None, 40])
    def test_correction_leaves_nothing_of_the_other_value(self, start: int | None) -> None:
        ledger = Ledger()
        ledger.say("1990", 30, now=1, immutable=True)
        ledger.say("1990", now=2, immutable=True)
        assert ledger.shape() == "1990[-∞,30) 1990[30,∞)"
        ledger.say("1991", start, now=50, immutable=True, correction=True)
        assert {row.object_key for row in ledger.believed()} == {"1991"}

    def test_agent_does_not_correct_even_an_agent(self) -> None:
        ledger = Ledger()
        ledger.say("1990", now=1, immutable=True, rank=1)
        made = ledger.say("1991", now=2, immutable=True, correction=True, rank=1)
        assert made.outcome is PlanOutcome.PROPOSAL

    def test_more_exact_value_refines(self) -> None:
        ledger = Ledger()
        first = ledger.say("1990", now=1, immutable=True).primary
        made = ledger.say("1990-04-03", now=2, immutable=True, refines=frozenset({"1990"}))
        assert ledger.shape() == "1990-04-03[-∞,∞)"
        assert made.inserts[0].supersedes == first
        assert ledger.reasons() == {"1990[-∞,∞)": "corrected"}

    def test_less_exact_value_restates(self) -> None:
        ledger = Ledger()
        first = ledger.say("1990-04-03", now=1, immutable=True).primary
        made = ledger.say("1990", now=2, immutable=True, refined_by=frozenset({"1990-04-03"}))
        assert (made.outcome, made.primary) == (PlanOutcome.RESTATED, first)

    def test_refining_needs_the_rank(self) -> None:
        ledger = Ledger()
        ledger.say("1990", now=1, immutable=True)
        made = ledger.say("1990-04-03", now=2, immutable=True, rank=1, refines=frozenset({"1990"}))
        assert made.outcome is PlanOutcome.PROPOSAL

    def test_person_may_correct_to_the_less_exact_value(self) -> None:
        ledger = Ledger()
        ledger.say("1990-04-03", now=1, immutable=True)
        exact = frozenset({"1990-04-03"})
        ledger.say("1990", now=2, immutable=True, correction=True, refined_by=exact)
        assert ledger.shape() == "1990[-∞,∞)"

    def test_same_value_restates(self) -> None:
        ledger = Ledger()
        ledger.say("1990", now=1, immutable=True)
        assert ledger.say("1990", now=2, immutable=True).outcome is PlanOutcome.RESTATED


class TestConflictRow:
    def test_plain_succession_leaves_none(self) -> None:
        ledger = Ledger()
        ledger.say("A", 1, now=1)
        assert ledger.say("B", 5, now=5).conflict is None

    def test_a_stated_end_contradicts_an_earlier_successor(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, 10, now=1).primary
        made = ledger.say("B", 5, now=5)
        assert made.conflict is not None
        assert (made.conflict.kind, made.conflict.fact_ids) == (ConflictKind.CONTRADICTION, (first,))

    def test_a_correction_settles_it(self) -> None:
        ledger = Ledger()
        ledger.say("A", 1, 10, now=1)
        assert ledger.say("B", 5, now=5, correction=True).conflict is None


class TestStaleWrites:
    def test_the_slot_moved(self) -> None:
        ledger = Ledger()
        first = ledger.say("A", 1, now=1).primary
        ledger.say("B", 5, now=5)
        with pytest.raises(Problem) as refused:
            ledger.say("C", 6, now=6, based_on_fact_id=first)
        assert code_of(refused) == ("stale", 409)

    def test_another_object_of_a_set_moved(self) -> None:
        ledger = Ledger(functional=False)
        first = ledger.say("A", 1, now=1).primary
        ledger.say("B", 5, now=5)
        assert ledger.say("C", 6, now=6, based_on_fact_id=first).outcome is PlanOutcome.COMMITTED
