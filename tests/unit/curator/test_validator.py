from __future__ import annotations

from typing import Any

import pytest

from curator.validator import validate
from curator.window import Window
from gedaechtnis.memory.schemas import MemoryMutationProposal
from tests.unit.curator.conversation import REGISTRY, learned, window

SAID = "Anna ist 28 und wohnt in Ulm"
QUOTE = {"text": SAID, "ref": "msg:1"}
AGE = {"op": "assert_fact", "subject_ref": "person:anna", "predicate": "age", "object_value": 28, "evidence": QUOTE}
LIVES = {
    "op": "assert_relationship",
    "subject_ref": "person:anna",
    "predicate": "lives_in",
    "object_ref": "place:nuernberg",
    "evidence": QUOTE,
}
ULM = {"op": "upsert_entity", "id_hint": "place:ulm", "kind": "place", "canonical_name": "Ulm", "evidence": QUOTE}
END = {"op": "invalidate_fact", "target_fact_id": "person:anna#0", "mode": "end", "evidence": QUOTE}


def codes(*operations: dict[str, Any], said: Window | None = None) -> list[str]:
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    return [rejection.code for rejection in validate(proposal, said or window(SAID), REGISTRY)[1]]


def test_good_operations_go_on_in_order() -> None:
    proposal = MemoryMutationProposal.model_validate(
        {"operations": [ULM, LIVES | {"object_ref": "place:ulm"}, AGE, END]}
    )
    accepted, rejections = validate(proposal, window(SAID), REGISTRY)
    assert accepted == proposal.operations
    assert rejections == []


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (ULM | {"kind": "galaxy"}, "unknown_kind"),
        (ULM | {"canonical_name": " "}, "empty_value"),
        (AGE | {"subject_ref": "person:nobody"}, "unresolved_reference"),
        (LIVES | {"object_ref": "place:atlantis"}, "unresolved_reference"),
        (LIVES | {"object_ref": "organisation:siemens"}, "object_kind"),
        (AGE | {"subject_ref": "place:nuernberg"}, "subject_kind"),
        (AGE | {"object_value": "alt"}, "value_type"),
        (AGE | {"object_value": True}, "value_type"),
        (AGE | {"predicate": "email", "object_value": "anna"}, "value_type"),
        (AGE | {"predicate": "lives_in", "object_value": "Ulm"}, "value_type"),
        (LIVES | {"predicate": "likes"}, "value_type"),
        (AGE | {"predicate": "likes", "object_value": "  "}, "empty_value"),
        (AGE | {"object_value": None}, "empty_value"),
        (AGE | {"evidence": None}, "missing_evidence"),
        (AGE | {"evidence": {"text": " "}}, "missing_evidence"),
        (AGE | {"evidence": {"text": "Anna ist 29", "ref": "msg:1"}}, "evidence_not_found"),
        (AGE | {"evidence": {"text": SAID, "ref": "msg:7"}}, "evidence_not_found"),
        (AGE | {"valid_from": "gestern"}, "invalid_date"),
        (AGE | {"valid_from": "2026-02-30"}, "invalid_date"),
        (AGE | {"valid_from": "2026-01-01T10:00:00"}, "invalid_date"),
        (AGE | {"valid_from": "1023"}, "date_out_of_range"),
        (AGE | {"valid_to": "2999-01-01"}, "date_out_of_range"),
        (AGE | {"valid_from": "2026-05", "valid_to": "2026-05-01"}, "empty_interval"),
        (END | {"target_fact_id": "person:anna#9"}, "unknown_target"),
        (LIVES | {"replaces_fact_id": "made-up"}, "unknown_target"),
    ],
)
def test_each_rule_has_its_code(operation: dict[str, Any], code: str) -> None:
    assert codes(operation) == [code]


def test_an_unknown_predicate_goes_on() -> None:
    assert codes(AGE | {"predicate": "collects", "object_value": "stamps"}) == []


def test_what_rests_on_a_refused_entity_is_refused() -> None:
    assert codes(ULM | {"kind": "galaxy"}, LIVES | {"object_ref": "place:ulm"}) == [
        "unknown_kind",
        "unresolved_reference",
    ]


def test_the_quote_may_differ_in_white_space_only() -> None:
    assert codes(AGE | {"evidence": {"text": "Anna  ist\n28", "ref": "msg:1"}}) == []


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_other_peoples_words_are_no_statement_of_the_person(role: str) -> None:
    assert codes(AGE, said=window({"role": role, "text": SAID})) == ["evidence_not_the_persons"]


def test_untrusted_words_are_no_statement_of_the_person() -> None:
    assert codes(AGE, said=window({"role": "user", "trust": "untrusted", "text": SAID})) == ["evidence_not_the_persons"]


def test_an_observation_rests_on_tool_output() -> None:
    observed = AGE | {"source": "observation", "memory_type": "observed_state"}
    assert codes(observed, said=window({"role": "tool", "text": SAID})) == []
    assert codes(observed) == ["evidence_not_the_persons"]


@pytest.mark.parametrize(
    "said",
    ["Ist Anna 28?", "Vielleicht ist Anna 28", "Ben sagt, Anna ist 28", "Haha, Anna ist 28", "I think Anna is 28"],
)
def test_questions_guesses_hearsay_and_jokes_are_not_asserted(said: str) -> None:
    assert codes(AGE | {"evidence": {"text": said, "ref": "msg:1"}}, said=window(said)) == ["not_asserted"]


def test_a_proposal_does_not_contradict_itself() -> None:
    assert codes(AGE, AGE | {"object_value": 29}) == ["contradiction"]
    assert codes(AGE, AGE | {"polarity": False}) == ["contradiction"]


def test_a_succession_a_correction_and_two_messages_are_no_contradiction() -> None:
    assert codes(AGE, AGE | {"object_value": 29, "valid_from": "2027-01-01"}) == []
    assert codes(AGE, AGE | {"object_value": 29, "correction": True}) == []
    later = AGE | {"object_value": 29, "evidence": {"text": "Anna ist 29", "ref": "msg:2"}}
    assert codes(AGE, later, said=window(SAID, "Anna ist 29")) == []


def test_a_set_predicate_takes_many() -> None:
    likes = AGE | {"predicate": "likes", "object_value": "Tee"}
    assert codes(likes, likes | {"object_value": "Kaffee"}) == []


def test_saying_it_twice_is_a_duplicate() -> None:
    assert codes(AGE, AGE) == ["duplicate"]


def test_what_the_built_in_extractor_proposes_is_valid() -> None:
    texts = (
        "Rex ist mein Hund und bekommt um 19 Uhr Futter.",
        "nein, um 18 Uhr",
        "Anna arbeitet nicht mehr bei Siemens.",
    )
    proposal = MemoryMutationProposal(operations=learned(*texts))
    assert validate(proposal, window(*texts), REGISTRY)[1] == []
