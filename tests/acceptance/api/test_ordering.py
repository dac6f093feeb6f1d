"""What was remembered is proposed, and what agents say differently is asked about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gedaechtnis.identity.models import User
from tests.acceptance.api.support import assert_problem
from tests.conftest import ApiClient

PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."


def test_entries_are_proposed_and_the_person_decides(anna: User, client_for: Callable[..., ApiClient]) -> None:
    builder, planner = (client_for(anna, agent_role=role) for role in ("builder", "planner"))
    for client, text in ((builder, PORT), (builder, PORT.upper()), (planner, OTHER_PORT)):
        assert client.post("/api/knowledge/hot", {"text": text, "domain": "build"}).status_code == 201
    done = builder.post("/api/knowledge/consolidate", {}).json()
    assert {name: done[name] for name in ("promoted", "merged", "known", "dropped", "left")} == {
        "promoted": 1, "merged": 1, "known": 0, "dropped": 0, "left": 0,
    }  # fmt: skip
    person = client_for(anna)
    assert person.post(f"/api/world/proposals/{done['proposals'][0]}/accept", {}).status_code == 200
    merged = builder.get("/api/knowledge/hot?state=merged").json()["items"][0]
    assert merged["proposal_id"] == done["proposals"][0]
    waiting = planner.post("/api/knowledge/consolidate", {"limit": 1}).json()["proposals"]
    assert person.get("/api/world/proposals").json()["items"][0]["kind"] == "conflict"
    assert planner.post("/api/knowledge/harmonize", {}).json()["raised"] == [], "the person is asked already"
    assert person.post(f"/api/world/proposals/{waiting[0]}/accept", {"keep": "both"}).status_code == 200


@pytest.mark.parametrize("path", ["/api/knowledge/consolidate", "/api/knowledge/harmonize"])
def test_who_only_reads_is_refused_and_nonsense_too(
    anna: User, client_for: Callable[..., ApiClient], path: str
) -> None:
    assert_problem(client_for(anna, read_only=True).post(path, {}), 403, "read_only")
    for body in ({"limit": 0}, {"limit": 10**9}, {"nonsense": 1}, {"session_id": "\x00", "domain": "\x00"}):
        assert client_for(anna).post(path, body).status_code == 422
    assert client_for(anna).post(path, {}, **{"Gedaechtnis-Scope": "global"}).status_code in (403, 404)
