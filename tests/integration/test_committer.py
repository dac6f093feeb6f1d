"""The committer against the real database."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services import facts
from gedaechtnis.memory.services.commit import commit_proposal


def propose(*operations: dict[str, object], run_id: str | None = None) -> MemoryMutationProposal:
    return MemoryMutationProposal.model_validate({"run_id": run_id, "operations": list(operations)})


LUNA = {"op": "upsert_entity", "id_hint": "pet:luna", "kind": "pet", "canonical_name": "Luna"}


@pytest.fixture
def luna(as_anna: Principal) -> str:
    commit_proposal(principal=as_anna, proposal=propose(LUNA))
    return "pet:luna"


def test_it_writes_an_entity_and_its_facts(as_anna: Principal) -> None:
    result = commit_proposal(
        principal=as_anna,
        proposal=propose(
            LUNA,
            {"op": "assert_fact", "subject_ref": "pet:luna", "predicate": "species", "object_value": "Katze"},
            {"op": "assert_relationship", "subject_ref": "pet:luna", "predicate": "owned_by", "object_ref": "me"},
        ),
    )
    assert [entry.outcome for entry in result.results] == ["committed"] * 3
    luna = entities.get_entity(principal=as_anna, ref="pet:luna")
    facts = asof.entity_facts(principal=as_anna, entity_id=luna.id).facts
    assert {(fact.predicate, fact.object.label) for fact in facts} == {
        ("name", "Luna"),
        ("species", "Katze"),
        ("owned_by", "Anna"),
    }


def test_taking_back_a_rename_gives_the_old_name_back(as_anna: Principal, luna: str) -> None:
    renamed = commit_proposal(
        principal=as_anna,
        proposal=propose({"op": "assert_fact", "subject_ref": luna, "predicate": "name", "object_value": "Luna Maus"}),
    ).results[0]
    assert entities.get_entity(principal=as_anna, ref=luna).name == "Luna Maus"
    assert renamed.fact_id is not None
    facts.retract_fact(principal=as_anna, fact_id=renamed.fact_id)
    assert entities.get_entity(principal=as_anna, ref=luna).name == "Luna"


def test_a_long_proposal_costs_as_many_statements_as_a_short_one(as_anna: Principal, luna: str) -> None:
    def statements(size: int) -> int:
        people = [f"Mensch {size} Nummer {number}" for number in range(size)]
        operations: list[dict[str, object]] = []
        for name in people:
            operations += [
                {"op": "upsert_entity", "id_hint": name, "kind": "person", "canonical_name": name},
                {"op": "assert_fact", "subject_ref": name, "predicate": "likes", "object_value": "Tee"},
                {"op": "assert_relationship", "subject_ref": luna, "predicate": "owned_by", "object_ref": name},
            ]
        with CaptureQueriesContext(connection) as captured:
            result = commit_proposal(principal=as_anna, proposal=propose(*operations))
        assert {entry.outcome for entry in result.results} == {"committed"}
        return len(captured)

    statements(1)
    assert statements(2) == statements(40)


def test_what_is_met_bears_its_name_since_it_is_said_to(as_anna: Principal) -> None:
    operation = {"op": "upsert_entity", "id_hint": "x", "kind": "organisation", "canonical_name": "Verein Eiche"}
    for name, since in (("Verein Eiche", "2019-05-01"), ("Verein Ulme", None)):
        proposal = MemoryMutationProposal.model_validate(
            {"operations": [{**operation, "canonical_name": name, "valid_from": since}]}
        )
        (result,) = commit_proposal(principal=as_anna, proposal=proposal).results
        assert result.entity_id is not None
        (named,) = asof.history(principal=as_anna, entity_id=result.entity_id, predicate="name")
        assert (named.valid_from and named.valid_from.astimezone(ZoneInfo("Europe/Berlin")).date().isoformat()) == since
