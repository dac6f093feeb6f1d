"""Something new may be somebody known: what is certain is merged, what is likely is asked, and a no is a no."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import entities, proposals
from gedaechtnis.memory.services import governance, merges, splits
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import Work
from gedaechtnis.world.models import WorldEvent


def tell(who: Principal, *operations: dict[str, Any], scope_ref: str | None = None) -> list[OperationResult]:
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    results = commit_proposal(principal=who, proposal=proposal, scope_ref=scope_ref).results
    assert [result.code for result in results] == [None] * len(results)
    return results


def meet(who: Principal, name: str, kind: str = "person", *, scope_ref: str | None = None, **facts: str) -> UUID:
    """Meet somebody together with their addresses, and let the server think about it."""
    told = [
        {"op": "assert_fact", "subject_ref": "x", "predicate": predicate, "object_value": value}
        for predicate, value in facts.items()
    ]
    met = {"op": "upsert_entity", "id_hint": "x", "kind": kind, "canonical_name": name}
    id = tell(who, met, *told, scope_ref=scope_ref)[0].entity_id
    assert id is not None
    settle()
    return id


def settle() -> None:
    while work.run_due():
        pass
    assert not Work.objects.filter(kind="identify").exists()


def waiting(who: Principal) -> list[ProposalView]:
    return list(proposals.list_proposals(principal=who))


def survivor(who: Principal, id: UUID) -> UUID:
    return entities.get_entity(principal=who, ref=str(id)).id


def test_case_c27_another_spelling_is_suggested_never_merged_and_never_silent(as_anna: Principal) -> None:
    known = meet(as_anna, "M\u00fcller KG", "organisation")
    new = meet(as_anna, "Mueller KG", "organisation")
    assert survivor(as_anna, new) == new != known
    (item,) = waiting(as_anna)
    assert (item.kind, item.why_code) == ("merge", "alike")
    assert item.statement == "Sind Mueller KG und Müller KG dasselbe?"
    result = governance.accept_proposal(principal=as_anna, proposal_id=item.id)
    assert (result.outcome, result.entity_id) == (Outcome.COMMITTED, known)
    assert survivor(as_anna, new) == known
    assert waiting(as_anna) == []
    assert meet(as_anna, "Mueller KG", "organisation") == known


def test_a_declined_pair_is_not_suggested_again(as_anna: Principal) -> None:
    meet(as_anna, "Katharina Weber")
    new = meet(as_anna, "Katarina Weber")
    (item,) = waiting(as_anna)
    governance.reject_proposal(principal=as_anna, proposal_id=item.id)
    tell(as_anna, fact(new, "phone", "+499111234567"))
    settle()
    assert waiting(as_anna) == []


def fact(subject: UUID, predicate: str, value: str) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": str(subject), "predicate": predicate, "object_value": value}


def test_one_address_and_a_compatible_name_are_one_person(as_anna: Principal) -> None:
    older = meet(as_anna, "Nils Hagen", email="nils@hagen.example")
    younger = meet(as_anna, "Nils", email="nils@hagen.example")
    assert survivor(as_anna, younger) == older
    with scope(as_anna):
        assert WorldEvent.objects.get(event_type="entity.merged").acted_by == "system:identify"
    assert waiting(as_anna) == []


def test_what_a_person_split_is_not_merged_again(as_anna: Principal) -> None:
    older = meet(as_anna, "Nils Hagen", email="nils@hagen.example")
    younger = meet(as_anna, "Nils", email="nils@hagen.example")
    splits.split_entity(principal=as_anna, source_id=younger)
    tell(as_anna, fact(younger, "email", "n@hagen.example"), fact(older, "email", "n@hagen.example"))
    settle()
    assert survivor(as_anna, younger) == younger
    assert waiting(as_anna) == []


@pytest.mark.parametrize(
    ("one", "other", "handle"),
    [
        ("Nils Hagen", "Ute Hagen", {"email": "familie@hagen.example"}),
        ("Nils Hagen", "Nils", {"phone": "+499111234567"}),
    ],
)
def test_an_address_of_two_names_and_a_phone_only_suggest(
    as_anna: Principal, one: str, other: str, handle: dict[str, str]
) -> None:
    first, second = meet(as_anna, one, **handle), meet(as_anna, other, **handle)
    assert survivor(as_anna, first) != survivor(as_anna, second)
    assert [(item.kind, item.why_code) for item in waiting(as_anna)] == [("merge", "shared")]


def test_an_address_of_three_tells_nothing(as_anna: Principal) -> None:
    ids = [meet(as_anna, name) for name in ("Ole", "Pia", "Ute")]
    tell(as_anna, *(fact(id, "email", "buero@firma.example") for id in ids))
    settle()
    assert waiting(as_anna) == []
    assert [survivor(as_anna, id) for id in ids] == ids


def test_a_shared_handle_is_one_person(as_anna: Principal) -> None:
    first, second = meet(as_anna, "Ole Berg"), meet(as_anna, "Ole")
    for id in (first, second):
        tell(as_anna, {"op": "add_alias", "entity_ref": str(id), "alias": "oleberg", "namespace": "github"})
    settle()
    assert survivor(as_anna, second) == first


def test_numbers_and_several_likenesses_suggest_nothing(as_anna: Principal) -> None:
    meet(as_anna, "Paket 17", "object")
    meet(as_anna, "Paket 18", "object")
    meet(as_anna, "Bernadette Hofmann")
    assert waiting(as_anna) == []
    meet(as_anna, "Bernadete Hofmann")
    assert len(waiting(as_anna)) == 1
    meet(as_anna, "Bernadettte Hofmann")
    assert len(waiting(as_anna)) == 1


def test_a_group_is_not_told_of_private_namesakes(as_anna: Principal, anna: User, ben: User) -> None:
    group = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=group.id, username=ben.username, role="editor")
    here = person(anna)
    meet(here, "Katharina Weber")
    meet(here, "Katarina Weber", scope_ref=f"group:{group.id}")
    assert waiting(here) == waiting(person(ben)) == []


def test_what_one_member_knows_merges_nothing_of_the_group(as_anna: Principal, anna: User, ben: User) -> None:
    group = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=group.id, username=ben.username)
    here, shared = person(anna), f"group:{group.id}"
    one, other = meet(here, "Nils Hagen", scope_ref=shared), meet(here, "Nils", scope_ref=shared)
    tell(here, fact(one, "email", "nils@hagen.example"), fact(other, "email", "nils@hagen.example"))
    settle()
    assert (survivor(here, one), survivor(here, other)) == (one, other)
    assert waiting(here) == []
    tell(here, *(fact(id, "email", "nils@hagen.example") for id in (one, other)), scope_ref=shared)
    settle()
    assert survivor(person(ben), other) == one


def test_accepting_what_was_merged_meanwhile_changes_nothing(as_anna: Principal) -> None:
    known, new = meet(as_anna, "Katharina Weber"), meet(as_anna, "Katarina Weber")
    third = meet(as_anna, "Trine Moll")
    for one in (known, new):
        merges.merge_entities(principal=as_anna, source_id=one, target_id=third)
    (item,) = waiting(as_anna)
    with pytest.raises(Problem, match="nothing_to_choose"):
        governance.accept_proposal(principal=as_anna, proposal_id=item.id, choice=known)
    assert governance.accept_proposal(principal=as_anna, proposal_id=item.id).outcome is Outcome.RESTATED
    assert survivor(as_anna, known) == survivor(as_anna, new) == third


def test_whoever_merges_two_themselves_is_not_asked_any_more_nor_after_a_split(as_anna: Principal) -> None:
    known, new = meet(as_anna, "Katharina Weber"), meet(as_anna, "Katarina Weber")
    assert len(waiting(as_anna)) == 1
    merges.merge_entities(principal=as_anna, source_id=known, target_id=new)
    assert waiting(as_anna) == []
    splits.split_entity(principal=as_anna, source_id=known)
    settle()
    assert waiting(as_anna) == []


def test_rules_that_read_alike_are_not_taken_for_one(as_anna: Principal) -> None:
    for rule in ("Antworte immer in ganzen Sätzen und ohne Emojis", "Antworte immer in ganzen Saetzen und mit Emojis"):
        meet(as_anna, rule, "policy", policy_rule=rule)
    assert waiting(as_anna) == []
