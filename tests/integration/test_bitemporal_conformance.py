"""The bitemporal conformance table, through the committer and the database.

S(n) is the n-th day of system time (the clock is frozen there), V(n) an instant of world time.
`lives_in` is functional, `speaks` a set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common import clock
from gedaechtnis.common.instants import rfc3339
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities, proposals
from gedaechtnis.memory.services import facts, governance
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.world.models import Fact

_S0 = datetime(2030, 1, 1, tzinfo=UTC)
_V0 = datetime(2000, 1, 1, tzinfo=UTC)


def S(day: float) -> datetime:
    return _S0 + timedelta(days=day)


def V(day: float) -> datetime:
    return _V0 + timedelta(days=day)


class World:
    """Anna's memory with one person in it and three places to live."""

    def __init__(self, user: User) -> None:
        self.principal = person(user)
        with clock.frozen(S(0)):
            self._commit(
                {"op": "upsert_entity", "id_hint": "person:elin", "kind": "person", "canonical_name": "Elin"},
                *[
                    {"op": "upsert_entity", "id_hint": f"place:{name.lower()}", "kind": "place", "canonical_name": name}
                    for name in "ABC"
                ],
            )
        self.elin = entities.get_entity(principal=self.principal, ref="person:elin").id

    def _commit(self, *operations: dict[str, Any]) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        return commit_proposal(principal=self.principal, proposal=proposal).results

    def say(
        self, value: str, s: float, v: float | None = None, until: float | None = None, **more: Any
    ) -> OperationResult:
        """Assert that Elin lives in a place, at system day `s`."""
        with clock.frozen(S(s)):
            (result,) = self._commit(
                {
                    "op": "assert_relationship",
                    "subject_ref": "person:elin",
                    "predicate": "lives_in",
                    "object_ref": f"place:{value.lower()}",
                    "valid_from": None if v is None else rfc3339(V(v)),
                    "valid_to": None if until is None else rfc3339(V(until)),
                    **more,
                }
            )
        return result

    def at(self, v: float, s: float | None = None) -> list[str]:
        """Where she lived at V(v), as known at S(s) or today."""
        with clock.frozen(S(1000)):
            answer = asof.entity_facts(
                principal=self.principal,
                entity_id=self.elin,
                predicate="lives_in",
                valid_at=V(v),
                known_at=None if s is None else S(s),
            )
        return [fact.object.label for fact in answer.facts if fact.polarity]

    def rows(self) -> list[tuple[str, datetime, datetime | None, datetime, datetime | None]]:
        found = asof.history(principal=self.principal, entity_id=self.elin, predicate="lives_in", beliefs="all")
        return [
            (fact.object.label, fact.valid_from or _V0, fact.valid_to, fact.recorded_at, fact.superseded_at)
            for fact in found
        ]


@pytest.fixture
def world(anna: User) -> World:
    return World(anna)


def fact_of(result: OperationResult) -> UUID:
    assert result.fact_id is not None
    return result.fact_id


def test_line_01_nothing_is_known_before_it_was_recorded(world: World) -> None:
    world.say("A", s=1, v=1)
    assert world.at(1, s=0.5) == []
    assert world.at(1, s=1) == ["A"]


def test_line_02_a_change_splits_the_present_but_not_the_past_belief(world: World) -> None:
    world.say("A", s=1, v=1)
    world.say("B", s=3, v=5)
    assert world.at(4) == ["A"]
    assert world.at(5) == ["B"]
    assert world.at(5, s=2) == ["A"]
    assert world.at(100, s=2) == ["A"]


def test_line_03_a_change_leaves_exactly_three_rows(world: World) -> None:
    world.say("A", s=1, v=1)
    world.say("B", s=3, v=5)
    assert sorted(world.rows(), key=lambda row: (row[0], row[3])) == [
        ("A", V(1), None, S(1), S(3)),
        ("A", V(1), V(5), S(3), None),
        ("B", V(5), None, S(3), None),
    ]


def test_line_04_late_news_was_not_known_earlier(world: World) -> None:
    world.say("A", s=10, v=2, until=4)
    assert world.at(3, s=9) == []
    assert world.at(3, s=10) == ["A"]
    assert world.at(4, s=10) == []


def test_line_05_a_value_in_the_middle_leaves_both_sides(world: World) -> None:
    world.say("A", s=1, v=0, until=100)
    world.say("B", s=2, v=10, until=20)
    assert [world.at(v) for v in (5, 15, 20)] == [["A"], ["B"], ["A"]]
    assert world.at(15, s=1) == ["A"]
    assert len([row for row in world.rows() if row[4] is None]) == 3


def test_line_06_retracting_takes_every_piece_and_keeps_the_old_answers(world: World) -> None:
    first = world.say("A", s=1, v=0, until=100)
    world.say("B", s=2, v=10, until=20)
    with clock.frozen(S(5)):
        facts.retract_fact(principal=world.principal, fact_id=fact_of(first), reason="a mix-up")
    assert [world.at(v) for v in (5, 50)] == [[], []]
    assert world.at(2, s=4) == ["A"]


def test_line_07_ending_is_not_retracting(world: World) -> None:
    first = world.say("A", s=1, v=1)
    with clock.frozen(S(8)):
        facts.end_fact(principal=world.principal, fact_id=fact_of(first), at=rfc3339(V(6)))
    assert world.at(5) == ["A"]
    assert world.at(6) == []
    assert world.at(6, s=7) == ["A"]


def test_line_08_the_future_comes_by_itself(world: World) -> None:
    now = datetime(2030, 1, 10, tzinfo=UTC)
    with clock.frozen(now):
        world._commit(
            {
                "op": "assert_relationship",
                "subject_ref": "person:elin",
                "predicate": "lives_in",
                "object_ref": "place:a",
            },
            {
                "op": "assert_relationship",
                "subject_ref": "person:elin",
                "predicate": "lives_in",
                "object_ref": "place:b",
                "valid_from": rfc3339(now + timedelta(days=40)),
            },
        )

    def current(at: datetime) -> list[str]:
        with clock.frozen(at):
            answer = asof.entity_facts(principal=world.principal, entity_id=world.elin, predicate="lives_in")
        return [fact.object.label for fact in answer.facts]

    assert current(now + timedelta(days=39)) == ["A"]
    assert current(now + timedelta(days=40)) == ["B"]


def test_line_09_each_system_time_has_its_own_correction(world: World) -> None:
    for number, value in enumerate("ABC", start=1):
        world.say(value, s=number, v=0, until=50, correction=True)
    assert [world.at(7, s=number) for number in (1, 2, 3)] == [["A"], ["B"], ["C"]]
    assert world.at(7) == ["C"]
    a, b, c = asof.history(principal=world.principal, entity_id=world.elin, predicate="lives_in", beliefs="all")
    assert [row.object.label for row in (a, b, c)] == ["A", "B", "C"]
    assert (c.supersedes_fact_id, b.supersedes_fact_id) == (b.id, a.id)
    assert (a.closed_by_fact_id, b.closed_by_fact_id) == (b.id, c.id)
    assert [row.closed_reason for row in (a, b, c)] == ["corrected", "corrected", None]
    assert [row.superseded_at for row in (a, b, c)] == [b.recorded_at, c.recorded_at, None]
    assert {(row.valid_from, row.valid_to) for row in (a, b, c)} == {(V(0), V(50))}


def test_line_10_the_same_again_adds_evidence_and_nothing_else(world: World) -> None:
    first = world.say("A", s=1, v=1)
    rows, answers = world.rows(), [(v, s, world.at(v, s)) for v in (0, 1, 9) for s in (0.5, 1)]
    again = world.say("A", s=4, v=3)
    assert (again.outcome, again.fact_id) == (Outcome.RESTATED, first.fact_id)
    assert world.rows() == rows
    assert [(v, s, world.at(v, s)) for v in (0, 1, 9) for s in (0.5, 1)] == answers
    (fact,) = asof.history(principal=world.principal, entity_id=world.elin, predicate="lives_in")
    assert [piece.recorded_at for piece in fact.evidence] == [S(1), S(4)]


@pytest.mark.parametrize("later_first", [False, True])
def test_line_11_either_order_gives_the_same_present(world: World, later_first: bool) -> None:
    said: list[Callable[[float], object]] = [
        lambda s: world.say("A", s=s, v=1, until=5),
        lambda s: world.say("B", s=s, v=5),
    ]
    for number, speak in enumerate(reversed(said) if later_first else said):
        speak(number + 1)
    assert [world.at(v) for v in (0, 1, 4, 5, 50)] == [[], ["A"], ["A"], ["B"], ["B"]]
    assert world.at(1, s=1) == ([] if later_first else ["A"])


@pytest.mark.parametrize("until", [5, 3])
def test_line_12_an_empty_interval_is_refused_and_leaves_nothing(world: World, until: int) -> None:
    result = world.say("A", s=1, v=5, until=until)
    assert result.outcome is Outcome.REJECTED
    assert result.code == "empty_interval"
    assert world.rows() == []


@pytest.mark.parametrize("clamped", [False, True])
def test_line_13_a_range_takes_what_overlaps_it(world: World, clamped: bool) -> None:
    for number, (value, start, end) in enumerate([("A", 0, 3), ("B", 3, 5), ("C", 5, 10)], start=1):
        world.say(value, s=number, v=start, until=end)

    def within(start: float, end: float) -> list[tuple[str, datetime | None, datetime | None]]:
        answer = asof.entity_facts(
            principal=world.principal,
            entity_id=world.elin,
            predicate="lives_in",
            valid_from=V(start),
            valid_to=V(end),
            clamped=clamped,
        )
        return [(fact.object.label, fact.valid_from, fact.valid_to) for fact in answer.facts]

    assert within(3, 7) == [("B", V(3), V(5)), ("C", V(5), V(7) if clamped else V(10))]
    assert within(2, 5) == [("A", V(2) if clamped else V(0), V(3)), ("B", V(3), V(5))]


def test_line_17_two_operations_in_one_microsecond_are_ordered(world: World) -> None:
    world.say("A", s=1, v=1)
    world.say("B", s=1, v=2)
    recorded = sorted({row[3] for row in world.rows()})
    assert recorded == [S(1), S(1) + timedelta(microseconds=1)]
    assert world.at(3) == ["B"]


def test_line_18_naive_times_are_refused_by_name(world: World) -> None:
    for text, code in (
        ("2025-10-26T02:30:00", "ambiguous_time"),
        ("2026-03-29T02:30:00", "nonexistent_time"),
        ("2026-03-20T02:30:00", "naive_time"),
    ):
        with pytest.raises(Problem) as refused:
            world.say("A", s=1, valid_from=text)
        assert refused.value.code == code
        assert refused.value.field == "operations.0.valid_from"
    assert world.rows() == []


def test_line_20_recorded_times_rise_when_the_clock_steps_back(world: World) -> None:
    world.say("A", s=5, v=1)
    world.say("B", s=3, v=2)
    world.say("C", s=4, v=3)
    recorded = sorted({row[3] for row in world.rows()})
    assert recorded == [S(5) + timedelta(microseconds=number) for number in range(3)]
    assert world.at(10) == ["C"]


@pytest.mark.parametrize("old_news_first", [False, True])
def test_line_21_backdated_news_never_undoes_what_is_known_later(world: World, old_news_first: bool) -> None:
    said = [("A", 100), ("B", 50)]
    for number, (value, start) in enumerate(reversed(said) if old_news_first else said):
        world.say(value, s=number + 1, v=start)
    assert [world.at(v) for v in (40, 50, 99, 100, 500)] == [[], ["B"], ["B"], ["A"], ["A"]]
    ends = {row[0]: row[2] for row in world.rows() if row[4] is None}
    assert ends == {"A": None, "B": V(100)}
    if not old_news_first:
        assert len([row for row in world.rows() if row[0] == "A"]) == 1


def test_line_22_there_and_back_is_one_present_and_three_segments(world: World) -> None:
    for number, (value, start) in enumerate([("A", 1), ("B", 5), ("A", 8)], start=1):
        world.say(value, s=number, v=start)
    lived = asof.history(principal=world.principal, entity_id=world.elin, predicate="lives_in")
    assert [(row.object.label, row.valid_from, row.valid_to) for row in lived] == [
        ("A", V(1), V(5)),
        ("B", V(5), V(8)),
        ("A", V(8), None),
    ]
    first, second, third = lived
    everything = asof.history(principal=world.principal, entity_id=world.elin, predicate="lives_in", beliefs="all")
    by_id = {row.id: row for row in everything}
    assert third.supersedes_fact_id is not None
    assert second.supersedes_fact_id is not None
    assert by_id[third.supersedes_fact_id].origin_fact_id == second.origin_fact_id
    assert by_id[second.supersedes_fact_id].origin_fact_id == first.origin_fact_id
    assert third.origin_fact_id != first.origin_fact_id


def test_line_23_a_set_holds_several_and_each_of_them_once(world: World) -> None:
    def speaks(value: str, s: float, v: float, until: float | None = None, polarity: bool = True) -> None:
        with clock.frozen(S(s)):
            (result,) = world._commit(
                {
                    "op": "assert_fact",
                    "subject_ref": "person:elin",
                    "predicate": "speaks",
                    "object_value": value,
                    "polarity": polarity,
                    "valid_from": rfc3339(V(v)),
                    "valid_to": None if until is None else rfc3339(V(until)),
                }
            )
        assert result.outcome is Outcome.COMMITTED

    def spoken() -> list[tuple[str, bool, datetime | None, datetime | None]]:
        rows = asof.history(principal=world.principal, entity_id=world.elin, predicate="speaks")
        return [(row.object.label, row.polarity, row.valid_from, row.valid_to) for row in rows]

    speaks("Dänisch", s=1, v=1, until=10)
    speaks("Polnisch", s=2, v=5)
    speaks("Dänisch", s=3, v=8, until=12)
    assert spoken() == [
        ("Dänisch", True, V(1), V(10)),
        ("Polnisch", True, V(5), None),
        ("Dänisch", True, V(10), V(12)),
    ]
    speaks("Polnisch", s=4, v=20, polarity=False)
    assert spoken() == [
        ("Dänisch", True, V(1), V(10)),
        ("Polnisch", True, V(5), V(20)),
        ("Dänisch", True, V(10), V(12)),
        ("Polnisch", False, V(20), None),
    ]


def test_line_25_a_proposal_is_seen_from_its_acceptance_on(world: World) -> None:
    agent = replace(world.principal, kind=PrincipalKind.AGENT, acted_by=f"agent:test@{world.principal.acted_by}")
    operation = {
        "op": "assert_relationship",
        "subject_ref": "person:elin",
        "predicate": "lives_in",
        "object_ref": "place:a",
        "valid_from": rfc3339(V(1)),
    }
    with clock.frozen(S(2)):
        (pending,) = commit_proposal(
            principal=agent, proposal=MemoryMutationProposal.model_validate({"operations": [operation]})
        ).results
    assert pending.outcome is Outcome.PENDING
    assert world.at(5) == []
    (waiting,) = proposals.list_proposals(principal=world.principal)
    with clock.frozen(S(4)):
        governance.accept_proposal(principal=world.principal, proposal_id=waiting.id)
    assert world.at(5, s=3) == []
    assert world.at(5, s=4) == ["A"]
    assert world.at(1) == ["A"]
    assert Fact.objects.count() == 0  # outside a scope nothing is visible at all
