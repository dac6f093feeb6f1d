"""What people do after a merge: old ids, refusals, further names and other scopes mean what they meant before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import proposals, relations
from gedaechtnis.memory.services import aliases, facts, governance, undo
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import EntityAlias, Fact
from tests.integration.test_merge_and_split import Memory, do_work


@pytest.fixture
def memory(as_anna: Principal) -> Memory:
    return Memory(as_anna)


@pytest.fixture
def shared(anna: User, ben: User) -> tuple[Memory, Memory]:
    """A group of two, and the memory of one of them."""
    group = groups.create_group(user=anna, name="Haus")
    groups.add_member(user=anna, group_id=group.pk, username=ben.username)
    return Memory(person(anna), f"group:{group.pk}"), Memory(person(ben))


def agent(memory: Memory, *, trusted: bool = False) -> Principal:
    anna = memory.principal
    return replace(anna, kind=PrincipalKind.AGENT, acted_by=f"agent:test@{anna.acted_by}", trusted_writer=trusted)


def tell(who: Principal, operation: dict[str, Any]) -> OperationResult:
    proposal = MemoryMutationProposal.model_validate({"operations": [operation]})
    (result,) = commit_proposal(principal=who, proposal=proposal).results
    return result


def says(subject: UUID | str, predicate: str, value: object, **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": str(subject), "predicate": predicate, "object_value": value, **more}


def relates(subject: UUID, predicate: str, target: UUID) -> dict[str, Any]:
    return {
        "op": "assert_relationship",
        "subject_ref": str(subject),
        "predicate": predicate,
        "object_ref": str(target),
    }


def test_an_id_from_before_a_merge_is_corrected_and_replaced(memory: Memory) -> None:
    a, b, ulm, graz = (*map(memory.meet, ("Ada", "Ada L.")), *(memory.meet(name, "place") for name in ("Ulm", "Graz")))
    lived, liked = memory.state(a, "lives_in", ulm, "2020-01-01"), memory.state(a, "likes", "Tee", "2020-01-01")
    memory.merge(a, b)
    facts.correct_fact(principal=memory.principal, fact_id=lived, changes={"object_ref": str(graz)})
    memory.state(a, "likes", "Saft", "2022-01-01", replaces_fact_id=str(liked))
    assert memory.holds(b) == [("likes", "Saft"), ("lives_in", "Graz")]


def test_a_marriage_is_corrected_by_the_id_of_either_row_from_before_a_merge(memory: Memory) -> None:
    a, b, cyd, dov = map(memory.meet, ("Ada", "Ada L.", "Cyd", "Dov"))
    memory.state(cyd, "married_to", a, "2020-01-01")
    with scope(memory.principal):
        other_end = Fact.objects.get(subject_id=a, predicate="married_to").pk
    memory.merge(a, b)
    facts.correct_fact(principal=memory.principal, fact_id=other_end, changes={"object_ref": str(dov)})
    assert (memory.holds(b), memory.holds(cyd)) == ([("married_to", "Dov")], [])
    assert memory.holds(dov) == [("married_to", "Ada L.")]


def test_a_suggestion_to_replace_something_follows_a_merge(memory: Memory) -> None:
    a, b = memory.meet("Ada"), memory.meet("Ada L.")
    tea = memory.state(a, "likes", "Tee", "2020-01-01")
    operation = says(a, "likes", "Saft", valid_from="2022-01-01", replaces_fact_id=str(tea))
    waiting = tell(agent(memory), operation).proposal_id
    assert waiting is not None
    memory.merge(a, b)
    with pytest.raises(Problem, match="stale"):
        governance.accept_proposal(principal=memory.principal, proposal_id=waiting)
    governance.accept_proposal(principal=memory.principal, proposal_id=waiting)
    assert memory.holds(b) == [("likes", "Saft")]


def test_what_was_declined_about_the_merged_one_is_declined_about_the_survivor(memory: Memory) -> None:
    a, b, cyd = map(memory.meet, ("Ada", "Ada L.", "Cyd"))
    suggestions = [says(a, "likes", "Tee"), relates(cyd, "belongs_to", a)]
    for suggestion in suggestions:
        waiting = tell(agent(memory), suggestion).proposal_id
        assert waiting is not None
        governance.reject_proposal(principal=memory.principal, proposal_id=waiting)
    memory.merge(a, b)
    assert [tell(agent(memory), suggestion).code for suggestion in suggestions] == ["suppressed", "suppressed"]
    memory.split(a)
    assert [tell(agent(memory), suggestion).code for suggestion in suggestions] == ["suppressed", "suppressed"]


def test_a_declined_pair_stays_declined_after_a_merge(memory: Memory) -> None:
    a, b, other = map(memory.meet, ("Katharina Weber", "Bea", "Katarina Weber"))
    do_work()
    (asked,) = proposals.list_proposals(principal=memory.principal)
    governance.reject_proposal(principal=memory.principal, proposal_id=asked.id)
    memory.merge(a, b)
    for bearer in (b, other):
        memory.state(bearer, "email", "k@example.org")
    do_work()
    assert proposals.list_proposals(principal=memory.principal) == ()


def test_a_persons_word_keeps_its_rank_where_the_survivor_held_the_same_by_less(memory: Memory) -> None:
    a, b, ulm = memory.meet("Ada"), memory.meet("Ada L."), memory.meet("Ulm", "place")
    said_by_agent = {**relates(b, "lives_in", ulm), "valid_from": "2019-01-01"}
    assert tell(agent(memory, trusted=True), said_by_agent).code is None
    memory.state(a, "lives_in", ulm, "2020-01-01")
    before = memory.believed()
    merge = memory.merge(a, b)
    with scope(memory.principal):
        rows = Fact.objects.believed().filter(predicate="lives_in").order_by("valid_from")
        assert list(rows.values_list("subject_id", "rank")) == [(b, 2), (b, 3)]
    assert (merge.clashes, memory.holds(b)) == ((), [("lives_in", "Ulm")])
    memory.split(a)
    assert memory.believed() == before


@pytest.mark.parametrize("predicate", ["default_branch", "gotcha"])
def test_rows_that_meet_only_through_the_merge_are_judged_too(memory: Memory, predicate: str) -> None:
    a, b = memory.meet("Alt", "repo"), memory.meet("Neu", "repo")
    memory.state(a, predicate, "main", "2018-01-01", applies_to_ref=str(a))
    memory.state(a, predicate, "main", "2019-01-01", applies_to_ref=str(b))
    before = memory.believed()
    memory.merge(a, b)
    assert set(memory.holds(b)) == {(predicate, "main")}
    memory.split(a)
    assert memory.believed() == before


def test_merges_that_cross_are_taken_back_in_any_order(memory: Memory) -> None:
    a, b, x, y = map(memory.meet, ("Ada", "Ada L.", "Xenia", "Xeni"))
    memory.state(a, "friend_of", x, "2020-01-01")
    before = memory.believed()
    memory.merge(a, b)
    memory.merge(x, y)
    memory.split(a)
    assert (memory.holds(a), memory.holds(b)) == ([("friend_of", "Xeni")], [])
    assert memory.holds(y) == [("friend_of", "Ada")]
    memory.split(x)
    assert memory.believed() == before


def test_a_friend_goes_with_the_other_by_the_id_of_either_row(memory: Memory) -> None:
    a, b, cyd = map(memory.meet, ("Ada", "Ada L.", "Cyd"))
    memory.merge(a, b)
    learned = memory.state(cyd, "friend_of", b, "2020-01-01")
    memory.split(a, learned)
    assert (memory.holds(a), memory.holds(b)) == ([("friend_of", "Cyd")], [])


def test_a_name_that_both_bore_at_times_is_borne_at_all_of_them(memory: Memory) -> None:
    a, b = memory.meet("Ada"), memory.meet("Bea")
    for bearer, until in ((a, None), (b, "2024-05-01")):
        aliases.add_alias(
            principal=memory.principal, entity_id=bearer, alias="Chris", scope_ref=memory.scope_ref, valid_to=until
        )
    before = memory.believed()
    memory.merge(a, b)
    assert tell(memory.principal, says("Chris", "likes", "Tee")).entity_id == b
    memory.split(a)
    assert [row for row in memory.believed() if row[1] != "likes"] == [row for row in before if row[1] != "likes"]


def test_a_name_borne_for_a_while_can_be_given_for_good(memory: Memory) -> None:
    a = memory.meet("Ada")
    for bounds in ({"valid_from": "2020-01-01", "valid_to": "2021-01-01"}, {}):
        aliases.add_alias(principal=memory.principal, entity_id=a, alias="Chris", scope_ref=memory.scope_ref, **bounds)
    assert tell(memory.principal, says("Chris", "likes", "Tee")).entity_id == a


@pytest.mark.parametrize("since", ["undone", "ended", "merged"])
def test_a_name_that_moved_since_is_not_silently_undone(memory: Memory, since: str) -> None:
    a, b = memory.meet("Ada"), memory.meet("Bea")
    given = aliases.add_alias(principal=memory.principal, entity_id=a, alias="Addy", scope_ref=memory.scope_ref)
    assert given.event_id is not None
    if since == "merged":
        memory.merge(a, b)
    elif since == "ended":
        with scope(memory.principal):
            alias = EntityAlias.objects.get(alias="Addy")
        aliases.end_alias(principal=memory.principal, alias_id=alias.pk, at=datetime(2025, 1, 1, tzinfo=UTC))
    else:
        undo.undo_event(principal=memory.principal, event_id=given.event_id)
    with pytest.raises(Problem, match="moved_since"):
        undo.undo_event(principal=memory.principal, event_id=given.event_id)


def test_what_overlaps_a_friendship_is_told_once(memory: Memory) -> None:
    a, b = memory.meet("Ada"), memory.meet("Bea")
    friends = memory.state(a, "friend_of", b, "2018-01-01", valid_to="2020-01-01")
    tea = memory.state(a, "likes", "Tee", "2016-01-01", valid_to="2019-01-01")
    answer = relations.overlap(principal=memory.principal, first_id=friends, second_id=tea)
    assert len(answer.together) == 1


def test_what_holds_both_ways_is_declined_both_ways(memory: Memory) -> None:
    a, b = memory.meet("Ada"), memory.meet("Bea")
    waiting = tell(agent(memory), relates(a, "friend_of", b)).proposal_id
    assert waiting is not None
    governance.reject_proposal(principal=memory.principal, proposal_id=waiting)
    assert tell(agent(memory), relates(b, "friend_of", a)).code == "suppressed"


def test_an_inverse_name_stays_one_whatever_is_said_with_it(memory: Memory) -> None:
    a, rex = memory.meet("Ada"), memory.meet("Rex", "pet")
    assert tell(memory.principal, says(a, "owns", "ein Boot")).code == "value_misfit"
    memory.state(a, "owns", rex)
    assert memory.holds(rex) == [("owned_by", "Ada")]


def test_a_split_and_another_merge_are_followed_to_the_end(shared: tuple[Memory, Memory]) -> None:
    ours, bens = shared
    a, b, c = (ours.meet(name, "pet") for name in ("Mimi", "Mimmi", "Momo"))
    facts.add_note(principal=bens.principal, entity_id=a, text="kratzt", scope_ref=bens.scope_ref)
    ours.merge(a, b)
    do_work()
    ours.split(a)
    ours.merge(a, c)
    do_work()
    assert (bens.holds(b), bens.holds(c)) == ([], [("note", "kratzt")])


@pytest.mark.parametrize("prompt", [True, False])
def test_merges_of_merged_ones_are_followed_there_and_back(shared: tuple[Memory, Memory], prompt: bool) -> None:
    ours, bens = shared
    a, b, c = (ours.meet(name, "pet") for name in ("Mimi", "Mimmi", "Momo"))
    facts.add_note(principal=bens.principal, entity_id=a, text="kratzt", scope_ref=bens.scope_ref)
    ours.merge(a, b)
    ours.merge(b, c)
    assert bens.holds(c) == [("note", "kratzt")]
    do_work()
    with scope(bens.principal):
        assert Fact.objects.believed().get(predicate="note").subject_id == c
    ours.split(b)
    if prompt:
        do_work()
        assert (bens.holds(b), bens.holds(c)) == ([("note", "kratzt")], [])
    ours.split(a)
    do_work()
    assert (bens.holds(a), bens.holds(b), bens.holds(c)) == ([("note", "kratzt")], [], [])


def test_before_a_scope_follows_it_corrects_and_names_what_it_knew(shared: tuple[Memory, Memory]) -> None:
    ours, bens = shared
    a, b, olga = ours.meet("Mimi", "pet"), ours.meet("Mimmi", "pet"), bens.meet("Olga")
    note = facts.add_note(principal=bens.principal, entity_id=a, text="kratzt", scope_ref=bens.scope_ref).fact_id
    assert note is not None
    bens.state(olga, "likes", a)
    ours.merge(a, b)
    basis = bens.basis()
    assert bens.holds(olga) == [("likes", "Mimi")]
    facts.correct_fact(principal=bens.principal, fact_id=note, changes={"object_value": "beißt"})
    do_work()
    assert bens.holds(b) == [("note", "beißt")]
    assert (bens.holds(b, basis), bens.holds(olga)) == ([("note", "kratzt")], [("likes", "Mimmi")])
