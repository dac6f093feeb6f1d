"""The committer against the real database."""

from __future__ import annotations

import pytest

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.selectors import asof, entities
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
