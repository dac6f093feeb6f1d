"""Writing and reading the graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from gedaechtnis.identity.models import User
from tests.acceptance.api.support import LUNA, NUERNBERG, assert_problem, fact, propose, relation

FACT_FIELDS = {
    *("id", "subject_ref", "subject_label", "predicate", "predicate_label", "polarity", "object", "statement"),
    *("status", "valid_from", "valid_to", "valid_from_precision", "valid_to_precision", "recorded_at"),
    *("superseded_at", "observed_at", "learned_at", "last_touched_at", "confidence", "source"),
    *("source_trust_tier", "memory_type"),
    *("rank", "scope_ref", "applies_to_ref", "supersedes_fact_id", "closed_by_fact_id", "closed_reason"),
    *("origin_fact_id", "run_id", "reason", "evidence", "mentions", "domain", "topic"),
}


def test_the_vocabulary_is_told_in_the_readers_language(api: Any) -> None:
    kinds = {kind["key"]: kind for kind in api.get("/api/world/kinds").json()["items"]}
    assert kinds["pet"]["label"] == "Haustier"
    english = api.get("/api/world/kinds", **{"Accept-Language": "en"}).json()["items"]
    assert {kind["key"]: kind["label"] for kind in english}["place"].lower() == "place"
    predicates = {term["key"]: term for term in api.get("/api/world/predicates").json()["items"]}
    assert predicates["lives_in"]["cardinality"] == "functional"
    assert predicates["lives_in"]["inverse"] == "home_of"
    assert api.get("/api/world/event-types").json()["items"]


def test_a_fact_looks_as_the_contract_says(api: Any) -> None:
    results = propose(
        api,
        LUNA,
        NUERNBERG,
        relation("pet:luna", "located_in", "place:nuernberg", valid_from="2026-03-01T00:00:00+01:00"),
        fact("breed", "Perser", evidence={"kind": "note", "text": "Impfpass"}),
        run_id="r-1",
    )
    assert [result["outcome"] for result in results] == ["committed"] * 4
    assert results[0]["entity_ref"] == "pet:luna"
    answer = api.get("/api/world/entities/pet:luna/facts").json()
    assert set(answer) == {"items", "valid_at", "known_at", "basis"}
    facts = {item["predicate"]: item for item in answer["items"]}
    place, breed = facts["located_in"], facts["breed"]
    assert set(place) == FACT_FIELDS
    assert place["id"] == results[2]["fact_id"]
    assert place["object"] == {"kind": "entity", "value": None, "ref": "place:nuernberg", "label": "Nürnberg"}
    assert place["valid_from"] == "2026-02-28T23:00:00Z"
    assert place["valid_to"] is None
    assert place["status"] == "active"
    assert place["run_id"] == "r-1"
    assert place["recorded_at"].endswith("Z")
    assert breed["object"] == {"kind": "literal", "value": "Perser", "ref": None, "label": "Perser"}
    assert breed["valid_from"] is None
    assert breed["valid_from_precision"] == "unknown"
    assert breed["evidence"][0]["text"] == "Impfpass"
    alone = api.get(f"/api/world/facts/{place['id']}").json()
    assert alone == place | {"recalls": 0, "last_recalled_at": None}


def test_entities_are_listed_in_pages_and_found_by_name(api: Any) -> None:
    named = [{**LUNA, "id_hint": f"pet:{name}", "canonical_name": name} for name in ("Bello", "Luna", "Minka")]
    propose(api, *named, {"op": "add_alias", "entity_ref": "pet:Minka", "alias": "Minchen"})
    seen, cursor = [], None
    while True:
        page = api.get("/api/world/entities", {"kind": "pet", "limit": 1, **({"cursor": cursor} if cursor else {})})
        seen += [item["name"] for item in page.json()["items"]]
        cursor = page.json()["cursor"]
        if cursor is None:
            break
    assert seen == ["Bello", "Luna", "Minka"]
    found = api.get("/api/world/entities", {"q": "minch"}).json()["items"]
    assert [(item["ref"], item["aliases"], item["kind_label"]) for item in found] == [
        ("pet:minka", ["Minchen"], "Haustier")
    ]
    assert api.get("/api/world/entities/me").json()["is_self"] is True
    assert_problem(api.get("/api/world/entities", {"kind": "dragon"}), 422, "unknown_kind", "kind")
    assert_problem(api.get("/api/world/entities", {"status": "lost"}), 422, "invalid_choice", "status")
    assert_problem(api.get("/api/world/entities", {"limit": 201}), 422, "out_of_range", "limit")
    assert_problem(api.get("/api/world/entities", {"cursor": "x"}), 422, "invalid_cursor", "cursor")


def test_resolving_a_name(api: Any) -> None:
    propose(
        api,
        LUNA,
        {"op": "upsert_entity", "id_hint": "p1", "kind": "person", "canonical_name": "Julia"},
        {"op": "add_alias", "entity_ref": "p1", "alias": "Jule"},
    )
    by_ref = api.get("/api/world/resolve", {"ref": "pet:luna"}).json()
    assert (by_ref["ref"], by_ref["is_reference"], by_ref["is_new"]) == ("pet:luna", True, False)
    by_name = api.get("/api/world/resolve", {"ref": "  LUNA ", "kind": "pet"}).json()
    assert (by_name["ref"], by_name["is_reference"]) == ("pet:luna", False)
    assert api.get("/api/world/resolve", {"ref": "Jule"}).json()["name"] == "Julia"
    unknown = api.get("/api/world/resolve", {"ref": "Lun"}).json()
    assert (unknown["is_new"], unknown["entity_id"]) == (True, None)
    assert [item["ref"] for item in unknown["candidates"]] == ["pet:luna"]
    assert api.get("/api/world/resolve", {"ref": "Luna", "kind": "place"}).json()["is_new"] is True


def test_resolving_an_ambiguous_name_asks(api: Any) -> None:
    names = [("person", "p1", "Julia Berg"), ("person", "p2", "Julia Tal")]
    people = [
        {"op": "upsert_entity", "id_hint": hint, "kind": kind, "canonical_name": name} for kind, hint, name in names
    ]
    aliases = [{"op": "add_alias", "entity_ref": hint, "alias": "Julia"} for _kind, hint, _name in names]
    propose(api, *people, *aliases)
    meant = api.get("/api/world/resolve", {"ref": "Julia"}).json()
    assert meant["needs_clarification"] is True
    assert meant["question"]
    assert {item["name"] for item in meant["candidates"]} == {"Julia Berg", "Julia Tal"}


def test_who_lives_there(api: Any) -> None:
    propose(
        api,
        NUERNBERG,
        relation("me", "lives_in", "place:nuernberg", valid_from="2024-01-01"),
        fact("age", 28, subject="me", valid_from="2026-01-01"),
    )
    here = {"predicate": "lives_in", "object": "place:nuernberg"}
    answer = api.get("/api/world/facts", here).json()
    assert [item["subject_label"] for item in answer["items"]] == ["Anna"]
    assert api.get("/api/world/facts", {**here, "valid_at": "2023-06-01"}).json()["items"] == []
    assert len(api.get("/api/world/facts", {"predicate": "lives_in"}).json()["items"]) == 1
    assert len(api.get("/api/world/facts", {"predicate": "age", "object": "28.0"}).json()["items"]) == 1
    assert api.get("/api/world/facts", {"predicate": "age", "object": "29"}).json()["items"] == []
    named = api.get("/api/world/facts", {"predicate": "name", "object": json.dumps("Nürnberg")}).json()["items"]
    assert [item["subject_ref"] for item in named] == ["place:nuernberg"]
    assert_problem(api.get("/api/world/facts", {**here, "object": "Nürnberg"}), 422, "invalid_object", "object")
    assert_problem(api.get("/api/world/facts", {**here, "object": "08:00"}), 422, "invalid_object", "object")
    assert_problem(api.get("/api/world/facts", {**here, "object": "place:atlantis"}), 404, "not_found")
    assert_problem(api.get("/api/world/facts", {**here, "object": "null"}), 422, "null_value", "object")
    assert_problem(api.get("/api/world/facts"), 422, "missing", "predicate")


def test_a_change_is_kept_in_history_and_explained(api: Any) -> None:
    propose(api, LUNA, fact("feeding_time_morning", "07:00", valid_from="2026-01-01"))
    (later,) = propose(api, fact("feeding_time_morning", "08:00", valid_from="2026-06-01"))
    path = "/api/world/entities/pet:luna/history"
    believed = api.get(path, {"predicate": "feeding_time_morning"}).json()["items"]
    assert [(item["object"]["value"], item["status"]) for item in believed] == [
        ("07:00", "superseded"),
        ("08:00", "active"),
    ]
    every = api.get(path, {"predicate": "feeding_time_morning", "beliefs": "all"}).json()["items"]
    assert len(every) == 3
    why = api.get(f"/api/world/facts/{later['closed_fact_ids'][0]}/explain").json()
    assert why["fact"]["closed_reason"] == "changed"
    assert why["closed_by"]["id"] == later["fact_id"]
    assert len(why["chain"]) == 3


def test_a_range_is_told_as_stored_or_clamped(api: Any) -> None:
    propose(api, LUNA, fact("feeding_time_morning", "07:00", valid_from="2026-01-01T00:00:00Z"))
    path = "/api/world/entities/pet:luna/facts"
    span = {
        "predicate": "feeding_time_morning",
        "valid_from": "2026-02-01T00:00:00Z",
        "valid_to": "2026-03-01T00:00:00Z",
    }
    (stored,) = api.get(path, {**span, "bounds": "stored"}).json()["items"]
    (clamped,) = api.get(path, {**span, "bounds": "clamped"}).json()["items"]
    assert (stored["valid_from"], stored["valid_to"]) == ("2026-01-01T00:00:00Z", None)
    assert (clamped["valid_from"], clamped["valid_to"]) == (span["valid_from"], span["valid_to"])
    assert api.get(path, {**span, "valid_from": "2025-01-01", "valid_to": "2025-02-01"}).json()["items"] == []
    del span["valid_to"]
    assert_problem(api.get(path, span), 422, "incomplete_range", "valid_to")
    assert_problem(api.get(path, {**span, "valid_to": "2026-01-01"}), 422, "empty_range", "valid_to")
    assert_problem(api.get(path, {"as_of": "2026-01-01", "known_at": "2026-01-01"}), 422, "conflicting_parameters")


def test_ending_and_invalidating_a_fact(api: Any) -> None:
    results = propose(api, LUNA, fact("likes", "Thunfisch", valid_from="2026-01-01"), fact("likes", "Milch"))
    tuna, milk = (result["fact_id"] for result in results[1:])
    ended = api.post(f"/api/world/facts/{tuna}/end", {"at": "2026-06-01", "reason": "zu teuer"})
    assert ended.json()["outcome"] == "committed"
    assert api.get(f"/api/world/facts/{ended.json()['fact_id']}").json()["valid_to"] == "2026-05-31T22:00:00Z"
    assert_problem(api.post(f"/api/world/facts/{milk}/end", {"at": "2020-01-01"}), 422, "before_start")
    assert api.post(f"/api/world/facts/{milk}/invalidate", {"reason": "nie gesagt"}).status_code == 200
    gone = api.get(f"/api/world/facts/{milk}").json()
    assert (gone["status"], gone["closed_reason"], gone["reason"]) == ("invalidated", "retracted", "nie gesagt")
    assert_problem(api.post(f"/api/world/facts/{milk}/invalidate"), 409, "nothing_believed")
    assert_problem(api.post(f"/api/world/facts/{milk}/end", {"at": "2026-06-01T10:00:00"}), 422, "naive_time", "at")
    assert_problem(api.post(f"/api/world/facts/{milk}/end", {"until": "x"}), 422, "unknown_field", "until")


def test_case_c109_a_correction_changes_only_what_it_names(api: Any) -> None:
    stated = fact("note", "alt", valid_from="2026-01-01T00:00:00Z", valid_to="2026-12-31T00:00:00Z")
    first = propose(api, LUNA, stated)[1]["fact_id"]
    second = api.post(f"/api/world/facts/{first}/correct", {"object_value": "neu"}).json()["fact_id"]
    renamed = api.get(f"/api/world/facts/{second}").json()
    assert renamed["object"]["value"] == "neu"
    assert (renamed["valid_from"], renamed["valid_to"]) == ("2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z")
    third = api.post(f"/api/world/facts/{second}/correct", {"valid_to": None}).json()["fact_id"]
    opened = api.get(f"/api/world/facts/{third}").json()
    assert (opened["object"]["value"], opened["valid_to"]) == ("neu", None)
    path = f"/api/world/facts/{third}/correct"
    assert_problem(api.post(path, {}), 422, "nothing_to_change")
    assert_problem(api.post(path, {"object_value": "neu", "polarity": True}), 422, "nothing_to_change")
    assert_problem(api.post(path, {"subject": None}), 422, "unknown_field", "subject")
    assert_problem(api.post(path, {"valdi_to": "2026-06-01"}), 422, "unknown_field", "valdi_to")
    assert_problem(api.post(path, {"valid_from": None}), 422, "invalid_type", "valid_from")
    assert_problem(api.post(path, {"object_value": None}), 422, "null_value", "object_value")
    assert_problem(api.post(path, {"object_value": 1, "object_ref": "me"}), 422, "conflicting_fields", "object_ref")
    earlier = api.get(f"/api/world/facts/{first}").json()
    assert (earlier["object"]["value"], earlier["closed_reason"]) == ("alt", "corrected")


def test_case_c109_a_patch_tells_left_out_from_null(api: Any) -> None:
    stated = fact("status", "x", statement="alt", valid_from="2026-01-01T00:00:00Z", valid_to="2026-12-31T00:00:00Z")
    first = propose(api, LUNA, stated)[1]["fact_id"]
    path = "/api/world/facts/{}"

    second = api.patch(path.format(first), {"statement": "neu"}).json()
    assert (second["statement"], second["valid_to"]) == ("neu", "2026-12-31T00:00:00Z")
    third = api.patch(path.format(second["id"]), {"valid_to": None}).json()
    assert (third["statement"], third["valid_to"]) == ("neu", None)
    for nothing_new in ({}, {"valid_to": None}, {"statement": "neu"}):
        same = api.patch(path.format(third["id"]), nothing_new)
        assert (same.status_code, same.json()["id"]) == (200, third["id"])
    assert_problem(api.patch(path.format(third["id"]), {"polarity": None}), 422, "invalid_type", "polarity")
    assert_problem(api.patch(path.format(third["id"]), {"subject": None}), 422, "unknown_field", "subject")
    assert_problem(api.patch(path.format(third["id"]), {"valdi_to": "2026-06-01"}), 422, "unknown_field", "valdi_to")

    history = api.get("/api/world/entities/pet:luna/history", {"predicate": "status", "beliefs": "all"}).json()["items"]
    assert [row["statement"] for row in history] == ["alt", "neu", "neu"]
    assert len({row["recorded_at"] for row in history}) == 3


@pytest.mark.parametrize(
    ("operation", "code", "field"),
    [
        ({**LUNA, "kind": "dragon"}, "unknown_kind", "operations.0.kind"),
        ({**LUNA, "sys_from": "2026-01-01"}, "unknown_field", "operations.0.sys_from"),
        (fact("age", 3, recorded_at="2020-01-01T00:00:00Z"), "unknown_field", "operations.0.recorded_at"),
        ({"op": "forget_everything"}, "invalid_choice", "operations.0"),
        ({"kind": "pet"}, "missing", "operations.0"),
        ({"op": "assert_fact", "subject_ref": "me", "predicate": "age"}, "missing", "operations.0.object_value"),
        (fact("age", 3, confidence=2), "out_of_range", "operations.0.confidence"),
        (fact("age", 3, polarity="vielleicht"), "invalid_type", "operations.0.polarity"),
        (fact("age", 3, memory_type="gossip"), "invalid_choice", "operations.0.memory_type"),
    ],
)
def test_case_c109_malformed_operations_are_named_and_change_nothing(
    api: Any, operation: dict[str, Any], code: str, field: str
) -> None:
    response = api.post("/api/world/proposals", {"operations": [operation]})
    assert_problem(response, 422, code, field)


def test_an_operation_that_a_rule_refuses_leaves_the_others(api: Any) -> None:
    results = propose(api, LUNA, fact("age", "alt"), fact("age", 3))
    assert [result["outcome"] for result in results] == ["committed", "rejected", "committed"]
    assert results[1]["code"] == "value_misfit"
    assert results[1]["reason"]


def test_a_foreign_object_answers_exactly_like_a_missing_one(api: Any, stranger: Any) -> None:
    fact_id = propose(api, LUNA, fact("age", 3))[1]["fact_id"]
    entity_id = api.get("/api/world/entities/pet:luna").json()["id"]
    chat_id = api.get("/api/chats/main").json()["id"]

    def told(method: str, path: str, id: str) -> tuple[int, str]:
        response = getattr(stranger, method)(path.format(id=id))
        return response.status_code, response.content.decode().replace(id, "…")

    for method, path, id in [
        ("get", "/api/world/entities/{id}", entity_id),
        ("get", "/api/world/entities/{id}/facts", entity_id),
        ("get", "/api/world/entities/{id}/history", entity_id),
        ("get", "/api/world/facts/{id}", fact_id),
        ("get", "/api/world/facts/{id}/explain", fact_id),
        ("post", "/api/world/facts/{id}/end", fact_id),
        ("post", "/api/world/facts/{id}/invalidate", fact_id),
        ("get", "/api/chats/{id}", chat_id),
        ("get", "/api/chats/{id}/messages", chat_id),
        ("get", "/api/chats/{id}/curator", chat_id),
        ("post", "/api/chats/{id}/curate", chat_id),
        ("get", "/api/world/facts?predicate=owned_by&object={id}", entity_id),
    ]:
        foreign, missing = told(method, path, id), told(method, path, str(uuid4()))
        assert foreign == missing, path
        assert foreign[0] == 404, path
    assert_problem(stranger.get("/api/world/entities/pet:luna"), 404, "not_found")
    assert stranger.get("/api/world/entities", {"q": "Luna"}).json()["items"] == []
    assert stranger.get("/api/world/facts", {"predicate": "age"}).json()["items"] == []
    assert stranger.get("/api/world/resolve", {"ref": "Luna"}).json()["is_new"] is True


def test_a_malformed_id_is_named(api: Any) -> None:
    assert_problem(api.get("/api/world/facts/seven"), 422, "invalid_id", "fact_id")
    assert_problem(api.get("/api/chats/seven"), 422, "invalid_id", "chat")


def test_a_token_bound_to_a_scope_writes_only_there(anna: User, client_for: Callable[..., Any]) -> None:
    own = f"user:{anna.sub}"
    bound = client_for(anna, write_scope=own)
    assert propose(bound, LUNA, **{"Gedaechtnis-Scope": own})[0]["outcome"] == "committed"


def test_the_first_word_of_a_person_makes_their_own_entity(client_for: Callable[..., Any], database: None) -> None:
    newcomer = client_for(User.objects.create(username="dora", first_name="Dora"))
    results = propose(newcomer, LUNA, relation("pet:luna", "owned_by", "me"))
    assert [result["outcome"] for result in results] == ["committed", "committed"]
    assert newcomer.get("/api/world/entities/me").json()["name"] == "Dora"
