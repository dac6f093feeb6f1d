"""What a reader may not see changes nothing of what search answers them: no hit, score, count, note or marker."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from gedaechtnis.chat.models import Message
from gedaechtnis.common import clock
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.projecting import index, vectors
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Projection, ProjectionVector
from tests.acceptance.api.support import fact, propose
from tests.integration.test_projections import said

HOUSE = {"op": "upsert_entity", "id_hint": "topic:haus", "kind": "topic", "canonical_name": "Haus"}
LATER = datetime(2030, 1, 1, tzinfo=UTC)
QUERIES = (
    "Zwiebelkuchen", "Zwibelkuchen", "Kuchen", "Was steht im Regal?", "Haus", "Rosamunde", "letzten Sommer",
    "wer ist Rosamunde Pilch", "Kuchen Regal Haus Zwiebel", "Sertralin",
)  # fmt: skip
ASKED = [
    *({"query": query, "mode": mode} for query in QUERIES for mode in ("hybrid", "keyword", "semantic")),
    {"query": "Kuchen", "limit": 1},
    {"query": "Kuchen", "kinds": ["person"]},
    {"query": "Kuchen", "source_kinds": ["episode"]},
    {"query": "Kuchen", "predicate": "note"},
    {"query": "Kuchen", "chat": "talk-1"},
]


def answers(api: Any) -> list[Any]:
    """Everything search says, at one moment, but for the mark of it: what fades, fades by the second."""
    with clock.frozen(LATER):
        return _answers(api)


def _answers(api: Any) -> list[Any]:
    told: list[Any] = []
    for asked in ASKED:
        response = api.post("/api/world/search", asked)
        body = response.json()
        told.append((response.status_code, asked, {key: body[key] for key in body if key != "basis"}))
        tool = api.post(
            "/api/tools/search_world_memory", {key: asked[key] for key in ("query", "mode") if key in asked}
        )
        told.append((tool.status_code, tool.json()))
    told.append(api.post("/api/world/context", {"text": "Was ist mit Rosamunde und dem Kuchen?"}).json()["text"])
    return told


def index_all(*scopes: str) -> None:
    for scope_ref in scopes:
        index.run(scope_ref=scope_ref)
        while vectors.embed_pending(scope_ref=scope_ref).left:
            pass


def hide(api: Any, principal: Principal, scope_ref: str) -> None:
    """Much of what the questions ask for, for others' eyes: facts, people, talks."""
    propose(
        api,
        {"op": "upsert_entity", "id_hint": "person:rosamunde", "kind": "person", "canonical_name": "Rosamunde Pilch"},
        *(
            fact("note", text, subject="person:rosamunde", statement=text)
            for text in ("Zwiebelkuchen im Regal", "Kuchen für das Haus", "Sertralin am Morgen")
        ),
    )
    said(principal, "Rosamunde mag Zwiebelkuchen.", "Das Haus hat ein Regal.", "Sertralin hilft.", scope_ref=scope_ref)


@pytest.fixture
def seen(client_for: Callable[..., Any], anna: User) -> Any:
    api = client_for(anna)
    propose(api, HOUSE, *(fact("note", text, subject="topic:haus", statement=text) for text in (
        "Im Regal steht Kuchen", "Der Garten ist gegossen", "Die Leiter ist beim Nachbarn",
    )))  # fmt: skip
    said(person(anna), "Der Kuchen ist fertig.", "Im Sommer waren wir am See.")
    index_all(person(anna).default_scope)
    return api


def test_a_strangers_memory(seen: Any, client_for: Callable[..., Any], clara: User) -> None:
    before = answers(seen)
    hide(client_for(clara), person(clara), person(clara).default_scope)
    index_all(person(clara).default_scope)
    assert answers(seen) == before


def test_a_group_one_has_left(seen: Any, client_for: Callable[..., Any], anna: User, ben: User) -> None:
    before = answers(seen)
    group = groups.create_group(user=ben, name="Familie")
    groups.add_member(user=ben, group_id=group.pk, username="anna")
    shared = f"group:{group.pk}"
    hide(client_for(ben, write_scope=shared), person(ben), shared)
    index_all(shared)
    assert answers(seen) != before
    groups.remove_member(user=ben, group_id=group.pk, sub=anna.sub)
    assert answers(seen) == before


def test_what_is_too_sensitive_for_a_token(
    seen: Any, client_for: Callable[..., Any], anna: User, as_anna: Principal
) -> None:
    low = client_for(anna, clearance=1)
    before = answers(low)
    own = as_anna.default_scope
    talk = said(as_anna, "Rosamunde mag Zwiebelkuchen im Haus.", "Sertralin am Morgen, Kuchen im Regal.")
    with scope(as_anna, write=own):
        Message.objects.filter(pk__in=[one.message_id for one in talk]).update(classification=3)
    index_all(own)
    assert answers(low) == before
    assert answers(seen) != before


def test_the_turn_after_forgets_a_turn_that_became_sensitive(as_anna: Principal) -> None:
    own = as_anna.default_scope
    first, second, third = said(as_anna, "Ich nehme Sertralin.", "Ja, genau.", "Und der Garten?")
    index_all(own)
    with scope(as_anna):
        ids = dict(Projection.objects.filter(source_kind="episode").values_list("source_id", "id"))
        was = dict(ProjectionVector.objects.values_list("id", "vector"))
    with scope(as_anna, write=own):
        Message.objects.filter(pk=first.message_id).update(classification=3)
    with scope(as_anna):
        left = set(ProjectionVector.objects.values_list("id", flat=True))
    assert ids[second.message_id] not in left
    index_all(own)
    with scope(as_anna):
        now = dict(ProjectionVector.objects.values_list("id", "vector"))
    assert now[ids[second.message_id]] != pytest.approx(was[ids[second.message_id]], abs=0.01)
    assert now[ids[third.message_id]] == pytest.approx(was[ids[third.message_id]], abs=0.01)
