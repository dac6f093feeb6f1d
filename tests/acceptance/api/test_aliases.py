"""Other names over HTTP: given for a time, shared, ended; what they named before stays named."""

from __future__ import annotations

from typing import Any

from tests.acceptance.api.support import assert_problem, fact, propose

PEOPLE = [
    {"op": "upsert_entity", "id_hint": f"person:{name.lower()}", "kind": "person", "canonical_name": name}
    for name in ("Christian", "Christine", "Otto", "Ghostline")
]


def add(api: Any, ref: str, alias: str, **more: Any) -> Any:
    return api.post(f"/api/world/entities/{ref}/aliases", {"alias": alias, **more})


def names(api: Any, ref: str, **moment: str) -> list[tuple[str, str | None]]:
    answer = api.get(f"/api/world/entities/{ref}/aliases", moment)
    assert answer.status_code == 200, answer.content
    return [(item["alias"], item["valid_to"]) for item in answer.json()["items"]]


def test_a_name_is_given_for_a_time_and_passed_on(api: Any) -> None:
    propose(api, *PEOPLE)
    assert add(api, "person:christian", "Chris", valid_to="2026-05-01").json()["outcome"] == "committed"
    assert add(api, "person:christine", "Chris", valid_from="2026-05-01").json()["outcome"] == "committed"
    assert add(api, "person:christine", "Chris", valid_from="2026-06-01").json()["outcome"] == "restated"
    assert names(api, "person:christian", valid_at="2026-04-01") == [("Chris", "2026-04-30T22:00:00Z")]
    assert names(api, "person:christian", valid_at="2026-06-01") == []
    assert api.get("/api/world/resolve", {"ref": "Chris"}).json()["ref"] == "person:christine"
    assert_problem(add(api, "person:otto", "\u200b"), 422, "empty_name", "alias")
    assert_problem(add(api, "person:otto", "O", valid_from="2026-05-01", valid_to="2026-04-01"), 422, "empty_interval")
    assert_problem(add(api, "person:nobody", "O"), 404, "not_found")


def test_case_c29_an_alias_ends_and_what_it_named_stays(api: Any, agent: Any, stranger: Any) -> None:
    propose(api, *PEOPLE)
    add(api, "person:otto", "Ottl")
    (said,) = propose(api, fact("likes", "Jazz", subject="Ottl"))
    (alias,) = api.get("/api/world/entities/person:otto/aliases").json()["items"]
    path = f"/api/world/aliases/{alias['id']}"
    assert_problem(agent.delete(path), 403, "person_required")
    assert_problem(stranger.delete(path), 404, "not_found")
    ended = api.delete(path)
    assert ended.status_code == 200
    assert ended.json()["left"]["valid_to"] is not None
    assert api.get("/api/world/resolve", {"ref": "Ottl"}).json()["step"] != "exact"
    assert api.get(f"/api/world/facts/{said['fact_id']}").json()["subject_ref"] == "person:otto"
    assert_problem(api.delete(path), 409, "already_ended")
    assert names(api, "person:otto", known_at=alias["recorded_at"]) == [("Ottl", None)]
    left = f"/api/world/aliases/{ended.json()['left']['id']}"
    assert api.delete(f"{left}?mode=retract").json() == {"left": None}
    assert names(api, "person:otto") == []


def test_case_c29_only_a_person_gives_away_anothers_name(api: Any, agent: Any) -> None:
    propose(api, *PEOPLE)
    assert add(agent, "person:otto", "Ghostline").json()["outcome"] == "pending"
    assert names(api, "person:otto") == []
    assert add(api, "person:otto", "Ghostline").json()["outcome"] == "committed"
    assert api.get("/api/world/resolve", {"ref": "Ghostline"}).json()["ref"] == "person:ghostline"


def test_a_name_ends_in_the_past_but_not_before_it_began(api: Any) -> None:
    propose(api, *PEOPLE)
    add(api, "person:otto", "Ottl", valid_from="2026-02-01")
    (alias,) = api.get("/api/world/entities/person:otto/aliases").json()["items"]
    assert_problem(api.delete(f"/api/world/aliases/{alias['id']}?at=2026-02-01"), 422, "before_start", "at")
    assert api.delete(f"/api/world/aliases/{alias['id']}?at=2026-04-01").status_code == 200
    assert len(names(api, "person:otto", valid_at="2026-03-01")) == 1
    assert names(api, "person:otto", valid_at="2026-06-01") == []
