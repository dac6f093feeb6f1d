"""What holds no longer is told nowhere without saying so, whichever door is asked (case C22)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import translation

from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, user_scope
from gedaechtnis.memory.projecting import episodes, index
from gedaechtnis.memory.projecting.episodes import Episode
from gedaechtnis.memory.selectors.context import build_context
from gedaechtnis.tools import registry
from tests.acceptance.api.support import fact, propose
from tests.conftest import text_of

OLD, NEW = "+49 30 5550101", "+49 30 5550102"
K1, K2 = datetime(2030, 3, 1, 9, tzinfo=UTC), datetime(2030, 4, 1, 9, tzinfo=UTC)
FIRM = {"op": "upsert_entity", "id_hint": "organisation:firma", "kind": "organisation", "canonical_name": "Firma"}


def say(principal: Principal, *said: tuple[datetime, str, str]) -> list[UUID]:
    chat_id = uuid7()
    told = [
        Episode(
            message_id=uuid7(), chat_id=chat_id, session_id="", position=place, speaker="", role=role, text=text,
            sent_at=sent_at, external_id=None, scope_ref=principal.default_scope, classification=1,
        )
        for place, (sent_at, role, text) in enumerate(said)
    ]  # fmt: skip
    episodes.store(principal=principal, episodes=told)
    return [episode.message_id for episode in told]


def number(value: str, since: datetime, message: UUID | None) -> dict[str, Any]:
    return fact(
        "address", value, subject="organisation:firma", statement=f"The support number of Firma is {value}",
        valid_from=since.isoformat(),
        **({"evidence": {"kind": "conversation_quote", "text": value, "ref": f"msg:{message}"}} if message else {}),
    )  # fmt: skip


@pytest.fixture
def changed(client_for: Any, anna: User, as_anna: Principal) -> Any:
    api = client_for(anna)
    with clock.frozen(K1):
        first, *_ = say(
            as_anna,
            (K1, "user", f"Our support number is {OLD}"),
            (K1 + timedelta(minutes=1), "assistant", f"I noted it: the support number is {OLD}."),
            (K1 + timedelta(minutes=2), "other", f"I wrote the support number 0{OLD[4:]} on the door"),
        )
        propose(api, FIRM, number(OLD, K1, first))
    with clock.frozen(K2):
        second, *_ = say(as_anna, (K2, "user", f"Support number changed to {NEW}"))
        propose(api, number(NEW, K2, second))
    index.run(scope_ref=user_scope(anna.sub))
    return api


QUESTIONS = ("What is the support number?", "5550101", "support number Firma", "Was war früher die support number?")
AFTER = K2 + timedelta(days=1)
SINCE = "2030-04-01T09:00:00Z"
MARKED = ("nicht mehr so seit 01.04.30", "abgelöst 01.04.30")


def holds_old(text: str) -> bool:
    return "5550101" in text.replace(" ", "")


def is_marked(line: str) -> bool:
    return any(mark in line for mark in MARKED)


@pytest.mark.parametrize("query", QUESTIONS)
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_case_c22_rest(changed: Any, query: str, mode: str) -> None:
    with clock.frozen(AFTER):
        hits = changed.post("/api/world/search", {"query": query, "mode": mode}).json()["hits"]
    old = [hit for hit in hits if holds_old(hit["text"])]
    assert {hit["source_kind"] for hit in old} >= {"episode"}
    assert all(hit["is_superseded"] and hit["valid_to"] == SINCE and hit["superseded_by"] for hit in old), old
    assert not any(hit["is_superseded"] for hit in hits if NEW in hit["text"])


@pytest.mark.parametrize("query", QUESTIONS)
def test_case_c22_tools(changed: Any, as_anna: Principal, query: str) -> None:
    with clock.frozen(AFTER), translation.override("de"):
        answer = registry.run("search_world_memory", principal=as_anna, arguments={"query": query})
    old = [line for line in answer.text.splitlines() if holds_old(line)]
    assert len(old) >= 3
    assert all(is_marked(line) for line in old), old


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_entity", {"ref": "organisation:firma"}),
        ("dossier", {"ref": "organisation:firma"}),
        ("recall_facts_about", {"ref": "organisation:firma"}),
        ("get_fact_history", {"ref": "organisation:firma", "predicate": "address"}),
        ("state_at", {"ref": "organisation:firma", "at": "2030-04-02"}),
        ("find_entity", {"name": "firma"}),
        ("who_has", {"predicate": "address", "object": "+49 30 555"}),
        ("explain_change", {"fact": "organisation:firma.address"}),
    ],
)
def test_case_c22_the_other_tools(changed: Any, as_anna: Principal, name: str, arguments: dict[str, Any]) -> None:
    with clock.frozen(AFTER), translation.override("de"):
        answer = registry.run(name, principal=as_anna, arguments=arguments)
    assert all(is_marked(line) for line in answer.text.splitlines() if holds_old(line)), answer.text


@pytest.mark.parametrize("text", ["What is the support number of Firma?", "What is the support number?"])
def test_case_c22_context(changed: Any, as_anna: Principal, text: str) -> None:
    with clock.frozen(AFTER):
        now = build_context(principal=as_anna, text=text).text
        then = build_context(principal=as_anna, text=text, known_at=K1 + timedelta(days=1)).text
    assert NEW in now
    assert not holds_old(now)
    assert OLD in then
    assert NEW not in then


@pytest.mark.parametrize("query", QUESTIONS[:3])
def test_case_c22_page(changed: Any, page_for: Any, anna: User, query: str) -> None:
    with clock.frozen(AFTER):
        found = text_of(page_for(anna).get("/suche/", {"q": query}))
        then = text_of(page_for(anna).get("/suche/", {"q": query, "known_at": "2030-03-02T00:00:00Z"}))
    rows = found.split("<li ")[1:]
    old = [row for row in rows if holds_old(row.partition("</a>")[0].replace("<mark>", "").replace("</mark>", ""))]
    assert old
    assert not [row for row in old if 'class="over"' not in row or "1. April 2030" not in row]
    assert "5550102" not in then.partition("<main")[2]


@pytest.mark.parametrize("query", QUESTIONS)
def test_case_c22_then_the_old_one_held(changed: Any, query: str) -> None:
    with clock.frozen(AFTER):
        hits = changed.post("/api/world/search", {"query": query, "known_at": "2030-03-02"}).json()["hits"]
    assert any(OLD in hit["text"] for hit in hits)
    assert not any("5550102" in hit["text"] or hit["is_superseded"] for hit in hits)


def test_case_c22_an_answer_repeats_what_was_just_said(client_for: Any, anna: User, as_anna: Principal) -> None:
    api = client_for(anna)
    with clock.frozen(K1):
        first, *_ = say(
            as_anna,
            (K1, "user", "Mein Lieblingstee ist Rooibos."),
            (K1, "assistant", "Rooibos, wie schön: ich merke mir deinen Lieblingstee."),
            (K1, "assistant", "Welche Schokolade magst du zum Tee?"),
        )
        evidence = {"kind": "conversation_quote", "text": "Rooibos", "ref": f"msg:{first}"}
        propose(api, FIRM, fact("address", "Rooibos", subject="organisation:firma", evidence=evidence))
    with clock.frozen(K2):
        propose(api, fact("address", "Sencha", subject="organisation:firma", valid_from=K2.isoformat()))
    index.run(scope_ref=user_scope(anna.sub))
    with clock.frozen(AFTER):
        hits = api.post("/api/world/search", {"query": "Lieblingstee Rooibos Schokolade"}).json()["hits"]
    marked = {hit["text"][:7]: hit["is_superseded"] for hit in hits if hit["source_kind"] == "episode"}
    assert marked == {"Mein Li": True, "Rooibos": True, "Welche ": False}


def test_a_name_is_told_as_it_was_at_the_time(client_for: Any, anna: User) -> None:
    api = client_for(anna)
    with clock.frozen(K1):
        propose(api, FIRM)
    with clock.frozen(K2):
        propose(api, fact("name", "Nordwind", subject="organisation:firma"))
        entity = api.get("/api/world/entities/organisation:firma").json()
        api.post(f"/api/world/entities/{entity['id']}/aliases", {"alias": "Sturm AG"})
    index.run(scope_ref=user_scope(anna.sub))
    with clock.frozen(AFTER):
        asked = {"query": "Firma Organisation", "source_kinds": ["entity"]}
        (now,) = [hit for hit in api.post("/api/world/search", asked).json()["hits"] if "firma" in hit["ref"]]
        then = api.post("/api/world/search", {**asked, "known_at": "2030-03-02"}).json()["hits"]
    assert now["text"].splitlines()[:2] == ["Nordwind", "Sturm AG"]
    (before,) = [hit for hit in then if "firma" in hit["ref"]]
    assert before["text"].splitlines()[0] == "Firma"
    assert "Sturm" not in before["text"]
    assert "Nordwind" not in before["text"]
