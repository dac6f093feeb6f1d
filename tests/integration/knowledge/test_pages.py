"""The pages of a workspace's knowledge: what they show, to whom, and what each act does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from gedaechtnis.chat.services import post_review_message
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, agent, person
from gedaechtnis.knowledge import attention, grants, hot, pads, policies, statements
from gedaechtnis.knowledge.domains import parse
from gedaechtnis.knowledge.facts import propose_statement, statement_operations
from gedaechtnis.knowledge.policy_changes import propose_policy, set_active
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import conflicts, proposals
from gedaechtnis.memory.services.commit import commit_proposal

PageFor = Callable[[User], Client]
HTMX = {"HX-Request": "true"}
PAGES = ["/gebiete/", "/regeln/", "/arbeitsgedaechtnis/", "/widersprueche/"]
BACKUP, LATER = "Das Archiv entsteht um 2 Uhr.", "Das Archiv entsteht um 3 Uhr."
SECRET = "Nur ich lese das."


def say(principal: Principal, content: str, domain: str = "architecture", **more: Any) -> OperationResult:
    return propose_statement(principal=principal, content=content, domain=domain, **more).results[-1]


def seen(client: Client, address: str, **headers: str) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


def fact_of(result: OperationResult) -> UUID:
    assert result.fact_id is not None
    return result.fact_id


@pytest.mark.parametrize("address", PAGES)
def test_an_empty_page_teaches(anna: User, page_for: PageFor, address: str) -> None:
    assert 'class="examples"' in seen(page_for(anna), address)
    part = seen(page_for(anna), address, **HTMX)
    assert "<!doctype html>" not in part
    assert part.lstrip().startswith("<div id=")


@pytest.mark.parametrize(
    "query",
    [
        "q=%00",
        "q=" + "x" * 400,
        "domain=%00",
        "domain=a/b",
        "repo=%00",
        "whose=nobody",
        "page=0",
        "page=999999999",
        "page=-1",
        "page=%C2%B2",
        "scope=",
        "state=%00",
        "agent=Nobody!",
        "agent=%00",
        "cursor=%00",
        "seen=x",
    ],
)
@pytest.mark.parametrize("address", PAGES)
def test_odd_addresses_are_answered_in_words(anna: User, page_for: PageFor, address: str, query: str) -> None:
    for headers in ({}, HTMX):
        assert page_for(anna).get(f"{address}?{query}", headers=headers).status_code in {200, 422}


@pytest.mark.parametrize("address", PAGES)
def test_a_strangers_workspace_is_none(
    anna: User, clara: User, page_for: PageFor, as_anna: Principal, address: str
) -> None:
    say(as_anna, BACKUP, "operations")
    propose_policy(principal=as_anna, rule="Frage vor dem Löschen")
    pads.update(principal=as_anna, text=SECRET)
    say(as_anna, LATER, "operations")
    page = seen(page_for(clara), address)
    for word in ("Archiv", "operations", "Frage vor", SECRET):
        assert word not in page
    refused = page_for(clara).get(f"{address}?scope=user:{anna.sub}")
    assert refused.status_code in {403, 404} or "Archiv" not in refused.content.decode()


def test_who_shares_a_group_sees_its_rules_and_never_anothers_notes(
    anna: User, ben: User, as_ben: Principal, shared: str, page_for: PageFor
) -> None:
    say(person(anna), BACKUP, "operations", scope_ref=shared)
    propose_policy(principal=person(anna), rule="Frage vor dem Löschen", scope_ref=shared)
    pads.update(principal=person(anna), text=SECRET, scope_ref=shared)
    entry = hot.remember(principal=person(anna), text="Auch das.", scope_ref=shared)
    client = page_for(ben)
    assert BACKUP in seen(client, f"/gebiete/?scope={shared}")
    assert "Frage vor dem Löschen" in seen(client, f"/regeln/?scope={shared}")
    for address in (f"/arbeitsgedaechtnis/?scope={shared}", f"/arbeitsgedaechtnis/?scope={shared}&agent="):
        page = seen(client, address)
        assert SECRET not in page
        assert "Auch das." not in page
    assert client.post(reverse("hot-forget", args=[entry.id])).status_code == 404
    client.post(reverse("pad-update"), {"scope": shared, "agent": "", "version": "1", "text": "Bens"})
    assert pads.read(principal=person(anna), scope_ref=shared).text == SECRET
    assert [one.text for one in hot.list_hot(principal=person(anna), scope_ref=shared)] == ["Auch das."]


def test_who_reads_along_is_offered_no_acts_and_can_do_none(
    anna: User, ben: User, as_ben: Principal, shared: str, page_for: PageFor
) -> None:
    groups.change_role(user=anna, group_id=UUID(shared.partition(":")[2]), sub=ben.sub, role="viewer")
    made = propose_policy(principal=person(anna), rule="Frage vor dem Löschen", scope_ref=shared)
    say(person(anna), BACKUP, "operations", scope_ref=shared)
    say(person(anna), LATER, "operations", scope_ref=shared)
    client = page_for(ben)
    rules = seen(client, f"/regeln/?scope={shared}")
    assert "Frage vor dem Löschen" in rules
    assert 'role="switch"' not in rules
    assert 'name="keep"' not in seen(client, "/widersprueche/")
    assert 'name="permission"' not in seen(client, f"/gebiete/?domain=operations&scope={shared}")
    for name, form in (
        ("policy-switch", {"active": "0"}),
        ("policy-change", {"rule": "Alles löschen"}),
        ("policy-retract", {}),
    ):
        client.post(reverse(name, args=[fact_of(made)]), form)
    (held,) = conflicts.list_conflicts(principal=person(anna)).items
    client.post(reverse("conflict-settle", args=[held.id]), {"keep": "new"})
    client.post(reverse("domain-grant"), {"scope": shared, "domain": "operations", "permission": "none"})
    assert [one.rule for one in policies.active(principal=person(anna), scope_ref=shared)] == ["Frage vor dem Löschen"]
    assert conflicts.list_conflicts(principal=person(anna)).items[0].is_open
    assert grants.list_grants(principal=person(anna), scope_ref=shared) == ()


def test_an_editor_may_not_say_what_agents_may_do(ben: User, as_ben: Principal, shared: str, page_for: PageFor) -> None:
    form = {"scope": shared, "domain": "style", "agent_role": "builder", "permission": "none"}
    assert page_for(ben).post(reverse("domain-grant"), form).status_code == 403
    assert grants.list_grants(principal=as_ben, scope_ref=shared) == ()


def test_nobody_undoes_what_is_not_theirs(anna: User, clara: User, as_anna: Principal, page_for: PageFor) -> None:
    event = say(as_anna, BACKUP).event_id
    for events in (f"{event}", "", "x", " ".join([str(event)] * 30), "\x00"):
        assert page_for(clara).post(reverse("undo"), {"events": events}).status_code == 404
    assert statements.list_statements(principal=as_anna).total == 1
    client = page_for(anna)
    assert (
        client.post(reverse("undo"), {"events": str(event), "next": "https://elsewhere.example/"})["Location"]
        == "/wissen/"
    )
    assert statements.list_statements(principal=as_anna).total == 0
    assert "undo" not in client.post(reverse("undo"), {"events": str(event)}, headers=HTMX).headers["HX-Trigger"]


def test_a_rule_that_was_on_several_times_is_brought_back_whole(
    anna: User, as_anna: Principal, page_for: PageFor
) -> None:
    made = propose_policy(principal=as_anna, rule="Frage vor dem Löschen")
    for active in (False, True):
        set_active(principal=as_anna, policy=f"fact:{made.fact_id}", active=active)
    (policy,) = policies.active(principal=as_anna)
    client = page_for(anna)
    gone = client.post(reverse("policy-retract", args=[policy.id]), headers=HTMX)
    assert policies.list_policies(principal=as_anna, include_inactive=True).items == ()
    events = json.loads(gone["HX-Trigger"])["page:say"]["undo"]
    again = client.post(reverse("policy-retract", args=[policy.id]), headers=HTMX)
    assert "zurückgenommen" in json.loads(again["HX-Trigger"])["page:say"]["text"]
    client.post(reverse("undo"), {"events": events}, headers=HTMX)
    assert [one.rule for one in policies.active(principal=as_anna)] == [policy.rule]


@pytest.mark.parametrize("keep", ["", "all", "\x00"])
def test_a_verb_that_is_none_settles_nothing(anna: User, as_anna: Principal, page_for: PageFor, keep: str) -> None:
    say(as_anna, BACKUP)
    say(as_anna, LATER)
    (held,) = conflicts.list_conflicts(principal=as_anna).items
    client = page_for(anna)
    assert client.post(reverse("conflict-settle", args=[held.id]), {"keep": keep}).status_code == 404
    assert client.post(reverse("conflict-settle", args=[held.id]), {"keep": "both"}).status_code == 302
    again = client.post(reverse("conflict-settle", args=[held.id]), {"keep": "new"}, headers=HTMX)
    assert "schon geklärt" in json.loads(again["HX-Trigger"])["page:say"]["text"]
    assert attention.waiting(principal=as_anna).total == 0


def test_what_waits_is_counted_on_every_page(anna: User, as_anna: Principal, page_for: PageFor) -> None:
    builder = agent(anna, "builder")
    propose_policy(principal=builder, rule="Teste vor jedem Commit")
    say(as_anna, BACKUP)
    say(builder, LATER)
    assert attention.waiting(principal=as_anna) == attention.Waiting(rules=1, conflicts=1)
    for address in ("/", "/einstellungen/", *PAGES):
        assert '<span class="badge">2<' in seen(page_for(anna), address)


def test_a_question_tells_where_a_sentence_belongs(anna: User, as_anna: Principal, page_for: PageFor) -> None:
    """Two that differ only in their repository are no riddle."""
    reviewer = agent(anna, "reviewer")
    say(reviewer, "Zeilen sind höchstens 100 Zeichen lang.", "style", topic="format")
    say(reviewer, "Zeilen sind höchstens 120 Zeichen lang.", "style", repo="atlas")
    post_review_message(principal=as_anna, proposal_ids=[one.id for one in proposals.list_proposals(principal=as_anna)])
    chat = seen(page_for(anna), "/")
    assert '?domain=style">style · format</a>' in chat
    assert '?domain=repo%3Aatlas%2Fstyle">repo:atlas/style</a>' in chat


def test_a_sentence_without_topic_has_no_dash_before_it(anna: User, as_anna: Principal, page_for: PageFor) -> None:
    say(as_anna, BACKUP)
    say(as_anna, "Der Server heißt Nessie.", topic="names")
    assert seen(page_for(anna), "/gebiete/").count('class="predicate') == 1


def test_text_of_others_stays_text(anna: User, as_anna: Principal, page_for: PageFor) -> None:
    evil = "<script>alert(1)</script>"
    say(as_anna, evil, topic=evil)
    say(as_anna, f"{evil} um 2 Uhr", "operations")
    say(as_anna, f"{evil} um 3 Uhr", "operations")
    propose_policy(principal=as_anna, rule=evil, required_role=evil)
    pads.update(principal=as_anna, text=f"</textarea>{evil}")
    hot.remember(principal=as_anna, text=evil, topic=evil, session_id=evil)
    for address in (*PAGES, f"/?text={evil}"):
        page = seen(page_for(anna), address)
        assert "&lt;script&gt;alert(1)" in page
        assert evil not in page


def test_facts_are_narrowed_by_whose_word_they_are(anna: User, ben: User, as_ben: Principal, shared: str) -> None:
    def found(whose: statements.Whose) -> set[str]:
        listed = statements.list_statements(principal=person(anna), whose=whose)
        return {str(fact.object.value) for fact in listed.items}

    say(person(anna), "Von mir")
    say(as_ben, "Von Ben", scope_ref=shared)
    assert found(statements.Whose.MINE) == {"Von mir"}
    assert found(statements.Whose.OTHERS) == {"Von Ben"}
    assert found(statements.Whose.AGENTS) == set()


@pytest.mark.parametrize("words", ["100%", "a_b", "\\", "vor tests"])
def test_words_are_looked_for_as_they_are(as_anna: Principal, words: str) -> None:
    for content in (
        "Deckung 100% vor dem Tag",
        "a_b heißt es",
        "Pfad C:\\x",
        "Tests laufen vor dem Commit",
        "axb 1000",
    ):
        say(as_anna, content)
    (fact,) = statements.list_statements(principal=as_anna, words=words).items
    assert all(word in str(fact.object.value).lower() for word in words.split())


def fill(principal: Principal, *, sentences: int, rules: int) -> None:
    for begin in range(0, sentences, 100):
        operations = []
        for number in range(begin, min(begin + 100, sentences)):
            key = parse(f"domain-{number % 20:02}")
            made = statement_operations(
                content=f"Satz {number} handelt von {number * 7919}.", domain=key, topic=f"t{number}"
            )
            operations += made if number < 20 else made[1:]
        if begin:
            for operation in operations:
                operation.subject_ref = f"domain:{operation.domain}"  # type: ignore[union-attr]
        commit_proposal(principal=principal, proposal=MemoryMutationProposal(operations=operations))
    for number in range(rules):
        propose_policy(principal=principal, rule=f"Regel Nummer {number} gilt", domain=f"domain-{number % 20:02}")


def test_a_page_asks_as_many_questions_however_much_it_shows(anna: User, as_anna: Principal, page_for: PageFor) -> None:
    def asked(address: str) -> int:
        client = page_for(anna)
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        return sum("registry_" not in query["sql"] for query in queries)  # the vocabulary is read anew now and then

    fill(as_anna, sentences=2, rules=2)
    few = [asked(address) for address in PAGES]
    fill(as_anna, sentences=40, rules=20)
    assert [asked(address) for address in PAGES] == few
