"""Which agent read what: each read through an agent's token is on record, by ids, and its person sees it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from gedaechtnis.api.api import api
from gedaechtnis.chat import services as chats
from gedaechtnis.chat.models import ChatImport
from gedaechtnis.common import clock
from gedaechtnis.identity import audit
from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.models import AuditEntry, User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Import
from tests.conftest import text_of

MIA = [
    {"op": "upsert_entity", "id_hint": "person:mia", "kind": "person", "canonical_name": "Mia"},
    {"op": "assert_fact", "subject_ref": "person:mia", "predicate": "likes", "object_value": "Kuchen"},
]
_NEEDED = {
    "list_facts": "predicate=likes",
    "list_overlaps": "a={fact_id}&b={fact_id}",
    "list_effects": "run=r-1",
    "resolve": "ref=Mia",
}


def reads() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(kind=Kind.READ).order_by("at", "id"))


def reading_routes() -> list[tuple[str, str]]:
    """(name, address) of every GET route."""
    return [
        (operation.view_func.__name__, f"/api{prefix}{path}")
        for prefix, router in api._routers
        for path, view in router.path_operations.items()
        for operation in view.operations
        if "GET" in operation.methods
    ]


@pytest.fixture
def things(as_anna: Principal) -> dict[str, str]:
    """What routes name in their path, by parameter."""
    mia, fact = commit_proposal(
        principal=as_anna, proposal=MemoryMutationProposal.model_validate({"operations": MIA})
    ).results
    own = as_anna.default_scope
    with scope(as_anna, write=own):
        brought = Import.objects.create(
            scope_ref=own, source_ref=own, keeps_ids=True, tick=clock.now(), rows=0, started_at=clock.now()
        )
        spoken = ChatImport.objects.create(scope_ref=own, started_at=clock.now())
    return {
        "ref": str(mia.entity_id),
        "fact_id": str(fact.fact_id),
        "chat": str(chats.main_chat(principal=as_anna).id),
        "import_id": str(brought.pk),
        "chat_import_id": str(spoken.pk),
    }


WORDS = {"ref": "entity", "fact_id": "fact", "chat": "chat", "import_id": "import", "chat_import_id": "chat_import"}


def test_every_route_that_reads_records_what_an_agent_asked_for(
    anna: User, as_anna: Principal, things: dict[str, str], client_for: Callable[..., Any]
) -> None:
    agent, herself = client_for(anna, agent_role="assistant"), client_for(anna)
    routes = reading_routes()
    assert len(routes) > 10
    for route, address in routes:
        named = re.findall(r"{(\w+)}", address)
        url = f"{address}?{_NEEDED.get(route, '')}".rstrip("?").format(**things)
        before = len(reads())
        answer = herself.get(url)
        assert answer.status_code == 200
        assert text_of(answer)
        assert len(reads()) == before, "a person reads unrecorded"
        assert text_of(agent.get(url)), url
        (entry,) = reads()[before:]
        thing = {WORDS[name]: things[name] for name in named}
        scope = as_anna.default_scope if named else "all"
        assert entry.details == {"route": route, "status": "200", "scope": scope, **thing}
        assert entry.acted_by == f"agent:assistant@{as_anna.default_scope}"
        assert entry.sub == anna.sub
        assert entry.token_id is not None


def test_names_are_kept_as_ids(anna: User, things: dict[str, str], client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="assistant")
    assert agent.get("/api/world/entities/person:mia").status_code == 200
    assert agent.get("/api/world/entities/person:krankheit").status_code == 404
    assert agent.get("/api/world/entities", {"q": "Krankheit"}).status_code == 200
    found, missing, _search = reads()
    assert found.details["entity"] == things["ref"]
    assert missing.details == {"route": "get_entity", "status": "404"}
    assert "krankheit" not in str([entry.details for entry in reads()]).lower()


def test_what_was_asked_for_in_vain_is_recorded_alike_whether_foreign_or_missing(
    things: dict[str, str], clara: User, client_for: Callable[..., Any]
) -> None:
    agent = client_for(clara, agent_role="assistant")
    for id in (things["fact_id"], str(uuid4())):
        assert agent.get(f"/api/world/facts/{id}").status_code == 404
    foreign, missing = (dict(entry.details) for entry in reads())
    assert foreign.pop("fact") == things["fact_id"]
    assert missing.pop("fact")
    assert foreign == missing == {"route": "get_fact", "status": "404"}


def test_what_cannot_be_recorded_is_not_handed_out(
    anna: User, things: dict[str, str], client_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = client_for(anna, agent_role="assistant")
    agent.get("/api/world/entities")

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise OSError

    monkeypatch.setattr(audit, "record", fail)
    answer = agent.get(f"/api/world/entities/{things['ref']}")
    assert answer.status_code == 500
    assert "Mia" not in answer.content.decode()


# The page


def test_a_person_sees_what_agents_read_and_nobody_elses_log(
    anna: User,
    clara: User,
    things: dict[str, str],
    client_for: Callable[..., Any],
    page_for: Callable[[User], Client],
) -> None:
    client_for(anna, agent_role="assistant").get(f"/api/world/entities/{things['ref']}")
    text = page_for(anna).get(reverse("security-log")).content.decode()
    assert "Von einem Agenten gelesen" in text
    assert "assistant" in text
    assert reverse("entity", args=[things["ref"]]) in text
    strange = page_for(clara).get(reverse("security-log")).content.decode()
    assert "Von einem Agenten gelesen" not in strange
    assert things["ref"] not in strange
    for entry in reads():
        older = page_for(clara).get(reverse("security-log"), {"before": str(entry.pk)}).content.decode()
        assert things["ref"] not in older


def test_details_stand_in_words_where_there_are_any(anna: User, page_for: Callable[[User], Client]) -> None:
    for kind, details in (
        (Kind.MEMBER_ADDED, {"role": "viewer"}),
        (Kind.TOKEN_CREATED, {"clearance": "1"}),
        (Kind.CLASSIFIED, {"change": "1-3"}),
        (Kind.EXPORTED, {"lines": "11"}),
        (Kind.ROLE_CHANGED, {"role": "of-a-later-version"}),
    ):
        audit.record(kind, acted_by=person(anna).acted_by, sub=anna.sub, **details)
    text = page_for(anna).get(reverse("security-log")).content.decode()
    for words in ("liest mit", "sieht nichts Persönliches", "von „gewöhnlich“ zu „vertraulich“", "11 Zeilen"):
        assert words in text
    assert re.findall(r"<code>([^<]*)</code>", text) == ["of-a-later-version"]


def test_it_is_paged_from_the_newest_on(anna: User, page_for: Callable[[User], Client]) -> None:
    client = page_for(anna)
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    with clock.frozen(start):
        for number in range(75):
            audit.record(Kind.READ, acted_by=person(anna).acted_by, sub=anna.sub, route=f"r{number:02}")
    with clock.frozen(start + timedelta(days=1)):
        client.get(reverse("home"))
    seen: list[str] = []
    address = reverse("security-log")
    for _page in range(2):
        text = client.get(address).content.decode()
        seen += re.findall(r"<code>(r\d\d)</code>", text)
        more = re.search(r'href="([^"]*\?before=[^"]*)"', text)
        address = more[1] if more else ""
    assert seen == [f"r{number:02}" for number in reversed(range(75))]
    assert address == ""
