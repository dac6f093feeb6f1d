"""The tools at the REST door: the same principal, the same limits, the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from gedaechtnis.identity import groups
from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.models import AuditEntry, User
from gedaechtnis.tools import registry
from tests.acceptance.api.support import LUNA, assert_problem, fact, propose

PROPOSING = {
    "propose_fact",
    "supersede_fact",
    "forget",
    "propose_policy",
    "supersede_policy",
    "consolidate_memory",
    "harmonize_memory",
}
KEEPING = {"update_my_notes", "record_observation", "remember"}


@pytest.fixture
def api(anna: User, client_for: Callable[..., Any]) -> Any:
    client = client_for(anna)
    propose(client, LUNA, fact("likes", "Lachs"), fact("allergic_to", "Huhn"))
    return client


def use(client: Any, tool: str, /, **arguments: Any) -> Any:
    return client.post(f"/api/tools/{tool}", arguments)


def told(client: Any, tool: str, /, **arguments: Any) -> str:
    response = use(client, tool, **arguments)
    assert response.status_code == 200, response.content
    return str(response.json()["text"])


def test_every_tool_is_listed_with_its_forms_in_the_callers_language(api: Any) -> None:
    listed = api.get("/api/tools").json()["items"]
    assert [tool["name"] for tool in listed] == list(registry.TOOLS)
    german, english = listed[0], api.get("/api/tools", **{"Accept-Language": "en"}).json()["items"][0]
    assert german["title"] == "Etwas nach Namen finden"
    assert english["title"] == "Find a thing by name"
    assert german["input_schema"]["properties"]["kind"]["description"].startswith("Nur von dieser Art")
    assert german["input_schema"]["additionalProperties"] is False
    assert {tool["name"] for tool in listed if not tool["is_reading"]} == PROPOSING | KEEPING
    assert {tool["name"] for tool in listed if tool["is_destructive"]} == {
        "supersede_fact", "forget", "supersede_policy",
    }  # fmt: skip


def test_an_answer_is_text_and_the_same_as_data(api: Any) -> None:
    answer = use(api, "recall_facts_about", ref="pet:luna", predicate="likes").json()
    assert answer["text"].startswith("- pet:luna.likes = Lachs · 👤")
    assert [item["value"] for item in answer["data"]["items"]] == ["Lachs"]
    assert answer["data"]["total"] == 1


def test_a_persons_word_counts_and_an_agents_waits(api: Any, anna: User, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="assistant")
    waiting = use(agent, "propose_fact", subject="pet:luna", predicate="breed", object="Maine Coon").json()
    assert waiting["data"]["outcome"] == "pending"
    assert "breed" not in told(agent, "get_entity", ref="pet:luna")
    kept = use(api, "propose_fact", subject="pet:luna", predicate="breed", object="Siam").json()
    assert kept["data"]["outcome"] == "committed"
    assert "breed = Siam" in told(agent, "get_entity", ref="pet:luna")


def test_a_person_replaces_and_forgets(api: Any) -> None:
    use(api, "supersede_fact", fact="pet:luna.likes", object="Thunfisch")
    assert "likes = Thunfisch" in told(api, "get_entity", ref="pet:luna")
    assert "Lachs" not in told(api, "get_entity", ref="pet:luna")
    use(api, "forget", fact="pet:luna.likes", how="was_wrong")
    assert "likes" not in told(api, "get_entity", ref="pet:luna")
    assert "Thunfisch" in told(api, "get_fact_history", ref="pet:luna", predicate="likes", beliefs="all")


def test_something_new_comes_with_what_is_said_of_it(api: Any) -> None:
    answer = use(api, "propose_fact", subject="Pauli", subject_kind="pet", predicate="owned_by", object="me")
    assert answer.json()["data"]["outcome"] == "committed"
    assert "→ owned_by person:anna" in told(api, "get_entity", ref="pet:pauli")


def test_the_same_run_proposes_once(api: Any) -> None:
    asked = {"subject": "pet:luna", "predicate": "eats", "object": "Gras", "run_id": "r-7"}
    first, again = (use(api, "propose_fact", **asked).json()["data"] for _ in range(2))
    assert (first["outcome"], again["outcome"]) == ("committed", "duplicate")
    assert again["fact_id"] == first["fact_id"]
    assert_problem(use(api, "propose_fact", **{**asked, "object": "Heu"}), 409, "run_id_reused")


def test_a_token_that_only_reads_is_offered_and_allowed_no_more(
    api: Any, anna: User, client_for: Callable[..., Any]
) -> None:
    reader = client_for(anna, read_only=True)
    assert {tool["name"] for tool in reader.get("/api/tools").json()["items"]} == set(
        registry.TOOLS
    ) - PROPOSING - KEEPING
    assert "Lachs" in told(reader, "get_entity", ref="pet:luna")
    for name, arguments in (
        ("propose_fact", {"subject": "pet:luna", "predicate": "likes", "object": "Tee"}),
        ("supersede_fact", {"fact": "pet:luna.likes", "object": "Tee"}),
        ("forget", {"fact": "pet:luna.likes"}),
        ("update_my_notes", {"text": "x"}),
        ("record_observation", {"text": "x"}),
        ("remember", {"text": "x"}),
        ("consolidate_memory", {}),
        ("harmonize_memory", {}),
        ("propose_policy", {"rule": "Neu"}),
        ("supersede_policy", {"policy": "policy:quiet", "rule": "Neu"}),
    ):
        assert_problem(use(reader, name, **arguments), 403, "read_only")
    assert_problem(reader.post("/api/world/proposals", {"operations": []}), 403, "read_only")


def test_a_stranger_is_told_nothing_by_any_tool(api: Any, clara: User, client_for: Callable[..., Any]) -> None:
    stranger, own = client_for(clara), use(api, "recall_facts_about", ref="pet:luna").json()["data"]["items"][0]
    run = "run:" + api.get(f"/api/world/facts/{own['id']}").json()["run_id"]
    asked: dict[str, dict[str, Any]] = {
        "find_entity": {"name": "luna"},
        "get_entity": {"ref": "pet:luna"},
        "recall_facts_about": {"ref": "pet:luna"},
        "get_fact_history": {"ref": "pet:luna", "predicate": "likes"},
        "get_neighbors": {"ref": "pet:luna"},
        "state_at": {"ref": "pet:luna", "at": "2026-06-07"},
        "state_as_known_at": {"ref": "pet:luna", "at": "2026-06-07"},
        "effects_of": {"of": run},
        "explain_change": {"fact": f"fact:{own['id']}"},
        "who_has": {"predicate": "likes", "object": "Lachs"},
        "search_world_memory": {"query": "Lachs"},
        "dossier": {"ref": "pet:luna"},
        "list_memory_conflicts": {},
        "propose_fact": {"subject": "pet:luna", "predicate": "likes", "object": "Gras"},
        "supersede_fact": {"fact": f"fact:{own['id']}", "object": "Gras"},
        "forget": {"fact": f"fact:{own['id']}"},
        "read_my_notes": {},
        "update_my_notes": {"text": "x"},
        "record_observation": {"text": "x"},
        "remember": {"text": "x"},
        "consolidate_memory": {},
        "harmonize_memory": {},
        "get_preamble": {"task": "Was mag Luna, Lachs oder Huhn?"},
        "list_policies": {},
        "propose_policy": {"rule": "Antworte knapp"},
        "supersede_policy": {"policy": f"fact:{own['id']}", "rule": "Antworte knapp"},
    }
    for name in registry.TOOLS:
        response = use(stranger, name, **asked[name])
        assert response.status_code in (200, 404, 422), (name, response.content)
        assert "👤" not in response.json().get("text", "")
        assert response.json().get("data", {}).get("items", []) == []
    assert "Lachs" in told(api, "get_entity", ref="pet:luna")


def test_a_group_is_read_by_its_members_only(
    api: Any, anna: User, ben: User, clara: User, client_for: Callable[..., Any]
) -> None:
    group = groups.create_group(user=anna, name="WG")
    groups.add_member(user=anna, group_id=group.id, username="ben", role="editor")
    scope = f"group:{group.id}"
    propose(api, {**LUNA, "canonical_name": "Mohrle", "id_hint": "pet:mohrle"}, **{"Gedaechtnis-Scope": scope})
    assert "pet:mohrle" in told(client_for(ben), "find_entity", name="Mohrle")
    assert "pet:mohrle" not in told(client_for(clara), "find_entity", name="Mohrle")


def test_a_low_clearance_is_not_told_what_is_sensitive(api: Any, anna: User, client_for: Callable[..., Any]) -> None:
    low = client_for(anna, agent_role="assistant", clearance=1)
    for name in ("get_entity", "dossier", "recall_facts_about"):
        assert "allergic_to" in told(api, name, ref="pet:luna")
        assert "allergic_to" not in told(low, name, ref="pet:luna")


def test_what_an_agent_reads_is_recorded_once_by_id(api: Any, anna: User, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="assistant")
    told(agent, "get_entity", ref="pet:luna")
    use(agent, "get_entity", ref="pet:nobody")
    told(agent, "find_entity", name="Luna")
    use(agent, "forget", fact="pet:luna.likes")
    entries = list(AuditEntry.objects.filter(kind=Kind.READ).order_by("at", "id"))
    luna = api.get("/api/world/entities/pet:luna").json()["id"]
    assert [entry.details["route"] for entry in entries] == [
        *["tools.get_entity"] * 2,
        *("tools.find_entity", "tools.forget"),
    ]
    assert [entry.details["status"] for entry in entries] == ["200", "404", "200", "200"]
    assert entries[0].details["entity"] == luna
    assert entries[2].details["scope"] == "all"
    assert all(entry.address_hash for entry in entries)
    assert {entry.acted_by for entry in entries} == {f"agent:assistant@user:{anna.sub}"}


def test_no_tool_of_that_name(api: Any) -> None:
    assert_problem(use(api, "drop_tables"), 404, "unknown_tool")


@pytest.mark.parametrize("body", ["[]", '"luna"', "null"])
def test_arguments_are_an_object(api: Any, body: str) -> None:
    assert api.post("/api/tools/find_entity", body).status_code == 422


def test_without_a_token_nothing_is_listed_or_run(api: Any, client_for: Callable[..., Any]) -> None:
    nobody = client_for(None)
    for response in (nobody.get("/api/tools"), use(nobody, "find_entity", name="luna")):
        assert_problem(response, 401, "authentication_required")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_page_needs_its_csrf_token(api: Any, anna: User) -> None:
    page = Client(enforce_csrf_checks=True)
    page.force_login(anna)
    assert page.get("/api/tools").status_code == 200
    response = page.post("/api/tools/find_entity", "{}", content_type="application/json")
    assert_problem(response, 403, "csrf_failed")


def test_what_is_written_almost_right_is_put_right(api: Any) -> None:
    propose(api, LUNA, fact("likes", "Lachs"))
    assert told(api, "who_has", predicate="like", object="Lachs").splitlines()[1:] == [
        "Ähnlich heißen diese Prädikate: likes, dislikes."
    ]
    assert "likes" in told(api, "recall_facts_about", ref="pet:luna", predicate="lieks")
    assert told(api, "recall_facts_about", ref="pet:luna", predicate="breed") == (
        "Keine aktiven Tatsachen zu pet:luna.breed gefunden."
    )
    said = told(api, "propose_fact", subject="pet:luna", predicate="lieks", object="Thunfisch")
    assert said.splitlines()[1:] == ["Ähnlich heißen diese Prädikate: likes, lives_in, dislikes."]
    body = assert_problem(use(api, "state_at", ref="pet:luna", at="May 2023"), 422, "invalid_time")
    assert "2026-06-07" in body["detail"]
