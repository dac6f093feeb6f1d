"""Links name the thing they mean, also where one's own and a group's bear the same kind and name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from django.test import Client

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.selectors import entities
from gedaechtnis.memory.services import facts
from gedaechtnis.memory.services.commit import commit_proposal

EVA = {"op": "upsert_entity", "id_hint": "person:eva", "kind": "person", "canonical_name": "Eva"}
BONN = {"op": "upsert_entity", "id_hint": "place:bonn", "kind": "place", "canonical_name": "Bonn"}
HOME = {"op": "assert_relationship", "subject_ref": "person:eva", "predicate": "lives_in", "object_ref": "place:bonn"}


@pytest.fixture
def page(anna: User, page_for: Callable[[User], Client]) -> Client:
    return page_for(anna)


@pytest.fixture
def theirs(anna: User, ben: User, page: Client) -> UUID:
    """A group's Eva in the group's Bonn. Anna asked about her, has both of her own too, and made a private note."""
    group = groups.create_group(user=ben, name="Familie")
    groups.add_member(user=ben, group_id=group.pk, username="anna")
    tell(ben, EVA, BONN, HOME, scope_ref=f"group:{group.pk}")
    eva = entities.get_entity(principal=person(ben), ref="person:eva")
    page.post("/nachrichten/", {"text": "Wo wohnt Eva?"})
    groups.remove_member(user=ben, group_id=group.pk, sub=anna.sub)  # or her Eva would be the group's
    tell(anna, EVA, BONN)
    groups.add_member(user=ben, group_id=group.pk, username="anna")
    facts.add_note(principal=person(anna), entity_id=eva.id, text="Blumen mitbringen", scope_ref=f"user:{anna.sub}")
    assert entities.get_entity(principal=person(anna), ref="person:eva").id != eva.id, "one's own comes first"
    return eva.id


def tell_as_agent(user: User, *operations: dict[str, str], scope_ref: str | None = None) -> None:
    principal = person(user)
    agent = replace(principal, kind=PrincipalKind.AGENT, acted_by=f"agent:assistant@{principal.acted_by}")
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    commit_proposal(principal=agent, proposal=proposal, scope_ref=scope_ref)


def tell(user: User, *operations: dict[str, str], scope_ref: str | None = None) -> None:
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    commit_proposal(principal=person(user), proposal=proposal, scope_ref=scope_ref)


def test_the_chips_of_an_answer(page: Client, theirs: UUID) -> None:
    (link,) = re.findall(r'class="chip" href="([^"]+)"', page.get("/").content.decode())
    assert link.startswith(f"/wissen/{theirs}/?fact=")
    assert "Bonn" in page.get(link).content.decode()


def test_a_private_note_on_it(page: Client, theirs: UUID) -> None:
    about = page.get(f"/wissen/{theirs}/").content.decode()
    (note,) = re.findall(r'id="fact-([0-9a-f-]+)"(?:(?!id="fact-).)*?Blumen mitbringen', about, re.S)
    assert f'href="/wissen/{theirs}/"' in page.get(f"/tatsachen/{note}/").content.decode()
    back = page.post(f"/tatsachen/{note}/zuruecknehmen/")
    assert back["Location"] == f"/wissen/{theirs}/"


def test_a_relation_to_it(page: Client, anna: User, theirs: UUID) -> None:
    place = re.search(r'href="/wissen/([^"]+)/">Bonn<', page.get(f"/wissen/{theirs}/").content.decode())
    assert place is not None
    theirs_too = entities.get_entity(principal=person(anna), ref=place[1])
    assert theirs_too.scope_ref.startswith("group:")
    assert f'href="/wissen/{theirs}/"' in page.get(f"/wissen/{place[1]}/").content.decode()


def test_ones_own_things_keep_their_names(page: Client, anna: User) -> None:
    tell(anna, EVA, BONN, HOME)
    page.post("/nachrichten/", {"text": "Wo wohnt Eva?"})
    assert 'href="/wissen/person:eva/?fact=' in page.get("/").content.decode()
    assert 'href="/wissen/place:bonn/"' in page.get("/wissen/person:eva/").content.decode()


def test_a_question_stands_on_the_page_of_the_one_it_is_about(
    page: Client, anna: User, ben: User, theirs: UUID
) -> None:
    group = entities.get_entity(principal=person(anna), ref=str(theirs)).scope_ref
    for user, likes, scope_ref in ((anna, "Bergwandern", None), (ben, "Schwimmen", group)):
        guess = {"op": "assert_fact", "subject_ref": "person:eva", "predicate": "likes", "object_value": likes}
        tell_as_agent(user, {**guess, "source": "inference"}, scope_ref=scope_ref)
    hers, the_groups = (page.get(f"/wissen/{key}/").content.decode() for key in ("person:eva", theirs))
    assert ("Bergwandern" in hers, "Schwimmen" in hers) == (True, False)
    assert ("Bergwandern" in the_groups, "Schwimmen" in the_groups) == (False, True)


def test_a_question_about_somebody_new_is_not_about_their_namesake(page: Client, anna: User, theirs: UUID) -> None:
    guess = {"op": "assert_fact", "subject_ref": "person:uwe", "predicate": "likes", "object_value": "Schach"}
    uwe = {"op": "upsert_entity", "id_hint": "person:uwe", "kind": "person", "canonical_name": "Uwe Neu"}
    tell_as_agent(anna, uwe, {**guess, "source": "inference"})
    tell(anna, {**uwe, "canonical_name": "Uwe Alt"})
    assert "Schach" not in page.get("/wissen/person:uwe/").content.decode()
