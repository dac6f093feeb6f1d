"""What an agent says waits for the person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.acceptance.api.support import LUNA, assert_problem, fact, propose


def test_an_agents_word_waits_and_is_a_fact_from_acceptance_on(api: Any, agent: Any) -> None:
    propose(api, LUNA)
    (waiting,) = propose(agent, fact("age", 3, valid_from="2026-01-01"))
    assert (waiting["outcome"], waiting["fact_id"]) == ("pending", None)
    assert api.get("/api/world/facts", {"predicate": "age"}).json()["items"] == []
    (item,) = api.get("/api/world/proposals").json()["items"]
    assert item["id"] == waiting["proposal_id"]
    assert item["proposed_by"].startswith("agent:assistant@")
    assert item["operation"]["predicate"] == "age"
    path = f"/api/world/proposals/{item['id']}"
    assert_problem(agent.post(f"{path}/accept"), 403, "person_required")
    assert_problem(agent.post(f"{path}/reject"), 403, "person_required")
    before = datetime.now(UTC)
    accepted = api.post(f"{path}/accept", {"reason": "stimmt"}).json()
    assert accepted["outcome"] == "committed"
    (age,) = api.get("/api/world/facts", {"predicate": "age"}).json()["items"]
    assert age["id"] == accepted["fact_id"]
    assert datetime.fromisoformat(age["recorded_at"]) >= before
    assert age["rank"] == 3
    assert api.get("/api/world/proposals").json()["items"] == []
    (decided,) = api.get("/api/world/proposals", {"state": "accepted"}).json()["items"]
    assert decided["fact_id"] == age["id"]
    problem = assert_problem(api.post(f"{path}/reject"), 409, "already_decided")
    assert problem["state"] == "accepted"


def test_what_was_rejected_is_not_suggested_again(api: Any, agent: Any) -> None:
    propose(api, LUNA)
    (waiting,) = propose(agent, fact("likes", "Wasser"))
    answered = api.post(f"/api/review-items/{waiting['proposal_id']}/answer", {"action": "reject"})
    assert answered.json()["outcome"] == "rejected"
    (again,) = propose(agent, fact("likes", "Wasser"))
    assert (again["outcome"], again["code"]) == ("rejected", "suppressed")
    assert api.get("/api/review-items").json() == {"items": [], "cursor": None}
    assert len(api.get("/api/review-items", {"status": "rejected"}).json()["items"]) == 1


def test_a_review_item_is_accepted_by_its_answer(api: Any, agent: Any) -> None:
    propose(api, LUNA)
    propose(agent, fact("likes", "Milch"), fact("likes", "Sonne"))
    first = api.get("/api/review-items", {"limit": 1}).json()
    accepted = api.post(f"/api/review-items/{first['items'][0]['id']}/answer", {"action": "accept"})
    assert accepted.json()["outcome"] == "committed"
    # The item behind the cursor is told though the one that marks the place is decided.
    rest = api.get("/api/review-items", {"limit": 1, "cursor": first["cursor"]}).json()
    assert [item["operation"]["object_value"] for item in rest["items"]] == ["Sonne"]
    assert rest["cursor"] is None


def test_answers_are_strict(api: Any, stranger: Any, agent: Any) -> None:
    propose(api, LUNA)
    (waiting,) = propose(agent, fact("likes", "Milch"))
    path = f"/api/review-items/{waiting['proposal_id']}/answer"
    assert_problem(api.post(path, {"action": "merge"}), 422, "invalid_choice", "action")
    assert_problem(api.post(path, {"action": "accept", "choice": 1}), 422, "unknown_field", "choice")
    foreign, missing = (
        stranger.post(f"/api/review-items/{id}/answer", {"action": "accept"})
        for id in (waiting["proposal_id"], uuid4())
    )
    assert_problem(foreign, 404, "not_found")
    assert_problem(missing, 404, "not_found")
    assert stranger.get("/api/review-items").json()["items"] == []


def test_a_proposal_that_was_overtaken_is_shown_anew(api: Any, agent: Any) -> None:
    propose(api, LUNA)
    (waiting,) = propose(agent, fact("age", 3, valid_from="2026-01-01"))
    propose(api, fact("age", 4, valid_from="2026-01-01"))
    assert_problem(api.post(f"/api/world/proposals/{waiting['proposal_id']}/accept"), 409, "stale")
    (item,) = api.get("/api/world/proposals").json()["items"]
    assert item["present"]
