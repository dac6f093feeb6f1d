"""Merging, splitting, undoing and conflicts through the REST door."""

from __future__ import annotations

from typing import Any


def _say(api: Any, *operations: dict[str, Any]) -> list[dict[str, Any]]:
    answer = api.post("/api/world/proposals", {"operations": list(operations)})
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def _person(name: str) -> dict[str, Any]:
    return {"op": "upsert_entity", "id_hint": f"person:#{name}", "kind": "person", "canonical_name": name}


def _fact(subject: str, predicate: str, value: Any, since: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "op": "assert_fact",
        "subject_ref": subject,
        "predicate": predicate,
        "object_value": value,
        "valid_from": since,
        **more,
    }


def test_two_are_merged_asked_about_and_split(api: Any) -> None:
    _say(api, _person("Ida Frost"), _person("I. Frost"))
    _say(api, _fact("person:ida-frost", "likes", "Tee"), _fact("person:i-frost", "likes", "Schach"))
    basis = api.get("/api/world/entities/person:i-frost/facts").json()["basis"]
    merged = api.post("/api/world/entities/person:i-frost/merge?into=person:ida-frost", {})
    assert merged.status_code == 200
    assert merged.json()["target_ref"] == "person:ida-frost"
    found = api.get("/api/world/entities/person:i-frost").json()
    assert (found["ref"], found["redirected_from"]) == ("person:ida-frost", merged.json()["source_id"])
    now = api.get("/api/world/entities/person:i-frost/facts?predicate=likes").json()["items"]
    assert {fact["object"]["label"] for fact in now} == {"Tee", "Schach"}
    then = api.get(f"/api/world/entities/person:i-frost/facts?predicate=likes&known_at={basis}").json()["items"]
    assert [fact["object"]["label"] for fact in then] == ["Schach"]
    split = api.post("/api/world/entities/person:i-frost/split", {})
    assert (split.status_code, split.json()["already_reversed"]) == (200, False)
    assert api.post("/api/world/entities/person:i-frost/split", {}).json()["already_reversed"] is True
    assert api.get("/api/world/entities/person:i-frost").json()["redirected_from"] is None


def test_an_event_is_undone_once(api: Any) -> None:
    _say(api, _person("Jon"))
    (first,) = _say(api, _fact("person:jon", "job_title", "Lehrer", "2020-01-01"))
    (second,) = _say(api, _fact("person:jon", "job_title", "Rektor", "2024-01-01"))
    undone = api.post(f"/api/world/events/{second['event_id']}/undo", {})
    assert undone.status_code == 200
    (held,) = api.get("/api/world/entities/person:jon/facts?predicate=job_title").json()["items"]
    assert (held["object"]["value"], held["origin_fact_id"]) == ("Lehrer", first["fact_id"])
    again = api.post(f"/api/world/events/{second['event_id']}/undo", {})
    assert (again.status_code, again.json()["code"]) == (409, "moved_since")


def test_what_claimed_the_same_instants_is_listed(api: Any) -> None:
    _say(api, _person("Kim"))
    _say(api, _fact("person:kim", "job_title", "Köchin", "2020-01-01", valid_to="2030-01-01"))
    (result,) = _say(api, _fact("person:kim", "job_title", "Bäckerin", "2024-01-01"))
    (conflict,) = api.get("/api/world/conflicts").json()["items"]
    assert (conflict["id"], conflict["is_open"]) == (result["conflict_id"], True)
    assert ("Bäckerin" in conflict["fact_statement"], "Köchin" in conflict["other_statement"]) == (True, True)
    api.post(f"/api/world/facts/{result['fact_id']}/invalidate", {})
    assert [one["is_open"] for one in api.get("/api/world/conflicts").json()["items"]] == [False]


def test_merging_what_is_missing_or_the_same_is_told(api: Any) -> None:
    _say(api, _person("Lea"))
    assert api.post("/api/world/entities/person:lea/merge?into=person:nobody", {}).status_code == 404
    same = api.post("/api/world/entities/person:lea/merge?into=person:lea", {})
    assert (same.status_code, same.json()["code"]) == (422, "merge_into_self")
    alone = api.post("/api/world/entities/person:lea/split", {})
    assert (alone.status_code, alone.json()["code"]) == (409, "never_merged")
