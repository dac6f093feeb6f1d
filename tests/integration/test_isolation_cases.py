"""Reported faults of systems of this kind that let one memory shine through into another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.test import Client
from django.urls import reverse

from gedaechtnis.identity.models import Group, GroupMembership, User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services.commit import commit_proposal

SECRET = "Der Schlüssel liegt unter dem Topf"
POT = {"op": "upsert_entity", "id_hint": "object:topf", "kind": "object", "canonical_name": "Blaues Buch"}
FACT = {"op": "assert_fact", "subject_ref": "object:topf", "predicate": "note", "object_value": SECRET}
MISSING = "019ff000-0000-7000-8000-000000000001"


def commit(principal: Principal, *operations: dict[str, Any], scope_ref: str | None = None) -> list[OperationResult]:
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    return commit_proposal(principal=principal, proposal=proposal, scope_ref=scope_ref).results


def share_a_group(*users: User) -> str:
    group = Group.objects.create(name="Familie")
    for user in users:
        GroupMembership.objects.create(group=group, user=user)
    return f"group:{group.pk}"


@pytest.mark.parametrize("who", ["a stranger", "somebody of a shared group"])
def test_case_c64_no_way_of_asking_finds_what_is_private(
    anna: User,
    ben: User,
    clara: User,
    client_for: Callable[..., Any],
    page_for: Callable[[User], Client],
    caplog: pytest.LogCaptureFixture,
    who: str,
) -> None:
    share_a_group(anna, ben)
    asker = clara if who == "a stranger" else ben
    thing, fact = commit(person(anna), POT, FACT)
    client_for(anna, agent_role="helper").post(
        "/api/world/proposals", {"operations": [{**FACT, "object_value": "Topf"}]}
    )
    assert thing.entity_ref == "object:blaues-buch"
    mine = person(anna).default_scope
    rest, page = client_for(asker), page_for(asker)
    questions: list[tuple[str, dict[str, str]]] = [
        *(
            ("/api/world/entities", {"q": q})
            for q in ("Blaues", "Buch", "blaues buch", "Topf", "Schlüssel", "%", "_", "")
        ),
        *(("/api/world/resolve", {"name": name}) for name in ("Blaues Buch", "blaues  BUCH", thing.entity_ref)),
        *((f"/api/world/entities/{ref}", {}) for ref in (str(thing.entity_id), thing.entity_ref)),
        *((f"/api/world/entities/{thing.entity_id}/{part}", {}) for part in ("facts", "history")),
        ("/api/world/facts", {"predicate": "note"}),
        *((f"/api/world/facts/{fact.fact_id}{part}", {}) for part in ("", "/explain")),
        ("/api/world/proposals", {}),
        ("/api/review-items", {}),
        ("/api/chats", {}),
    ]
    wishes = [{}, *({"Gedaechtnis-Scope": value} for value in (mine, "", "null", "[]", "*", "global"))]
    caplog.clear()
    answers = [rest.get(path, query, **wish) for path, query in questions for wish in wishes]
    for filter in ("tenant", "scope", "scope_ref", "user"):
        refused = rest.get("/api/world/entities", {filter: mine})
        assert refused.status_code == 422, "a filter that does not exist cannot widen the question"
    answers += [page.get(reverse("explorer"), {"q": q}) for q in ("Blaues", "Topf", "*")]
    answers += [page.get(reverse("explorer"), {"q": "Blaues"}, headers={"HX-Request": "true"})]
    answers += [page.get(reverse("entity", args=[str(thing.entity_id)])), page.get(reverse("home"))]
    answers += [page.post(reverse("message-post"), {"text": "Wo liegt der Schlüssel?"}, follow=True)]
    assert len(answers) > 40
    for answer in answers:
        text = answer.content.decode()
        for trace in (SECRET, "Blaues Buch", "unter dem Topf", str(fact.fact_id)):
            assert trace not in text or trace in str(answer.request), f"{trace} in {answer.request}"
    for trace in (SECRET, "unter dem Topf"):
        assert trace not in caplog.text
    principal = person(asker)
    assert entities.totals(principal=principal).facts == len(list_of_own(principal))


def list_of_own(principal: Principal) -> tuple[Any, ...]:
    """A newcomer knows of themself and nothing else."""
    me = entities.get_entity(principal=principal, ref="me")
    return asof.entity_facts(principal=principal, entity_id=me.id).facts


def test_case_c68_what_is_equal_in_two_scopes_is_kept_twice(
    anna: User, ben: User, clara: User, client_for: Callable[..., Any], admin_connection: psycopg.Connection[Any]
) -> None:
    shared = share_a_group(anna, ben)
    homes = {"home": (anna, None), "work": (anna, shared), "clara": (clara, None)}
    made = {name: commit(person(user), POT, FACT, scope_ref=ref) for name, (user, ref) in homes.items()}
    assert len({str(results[1].fact_id) for results in made.values()}) == 3, "ids do not come from the content"

    def believed() -> set[str]:
        rows = admin_connection.execute(
            "SELECT f.id::text FROM facts f JOIN fact_evidence e ON e.fact_id = f.id AND e.scope_ref = f.scope_ref "
            "WHERE f.predicate = 'note' AND f.superseded_at IS NULL"
        )
        return {id for (id,) in rows}

    everywhere = believed()
    rest = client_for(clara)
    foreign = rest.post(f"/api/world/facts/{made['home'][1].fact_id}/invalidate", {})
    missing = rest.post(f"/api/world/facts/{MISSING}/invalidate", {})
    assert foreign.status_code == missing.status_code == 404
    assert believed() == everywhere
    assert client_for(anna).post(f"/api/world/facts/{made['home'][1].fact_id}/invalidate", {}).status_code == 200
    assert believed() == everywhere - {str(made["home"][1].fact_id)}
    for user, ref in ((ben, shared), (clara, person(clara).default_scope)):
        found = entities.search_entities(principal=person(user), q="Blaues")
        assert [thing.scope_ref for thing in found.items] == [ref]
