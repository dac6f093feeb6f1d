"""What answers say beside their rows: status, trimmed bounds, names; and that a basis repeats them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import FactsAnswer
from gedaechtnis.memory.schemas import Evidence, MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities, explain, moments
from gedaechtnis.memory.services import facts
from gedaechtnis.memory.services.commit import commit_proposal

_RANGE = {"valid_from": datetime(2020, 1, 1, tzinfo=UTC), "valid_to": datetime(2021, 1, 1, tzinfo=UTC)}


class Elin:
    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.do({"op": "upsert_entity", "id_hint": "person:elin", "kind": "person", "canonical_name": "Elin"})
        self.id = entities.get_entity(principal=principal, ref="person:elin").id

    def do(self, *operations: dict[str, Any]) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        return commit_proposal(principal=self.principal, proposal=proposal).results

    def say(self, predicate: str, value: object, **more: Any) -> OperationResult:
        fact = {"op": "assert_fact", "subject_ref": "person:elin", "predicate": predicate, "object_value": value}
        return self.do({**fact, **more})[0]

    def ask(self, predicate: str, **moment: Any) -> FactsAnswer:
        return asof.entity_facts(principal=self.principal, entity_id=self.id, predicate=predicate, **moment)


@pytest.fixture
def elin(as_anna: Principal) -> Elin:
    return Elin(as_anna)


def test_a_basis_repeats_the_names_of_the_answer(elin: Elin) -> None:
    elin.say("likes", "tea", valid_from="2019")
    elin.say("name", "Elena", valid_from="2025")
    then = datetime(2020, 1, 1, tzinfo=UTC)
    first = elin.ask("likes", valid_at=then)
    elin.say("name", "Helena", valid_from="2018", correction=True)
    again = elin.ask("likes", valid_at=then, known_at=moments.read_known_at(first.basis, principal=elin.principal))
    assert again.facts == first.facts
    assert first.facts[0].subject_label == "Elin"
    assert elin.ask("likes", valid_at=then).facts[0].subject_label == "Helena"


def test_a_name_to_come_is_borne_when_it_comes(elin: Elin) -> None:
    elin.say("name", "Elena", valid_from="2040")
    elin.say("likes", "tea")
    with clock.frozen(datetime(2041, 1, 1, tzinfo=UTC)):
        assert elin.ask("likes").facts[0].subject_label == "Elena"


def test_trimming_to_a_range_leaves_the_status_alone(elin: Elin) -> None:
    elin.say("address", "Berlin", valid_from="2019")
    (trimmed,) = elin.ask("address", clamped=True, **_RANGE).facts
    assert (trimmed.valid_from, trimmed.valid_to) == (_RANGE["valid_from"], _RANGE["valid_to"])
    assert (trimmed.valid_from_precision, trimmed.valid_from_stated) == ("instant", False)
    assert trimmed.status == "active"


def test_a_successor_outside_the_answer_counts(elin: Elin) -> None:
    elin.say("address", "Berlin", valid_from="2019")
    elin.say("address", "Ulm", valid_from="2024")
    (berlin,) = elin.ask("address", **_RANGE).facts
    assert berlin.status == "superseded"
    (alone,) = explain.get_facts(principal=elin.principal, fact_ids=[berlin.id])
    assert alone.status == "superseded"


def test_one_message_read_twice_is_one_confirmation(elin: Elin) -> None:
    quote = Evidence(kind="note", text="She likes tea.", ref="msg:7").model_dump()
    for ref in ("msg:7", "msg:7", "msg:8"):
        elin.say("likes", "tea", evidence={**quote, "ref": ref}, confidence=0.5)
    (fact,) = elin.ask("likes").facts
    assert (fact.mentions, fact.confidence) == (2, 0.65)


def test_what_ends_at_infinity_does_not_end(elin: Elin) -> None:
    tea = elin.say("likes", "tea").fact_id
    assert tea is not None
    with pytest.raises(Problem) as refused:
        facts.end_fact(principal=elin.principal, fact_id=tea, at="infinity")
    assert (refused.value.code, elin.ask("likes").facts[0].valid_to) == ("invalid_time", None)


def test_ending_twice_is_saying_it_again(elin: Elin) -> None:
    tea = elin.say("likes", "tea", valid_from="2019").fact_id
    assert tea is not None
    ended = [facts.end_fact(principal=elin.principal, fact_id=tea, at="2020").outcome for _ in range(2)]
    assert ended == [Outcome.COMMITTED, Outcome.RESTATED]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "invalidate_fact", "target_fact_id": "\0"},
        {"op": "assert_fact", "subject_ref": "me", "predicate": "likes", "object_value": 1, "replaces_fact_id": "\0"},
        {"op": "add_alias", "entity_ref": "me", "alias": "A", "namespace": "a\0"},
        {"op": "record_event", "event_type": "\0"},
    ],
)
def test_no_field_takes_a_nul_to_the_database(elin: Elin, operation: dict[str, Any]) -> None:
    with pytest.raises(Problem) as refused:
        elin.do(operation)
    assert refused.value.code == "invalid_text"


def test_what_closed_a_fact_is_told_though_it_stands_in_another_slot(elin: Elin) -> None:
    berlin = elin.say("address", "Berlin", valid_from="2019").fact_id
    denied = elin.say("address", "Berlin", valid_from="2019", polarity=False).fact_id
    assert berlin is not None
    closed_by = explain.explain_fact(principal=elin.principal, fact_id=berlin).closed_by
    assert closed_by is not None
    assert closed_by.id == denied
