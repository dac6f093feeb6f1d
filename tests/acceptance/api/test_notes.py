"""Notes, observations, the hot tier and grants at the REST door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import AuditEntry, User
from tests.acceptance.api.support import assert_problem

NOTES, SEEN, HOT, GRANTS = (f"/api/knowledge/{name}" for name in ("notes", "observations", "hot", "grants"))


@pytest.fixture
def shared(anna: User, ben: User) -> str:
    """A group of Anna's that Ben edits."""
    group = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=group.id, username="ben", role="editor")
    return f"group:{group.id}"


def test_notes_are_written_by_version(anna: User, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="reviewer")
    assert agent.get(NOTES).json() == {"agent": "reviewer", "text": "", "version": 0, "updated_at": None}
    assert agent.put(NOTES, {"text": "eins"}).json()["version"] == 1
    conflict = assert_problem(agent.put(NOTES, {"text": "zwei"}), 409, "version_conflict", "based_on_version")
    assert (conflict["text"], conflict["version"]) == ("eins", 1)
    assert agent.put(NOTES, {"text": "zwei", "based_on_version": 1}).json()["text"] == "zwei"
    long = assert_problem(agent.put(NOTES, {"text": "x" * 8_001, "based_on_version": 2}), 422, "notes_too_long", "text")
    assert (long["length"], long["limit"]) == (8_001, 8_000)
    assert_problem(agent.put(NOTES, '{"text": "a\\u0000"}'), 422, "invalid_text")
    assert_problem(agent.put(NOTES, {"text": "x", "based_on_version": 2**40}), 422, "out_of_range")
    assert client_for(anna).get(f"{NOTES}?agent=reviewer").json()["text"] == "zwei"
    assert client_for(anna).put(f"{NOTES}?agent=reviewer", {"text": "drei", "based_on_version": 2}).status_code == 200
    assert agent.get(NOTES).json()["text"] == "drei"


def test_nobody_else_reads_or_writes_them(
    anna: User, ben: User, clara: User, shared: str, client_for: Callable[..., Any]
) -> None:
    in_group = {"Gedaechtnis-Scope": shared}
    hers = client_for(anna, agent_role="reviewer")
    hers.put(NOTES, {"text": "Annas"}, **in_group)
    hers.post(SEEN, {"text": "Gesehen"}, **in_group)
    entry = hers.post(HOT, {"text": "Merken"}, **in_group).json()
    his = client_for(ben, agent_role="reviewer")
    assert his.get(f"{NOTES}?scope_ref={shared}").json()["text"] == ""
    for path in (SEEN, HOT):
        assert his.get(f"{path}?scope_ref={shared}").json() == {"items": []}
        assert_problem(client_for(clara).get(f"{path}?scope_ref={shared}"), 403, "scope_denied")
    for id in (entry["id"], uuid4()):
        assert_problem(his.delete(f"{HOT}/{id}"), 404, "not_found")
    other = client_for(anna, agent_role="planner")
    assert_problem(other.get(f"{NOTES}?scope_ref={shared}&agent=reviewer"), 403, "not_your_notes", "agent")
    assert_problem(other.delete(f"{HOT}/{entry['id']}"), 404, "not_found")
    assert_problem(client_for(clara).put(NOTES, {"text": "x"}, **in_group), 403, "scope_denied")
    assert hers.get(f"{NOTES}?scope_ref={shared}").json()["text"].startswith("Annas\n- ")
    assert hers.delete(f"{HOT}/{entry['id']}").status_code == 204
    assert hers.get(f"{HOT}?scope_ref={shared}").json() == {"items": []}


def test_observations_and_entries_are_listed(anna: User, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="reviewer")
    seen = agent.post(SEEN, {"text": "Gesehen"})
    assert seen.status_code == 201
    assert seen.json()["ref"] == f"obs:{seen.json()['id']}"
    assert agent.get(SEEN).json()["items"] == [seen.json()]
    made = agent.post(HOT, {"text": "Merken", "domain": "Stil", "repo": "haus", "session_id": "s"})
    assert made.status_code == 201
    assert made.json()["domain"] == "repo:haus/stil"
    assert agent.get(f"{HOT}?session_id=s").json()["items"] == [made.json()]
    assert agent.get(f"{HOT}?state=dropped").json()["items"] == []
    assert_problem(agent.post(HOT, {"text": "x", "memory_type": "policy"}), 422, "invalid_memory_type", "memory_type")
    assert_problem(agent.get(f"{HOT}?state=cold"), 422, "invalid_choice")


def test_a_token_that_only_reads_writes_nothing(anna: User, client_for: Callable[..., Any]) -> None:
    reader = client_for(anna, agent_role="reviewer", read_only=True)
    for path in (NOTES, SEEN, HOT, GRANTS):
        assert reader.get(path).status_code == 200
    for response in (
        reader.put(NOTES, {"text": "x"}),
        reader.post(SEEN, {"text": "x"}),
        reader.post(HOT, {"text": "x"}),
        reader.put(GRANTS, {"domain": "a", "permission": "none"}),
    ):
        assert_problem(response, 403, "read_only")


def test_grants_are_set_by_who_leads(
    anna: User, ben: User, clara: User, shared: str, client_for: Callable[..., Any]
) -> None:
    in_group, asked = {"Gedaechtnis-Scope": shared}, {"domain": "Stil", "agent_role": "planner", "permission": "read"}
    for client in (client_for(ben), client_for(anna, agent_role="planner")):
        assert_problem(client.put(GRANTS, asked, **in_group), 403, "not_owner")
    assert_problem(client_for(clara).put(GRANTS, asked, **in_group), 403, "scope_denied")
    grant = client_for(anna).put(GRANTS, asked, **in_group).json()["grant"]
    assert (grant["domain"], grant["permission"], grant["scope_ref"]) == ("stil", "read", shared)
    assert client_for(ben).get(f"{GRANTS}?scope_ref={shared}").json() == {"items": [grant]}
    assert client_for(anna).get(GRANTS).json() == {"items": []}
    assert client_for(anna).put(GRANTS, {**asked, "permission": None}, **in_group).json() == {"grant": None}
    assert client_for(ben).get(f"{GRANTS}?scope_ref={shared}").json() == {"items": []}


def test_what_an_agent_reads_of_it_is_on_record(anna: User, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="reviewer")
    for path in (NOTES, SEEN, HOT, GRANTS):
        agent.get(path)
    routes = AuditEntry.objects.filter(kind="read").order_by("at", "id")
    assert [entry.details["route"] for entry in routes] == [
        "read_notes",
        "list_observations",
        "list_hot",
        "list_grants",
    ]
