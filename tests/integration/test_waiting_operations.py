"""What waits for a person: it means later what it meant when it was proposed, and an answer is an answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.db import connections

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities, proposals
from gedaechtnis.memory.services import facts, governance
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate

JONAS = {"op": "upsert_entity", "id_hint": "person:jonas", "kind": "person", "canonical_name": "Jonas"}


def says(predicate: str, value: object, subject: str = "person:elin", **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, "object_value": value, **more}


class Review:
    """Anna, an agent of hers, and Elin, whom both know."""

    def __init__(self, anna: Principal) -> None:
        self.anna = anna
        self.agent = replace(anna, kind=PrincipalKind.AGENT, acted_by=f"agent:test@{anna.acted_by}")
        self.trusted = replace(self.agent, trusted_writer=True)
        self.tell({"op": "upsert_entity", "id_hint": "person:elin", "kind": "person", "canonical_name": "Elin"})

    def tell(self, *operations: dict[str, Any], who: Principal | None = None) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        return commit_proposal(principal=who or self.anna, proposal=proposal).results

    def suggest(self, *operations: dict[str, Any]) -> list[OperationResult]:
        return self.tell(*operations, who=self.agent)

    def waiting(self) -> ProposalView:
        (only,) = proposals.list_proposals(principal=self.anna)
        return only

    def accept(self) -> OperationResult:
        return governance.accept_proposal(principal=self.anna, proposal_id=self.waiting().id)

    def reject(self) -> OperationResult:
        return governance.reject_proposal(principal=self.anna, proposal_id=self.waiting().id)

    def known(self, predicate: str, ref: str = "person:elin") -> list[str]:
        id = entities.get_entity(principal=self.anna, ref=ref).id
        return [fact.object.label for fact in asof.history(principal=self.anna, entity_id=id, predicate=predicate)]


@pytest.fixture
def review(as_anna: Principal) -> Review:
    return Review(as_anna)


def test_an_accepted_second_value_of_something_immutable_replaces_the_first(review: Review) -> None:
    review.tell(says("born_on", "1990-04-03"))
    assert review.tell(says("born_on", "1991-01-01"))[0].outcome is Outcome.PENDING
    assert review.known("born_on") == ["1990-04-03"]
    assert review.accept().outcome is Outcome.COMMITTED
    assert review.known("born_on") == ["1991-01-01"]
    assert proposals.list_proposals(principal=review.anna) == ()


def test_hints_and_names_mean_later_what_they_meant_at_first(review: Review) -> None:
    known = {"op": "upsert_entity", "id_hint": "x", "kind": "person", "canonical_name": "Elin"}
    review.suggest(known, says("likes", "jazz", subject="x"))
    review.accept()
    review.suggest(says("likes", "tea", subject="Elin"))
    review.tell(says("name", "Elena"))
    review.accept()
    assert set(review.known("likes")) == {"jazz", "tea"}


def test_a_new_entity_is_not_mistaken_for_one_with_its_slug(review: Review) -> None:
    review.suggest({**JONAS, "canonical_name": "Jonas Meier"}, says("likes", "jazz", subject="person:jonas"))
    review.tell(JONAS, says("likes", "jazz", subject="person:jonas"))
    assert review.accept().entity_ref == "person:jonas-meier"


def test_two_suggestions_about_one_newcomer_make_one_entity(review: Review) -> None:
    for value in ("jazz", "tea"):
        review.suggest(JONAS, says("likes", value, subject="person:jonas"))
    for waiting in proposals.list_proposals(principal=review.anna):
        governance.accept_proposal(principal=review.anna, proposal_id=waiting.id)
    assert set(review.known("likes", "person:jonas")) == {"jazz", "tea"}
    assert len(entities.search_entities(principal=review.anna, q="Jonas").items) == 1


def test_a_context_and_an_alias_bring_the_entity_they_name(review: Review) -> None:
    work = {"op": "upsert_entity", "id_hint": "context:work", "kind": "context", "canonical_name": "Work"}
    review.suggest(work, says("preferred_language", "de", applies_to_ref="context:work"))
    review.accept()
    review.suggest(JONAS, {"op": "add_alias", "entity_ref": "person:jonas", "alias": "Joni"})
    review.accept()
    assert entities.get_entity(principal=review.anna, ref="context:work").name == "Work"
    assert entities.get_entity(principal=review.anna, ref="person:jonas").aliases == ("Joni",)


def test_a_suggestion_to_replace_one_of_several_is_not_stale_at_once(review: Review) -> None:
    (tea,) = review.tell(says("likes", "tea", valid_from="2020"))
    review.suggest(says("likes", "coffee", replaces_fact_id=str(tea.fact_id)))
    assert review.accept().closed_fact_ids == [tea.fact_id]


def test_a_retraction_is_not_applied_to_what_changed_since(review: Review) -> None:
    (berlin,) = review.tell(says("address", "Berlin", valid_from="2000"))
    review.suggest({"op": "invalidate_fact", "target_fact_id": str(berlin.fact_id)})
    review.tell(says("address", "Ulm", valid_from="2010"))
    with pytest.raises(Problem) as refused:
        review.accept()
    assert refused.value.code == "stale"
    assert review.known("address") == ["Berlin", "Ulm"]
    review.accept()
    assert review.known("address") == ["Ulm"]


def test_nothing_waits_that_cannot_be_done(review: Review) -> None:
    (berlin,) = review.tell(says("address", "Berlin"))
    facts.retract_fact(principal=review.anna, fact_id=berlin.fact_id)  # type: ignore[arg-type]
    (refused,) = review.suggest({"op": "invalidate_fact", "target_fact_id": str(berlin.fact_id)})
    assert (refused.outcome, refused.code) == (Outcome.REJECTED, "nothing_believed")


def test_a_weaker_retraction_of_a_persons_word_waits(review: Review) -> None:
    (berlin,) = review.tell(says("address", "Berlin"))
    retraction = {"op": "invalidate_fact", "target_fact_id": str(berlin.fact_id)}
    (result,) = review.tell(retraction, who=review.trusted)
    assert (result.outcome, review.waiting().kind) == (Outcome.PENDING, "conflict")


@pytest.mark.parametrize(
    "suggestion",
    [
        [JONAS, says("likes", "jazz", subject="person:jonas")],
        [
            {"op": "upsert_entity", "id_hint": "place:new", "kind": "place", "canonical_name": "Jazzclub"},
            {
                "op": "assert_relationship",
                "subject_ref": "person:elin",
                "predicate": "lives_in",
                "object_ref": "place:new",
            },
        ],
        [JONAS],
        [{"op": "add_alias", "entity_ref": "person:elin", "alias": "Ellie"}],
    ],
)
def test_what_was_declined_does_not_come_again(review: Review, suggestion: list[dict[str, Any]]) -> None:
    review.suggest(*suggestion)
    review.reject()
    assert review.suggest(*suggestion)[-1].code == "suppressed"
    assert proposals.list_proposals(principal=review.anna) == ()


def test_the_person_may_say_what_they_declined_before(review: Review) -> None:
    review.tell(says("born_on", "1990-04-03"))
    for _ in range(2):
        assert review.tell(says("born_on", "1991-01-01"))[0].outcome is Outcome.PENDING
        review.reject()


def test_what_became_impossible_can_still_be_declined(review: Review) -> None:
    review.suggest(says("shoe_size", "large"))
    Predicate.objects.create(key="shoe_size", source="test", value_type=Predicate.ValueType.NUMBER)
    catalogue.forget()
    with pytest.raises(Problem) as refused:
        review.accept()
    assert refused.value.code == "value_misfit"
    assert review.reject().outcome is Outcome.REJECTED


def test_of_eight_answers_at_once_one_counts(review: Review) -> None:
    review.suggest(says("likes", "jazz"))
    id = review.waiting().id

    def answer(number: int) -> str:
        decide = governance.reject_proposal if number == 7 else governance.accept_proposal
        try:
            return decide(principal=review.anna, proposal_id=id).outcome
        except Problem as problem:
            return problem.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(answer, range(8)))
    assert answers.count("already_decided") == 7
    (fate,) = proposals.list_proposals(principal=review.anna, state=None)
    assert review.known("likes") == (["jazz"] if fate.state == "accepted" else [])
