"""A limit of what a scope holds: `GEDAECHTNIS_SCOPE_MAX_TOKENS`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.services import facts, undo
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.writing import quota
from gedaechtnis.scoping.context import scope
from tests.integration.test_concurrent_writers import together

LIMIT = 2000


@pytest.fixture(autouse=True)
def limited(settings: Any) -> None:
    settings.GEDAECHTNIS_SCOPE_MAX_TOKENS = LIMIT


def sentence(tokens: int, letter: str = "x") -> str:
    return letter * (4 * tokens)


def say(principal: Principal, tokens: int, letter: str = "x", **more: Any) -> OperationResult:
    """A sentence of that length; the letter makes it another one."""
    operation = {"op": "assert_fact", "subject_ref": "topic:store", "predicate": "note", "object_value": letter}
    proposal = {"operations": [{**operation, "statement": sentence(tokens, letter), **more}]}
    result = commit_proposal(principal=principal, proposal=MemoryMutationProposal.model_validate(proposal))
    return result.results[0]


def held(principal: Principal) -> int:
    with scope(principal):
        return quota.stored(principal.default_scope)


def shorten_or_lengthen(principal: Principal, fact_id: UUID | None, tokens: int) -> UUID:
    assert fact_id is not None
    changed = {"object_value": f"{tokens}", "statement": sentence(tokens)}
    result = facts.correct_fact(principal=principal, fact_id=fact_id, changes=changed)
    assert result.outcome is Outcome.COMMITTED
    assert result.fact_id is not None
    return result.fact_id


@pytest.fixture
def largest(as_anna: Principal) -> UUID:
    """1,900 tokens are stored; the id of the largest fact, with 900."""
    upsert = {"op": "upsert_entity", "id_hint": "topic:store", "kind": "topic", "canonical_name": "store"}
    commit_proposal(principal=as_anna, proposal=MemoryMutationProposal.model_validate({"operations": [upsert]}))
    fact_id = say(as_anna, 900).fact_id
    say(as_anna, 1000 - (held(as_anna) - 900), "y")
    assert fact_id is not None
    assert held(as_anna) == 1900
    return fact_id


def test_case_c112_the_largest_memory_can_be_edited_up_to_the_limit(as_anna: Principal, largest: UUID) -> None:
    fact = shorten_or_lengthen(as_anna, largest, 850)
    assert held(as_anna) == 1850
    fact = shorten_or_lengthen(as_anna, fact, 980)
    assert held(as_anna) == 1980

    with pytest.raises(Problem) as refused:
        shorten_or_lengthen(as_anna, fact, 1001)
    assert (refused.value.code, refused.value.status) == ("quota_exceeded", 409)
    assert refused.value.extra == {"used": 1980, "limit": 2000, "needed": 21}
    assert all(number in refused.value.detail for number in ("1980", "2000", "21"))

    fact = shorten_or_lengthen(as_anna, fact, 900)  # superseded versions do not count
    assert held(as_anna) == 1900


def test_case_c112_what_was_replaced_or_ended_does_not_count(as_anna: Principal, largest: UUID) -> None:
    say(as_anna, 80, "a", predicate="colour")
    assert held(as_anna) == 1980
    second = say(as_anna, 90, "b", predicate="colour")  # takes the place of the first, which held until now
    assert second.fact_id is not None
    assert held(as_anna) == 1990
    facts.end_fact(principal=as_anna, fact_id=second.fact_id)
    assert held(as_anna) == 1900


def test_case_c112_of_two_at_once_exactly_one_passes(as_anna: Principal, largest: UUID) -> None:
    outcomes = together([lambda: say(as_anna, 80, "a"), lambda: say(as_anna, 80, "b")])
    assert all(isinstance(outcome, OperationResult) for outcome in outcomes), outcomes
    results = [outcome for outcome in outcomes if isinstance(outcome, OperationResult)]
    refused = [result for result in results if result.code]
    assert [result.code for result in refused] == ["quota_exceeded"]
    assert refused[0].extra == {"used": 1980, "limit": 2000, "needed": 80}
    assert held(as_anna) == 1980


def test_case_c112_above_the_limit_anything_can_be_taken_away_and_nothing_added(
    as_anna: Principal, largest: UUID, settings: Any
) -> None:
    settings.GEDAECHTNIS_SCOPE_MAX_TOKENS = 100
    assert say(as_anna, 1, "a").code == "quota_exceeded"
    fact = shorten_or_lengthen(as_anna, largest, 850)
    retracted = facts.retract_fact(principal=as_anna, fact_id=fact)
    assert held(as_anna) == 1000
    assert retracted.event_id is not None
    with pytest.raises(Problem, match="quota_exceeded"):
        undo.undo_event(principal=as_anna, event_id=retracted.event_id)
    assert held(as_anna) == 1000


def test_of_one_proposal_what_fits_is_kept(as_anna: Principal, largest: UUID) -> None:
    note = {"op": "assert_fact", "subject_ref": "topic:store", "predicate": "note"}
    operations = [
        {**note, "object_value": letter, "statement": sentence(tokens, letter)}
        for letter, tokens in (("a", 60), ("b", 60), ("c", 40))
    ]
    proposal = MemoryMutationProposal.model_validate({"operations": operations})
    results = commit_proposal(principal=as_anna, proposal=proposal).results
    assert [result.code for result in results] == [None, "quota_exceeded", None]
    assert results[1].extra == {"used": 1960, "limit": 2000, "needed": 60}
    assert held(as_anna) == 2000


def test_both_ends_of_a_relation_count_once(as_anna: Principal) -> None:
    people = [
        {"op": "upsert_entity", "id_hint": f"person:{name}", "kind": "person", "canonical_name": name}
        for name in ("eva", "tom")
    ]
    commit_proposal(principal=as_anna, proposal=MemoryMutationProposal.model_validate({"operations": people}))
    before = held(as_anna)
    operation = {"op": "assert_relationship", "subject_ref": "person:eva", "object_ref": "person:tom"}
    married = {**operation, "predicate": "married_to", "statement": sentence(10)}
    commit_proposal(principal=as_anna, proposal=MemoryMutationProposal.model_validate({"operations": [married]}))
    assert held(as_anna) == before + 10
