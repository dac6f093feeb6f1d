"""Following facts: who is around, what held together, what changed, what came of it, and taking it back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.api.support import LUNA, NUERNBERG, assert_problem, fact, propose, relation

BILL = {"op": "upsert_entity", "id_hint": "person:bill", "kind": "person", "canonical_name": "Bill"}
JEFF = {"op": "upsert_entity", "id_hint": "person:jeff", "kind": "person", "canonical_name": "Jeff"}


def get(client: Any, path: str, **params: Any) -> Any:
    response = client.get(f"/api/world{path}", params)
    assert response.status_code == 200, response.content
    return response.json()


@pytest.fixture
def town(api: Any) -> None:
    """Luna is Bill's, Bill lives in Nürnberg, and Jeff too since 2025."""
    propose(
        api,
        LUNA,
        NUERNBERG,
        BILL,
        JEFF,
        relation("pet:luna", "owned_by", "person:bill", valid_from="2020-01-01"),
        relation("person:bill", "lives_in", "place:nuernberg", valid_from="2020-01-01"),
        relation("person:jeff", "lives_in", "place:nuernberg", valid_from="2025-01-01"),
        relation("person:jeff", "likes", "pet:luna", polarity=False),
    )


def around(answer: Any) -> dict[str, int]:
    return {item["entity"]["ref"]: item["distance"] for item in answer["items"]}


@pytest.mark.usefixtures("town")
def test_neighbors_are_found_in_both_directions_as_deep_as_asked(api: Any) -> None:
    one = get(api, "/entities/pet:luna/neighbors")
    assert around(one) == {"person:bill": 1}
    assert [row["predicate"] for row in one["facts"]] == ["owned_by"]
    assert one["complete"]
    three = get(api, "/entities/pet:luna/neighbors", depth=3)
    assert around(three) == {"person:bill": 1, "place:nuernberg": 2, "person:jeff": 3}
    assert around(get(api, "/entities/pet:luna/neighbors", depth=3, valid_at="2022-01-01")) == {
        "person:bill": 1,
        "place:nuernberg": 2,
    }
    assert around(get(api, "/entities/place:nuernberg/neighbors", predicate="lives_in")) == {
        "person:bill": 1,
        "person:jeff": 1,
    }
    assert around(get(api, "/entities/pet:luna/neighbors", depth=3, known_at="2020-01-01")) == {}
    assert get(api, "/entities/pet:luna/neighbors", depth=2, known_at=three["basis"])["basis"] == three["basis"]


def test_neighbors_that_cannot_be_told_are_refused(api: Any, stranger: Any) -> None:
    propose(api, LUNA)
    assert_problem(api.get("/api/world/entities/pet:luna/neighbors", {"depth": 4}), 422, "out_of_range", "depth")
    assert_problem(stranger.get("/api/world/entities/pet:luna/neighbors"), 404, "not_found")


def test_line_14_facts_that_held_together(api: Any, stranger: Any) -> None:
    """Bill V[2016,2019), Jeff V[2018,2020): together [2018,2019), and before Jeff was known nothing."""
    propose(api, BILL, JEFF, NUERNBERG)
    bill, jeff = (
        relation(f"person:{who}", "lives_in", "place:nuernberg", valid_from=f"{start}-01-01", valid_to=f"{end}-01-01")
        for who, start, end in (("bill", "2016", "2019"), ("jeff", "2018", "2020"))
    )
    ids = [propose(api, bill)[0]["fact_id"]]
    basis = get(api, "/facts", predicate="lives_in")["basis"]
    ids += [propose(api, jeff)[0]["fact_id"]]
    found = get(api, "/facts/overlap", a=ids[0], b=ids[1])
    (together,) = found["items"]
    assert (together["valid_from"], together["valid_to"]) == ("2017-12-31T23:00:00Z", "2018-12-31T23:00:00Z")
    assert (together["first"]["subject_ref"], together["second"]["subject_ref"]) == ("person:bill", "person:jeff")
    assert get(api, "/facts/overlap", a=ids[0], b=ids[1], known_at=basis)["items"] == []
    # One that begins where the other ends only follows it.
    (after,) = propose(
        api,
        relation("person:jeff", "likes", "person:bill", valid_from="2019-01-01"),
    )
    assert get(api, "/facts/overlap", a=ids[0], b=after["fact_id"])["items"] == []
    assert_problem(stranger.get("/api/world/facts/overlap", {"a": ids[0], "b": ids[1]}), 404, "not_found")
    assert_problem(api.get("/api/world/facts/overlap", {"a": ids[0]}), 422, "missing", "b")


def test_pieces_of_one_statement_overlap_as_one(api: Any) -> None:
    propose(api, BILL, JEFF, NUERNBERG)
    (whole,) = propose(api, fact("age", 1, subject="person:bill", valid_from="2010-01-01"))
    propose(api, fact("age", 2, subject="person:bill", valid_from="2012-01-01", valid_to="2014-01-01"))
    (other,) = propose(api, fact("age", 9, subject="person:jeff", valid_from="2011-01-01", valid_to="2015-01-01"))
    items = get(api, "/facts/overlap", a=whole["fact_id"], b=other["fact_id"])["items"]
    assert [(item["valid_from"][:4], item["valid_to"][:4]) for item in items] == [("2010", "2011"), ("2013", "2014")]


def test_the_timeline_names_what_is_worth_asking_for(api: Any) -> None:
    propose(api, LUNA)
    propose(api, fact("feeding_time_morning", "07:00", valid_from="2026-03-01"))
    propose(api, fact("feeding_time_morning", "08:00", valid_from="2026-06-01"))
    timeline = get(api, "/entities/pet:luna/timeline")
    assert [point["at"] for point in timeline["valid"]][:2] == ["2026-02-28T23:00:00Z", "2026-05-31T22:00:00Z"]
    for point in timeline["known"]:
        assert get(api, "/entities/pet:luna/facts", known_at=point["at"])["items"]


def test_changes_tell_what_came_and_went_page_by_page(api: Any, stranger: Any) -> None:
    propose(api, LUNA)
    propose(api, fact("feeding_time_morning", "07:00", valid_from="2026-03-01"))
    propose(api, fact("feeding_time_morning", "08:00", valid_from="2026-06-01"))
    path = "/entities/pet:luna/changes"
    whole = get(api, path)["items"]
    told = [(item["kind"], item["fact"]["object"]["value"], item["fact"]["valid_to"] is None) for item in whole]
    assert sorted(told[:3]) == [("believed", "07:00", False), ("believed", "08:00", True), ("closed", "07:00", True)]
    assert told[3:] == [("believed", "07:00", True), ("believed", "Luna", True)]
    paged: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = get(api, path, limit=2, **cursor)
        paged += page["items"]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert paged == whole
    assert_problem(stranger.get(f"/api/world{path}"), 404, "not_found")


def test_effects_of_a_run_and_of_an_event(api: Any, stranger: Any) -> None:
    propose(api, LUNA, run_id="first")
    (said,) = propose(api, fact("likes", "Tuna"), run_id="second")
    (event,) = get(api, "/effects", run="second")["items"]
    assert (event["run_id"], event["fact_ids"], event["closed_fact_ids"]) == ("second", [said["fact_id"]], [])
    undone = api.post(f"/api/world/events/{event['id']}/undo").json()
    chain = get(api, "/effects", event=event["id"])["items"]
    assert [(one["id"], one["caused_by_event_id"]) for one in chain] == [
        (event["id"], None),
        (undone["event_id"], event["id"]),
    ]
    assert chain[1]["closed_fact_ids"] == [said["fact_id"]]
    assert get(api, "/effects", run="unheard of")["items"] == []
    assert get(stranger, "/effects", run="second")["items"] == []
    assert_problem(stranger.get("/api/world/effects", {"event": event["id"]}), 404, "not_found")
    assert_problem(api.get("/api/world/effects"), 422, "conflicting_parameters")


def test_a_closed_fact_is_restored(api: Any, agent: Any, stranger: Any) -> None:
    propose(api, LUNA)
    (said,) = propose(api, fact("likes", "Tuna", valid_from="2026-03-01"))
    path = f"/api/world/facts/{said['fact_id']}"
    assert_problem(api.post(f"{path}/restore"), 409, "still_believed")
    assert api.post(f"{path}/invalidate").status_code == 200
    assert_problem(agent.post(f"{path}/restore"), 403, "person_required")
    assert_problem(stranger.post(f"{path}/restore"), 404, "not_found")
    restored = api.post(f"{path}/restore", {"reason": "doch"}).json()
    again = get(api, f"/facts/{restored['fact_ids'][0]}")
    assert (again["object"]["value"], again["valid_from"], again["origin_fact_id"]) == (
        "Tuna",
        "2026-02-28T23:00:00Z",
        said["fact_id"],
    )
    assert_problem(api.post(f"{path}/restore"), 409, "moved_since")


def test_an_answer_about_fixed_instants_need_not_come_twice(api: Any) -> None:
    propose(api, LUNA)
    path = "/api/world/entities/pet:luna/facts?as_of=2026-01-01T00:00:00Z"
    first = api.get(path)
    again = api.get(path, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    now = "/api/world/entities/pet:luna/facts"
    assert api.get(now, **{"If-None-Match": api.get(now).headers["ETag"]}).status_code == 200
    propose(api, fact("likes", "Tuna"))
    assert api.get("/api/world/entities/pet:luna").headers["ETag"] != first.headers["ETag"]
