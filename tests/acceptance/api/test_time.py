"""Both axes of time, as callers ask about them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from gedaechtnis.common import clock
from tests.acceptance.api.support import LUNA, PAKET, assert_problem, fact, propose

FACTS = "/api/world/entities/pet:luna/facts"
STATUS = "/api/world/entities/object:paket-17/facts"
EIGHT = datetime(2030, 11, 30, 8, 0, 0, tzinfo=UTC)


def values(answer: dict[str, Any], predicate: str) -> list[Any]:
    return [item["object"]["value"] for item in answer["items"] if item["predicate"] == predicate]


@pytest.mark.parametrize("field", ["valid_from", "valid_to", "observed_at"])
@pytest.mark.parametrize(
    ("text", "code", "candidates"),
    [
        ("2025-10-26T02:30:00", "ambiguous_time", ["2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z"]),
        ("2026-03-29T02:30:00", "nonexistent_time", []),
        ("2026-03-01T12:00:00", "naive_time", ["2026-03-01T11:00:00Z"]),
        ("gestern", "invalid_time", None),
        ("0001-01-01T00:00:00", "invalid_time", None),
    ],
)
def test_case_c01_a_time_without_offset_is_never_guessed(
    api: Any, field: str, text: str, code: str, candidates: list[str] | None
) -> None:
    response = api.post("/api/world/proposals", {"operations": [LUNA, fact("note", "aus", **{field: text})]})
    problem = assert_problem(response, 422, code, f"operations.1.{field}")
    assert problem.get("candidates") == candidates
    assert api.get("/api/world/entities", {"kind": "pet"}).json()["items"] == []


def test_case_c01_with_an_offset_each_is_its_own_instant(api: Any) -> None:
    propose(
        api,
        LUNA,
        fact("note", "b", valid_from="2025-10-26T02:30:00+02:00"),
        fact("note", "c", valid_from="2025-10-26T02:30:00+01:00"),
    )
    items = api.get("/api/world/entities/pet:luna/history", {"predicate": "note"}).json()["items"]
    assert [(item["object"]["value"], item["valid_from"]) for item in items] == [
        ("b", "2025-10-26T00:30:00Z"),
        ("c", "2025-10-26T01:30:00Z"),
    ]


@pytest.mark.parametrize("parameter", ["valid_at", "known_at", "as_of"])
def test_case_c01_questions_are_not_guessed_either(api: Any, parameter: str) -> None:
    response = api.get("/api/world/entities/me/facts", {parameter: "2025-10-26T02:30:00"})
    problem = assert_problem(response, 422, "ambiguous_time", parameter)
    assert problem["candidates"] == ["2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z"]


def test_a_day_means_its_last_instant_in_the_persons_zone(api: Any) -> None:
    propose(api, LUNA, fact("age", 3, valid_from="2026-03-01T12:00:00+01:00"))
    assert values(api.get(FACTS, {"valid_at": "2026-02-28"}).json(), "age") == []
    day = api.get(FACTS, {"valid_at": "2026-03-01"}).json()
    assert values(day, "age") == [3]
    assert day["valid_at"] == "2026-03-01T22:59:59.999999Z"


def test_what_was_known_then(api: Any) -> None:
    with clock.frozen(EIGHT):
        propose(api, LUNA, fact("age", 3, valid_from="2026-01-01"))
    with clock.frozen(EIGHT + timedelta(days=2)):
        propose(api, fact("age", 4, valid_from="2026-01-01", correction=True))
        then = {"known_at": "2030-12-01T00:00:00Z"}
        assert values(api.get(FACTS, then).json(), "age") == [3]
        assert values(api.get(FACTS, {"as_of": "2030-12-01T00:00:00Z"}).json(), "age") == [3]
        assert values(api.get(FACTS).json(), "age") == [4]
        (old,) = [item for item in api.get(FACTS, then).json()["items"] if item["predicate"] == "age"]
        assert (old["superseded_at"], old["closed_reason"], old["status"]) == (None, None, "active")


def test_case_c12_the_last_of_a_batch_wins_and_the_order_is_kept(api: Any) -> None:
    at = "2030-11-30T08:00:00.000Z"
    with clock.frozen(EIGHT):
        propose(
            api,
            PAKET,
            fact("status", "angenommen", subject="object:paket-17", valid_from=at),
            fact("status", "unterwegs", subject="object:paket-17", valid_from=at),
        )
    with clock.frozen(EIGHT + timedelta(minutes=1)):
        assert values(api.get(STATUS, {"predicate": "status"}).json(), "status") == ["unterwegs"]
        told = [paged_statuses(api), paged_statuses(api)]
    assert told[0] == told[1]
    assert [value for value, _recorded in told[0]] == ["angenommen", "unterwegs"]
    assert told[0][0][1] < told[0][1][1]


def paged_statuses(api: Any) -> list[tuple[str, str]]:
    rows, cursor = [], None
    while True:
        asked = {"predicate": "status", "beliefs": "all", "limit": 1, **({"cursor": cursor} if cursor else {})}
        page = api.get("/api/world/entities/object:paket-17/history", asked).json()
        rows += [(item["object"]["value"], item["recorded_at"]) for item in page["items"]]
        cursor = page["cursor"]
        if cursor is None:
            return rows


def test_case_c13_recorded_time_rises_though_the_clock_steps_back(api: Any) -> None:
    with clock.frozen(EIGHT + timedelta(seconds=5)):
        propose(api, LUNA, fact("note", "A"))
        basis = api.get(FACTS).json()["basis"]
    with clock.frozen(EIGHT + timedelta(seconds=3)):
        propose(api, fact("note", "B"))
    with clock.frozen(EIGHT + timedelta(seconds=5)):
        propose(api, fact("note", "C"))
    with clock.frozen(EIGHT + timedelta(minutes=1)):
        items = api.get(FACTS, {"predicate": "note", "beliefs": "all"}).json()["items"]
        recorded = {item["object"]["value"]: item["recorded_at"] for item in items}
        assert recorded["A"] < recorded["B"] < recorded["C"]
        asked = {"predicate": "note", "known_at": basis, "valid_at": "2030-11-30T08:00:30Z"}
        first = api.get(FACTS, asked).json()
        assert values(first, "note") == ["A"]
        propose(api, fact("note", "D"))
        assert api.get(FACTS, asked).json() == first


def test_case_c13_the_future_is_not_known_and_the_answer_says_what_was_meant(api: Any) -> None:
    asked = {"predicate": "note", "known_at": "2030-11-30T23:00:00Z", "valid_at": "2030-11-30T23:00:00Z"}
    with clock.frozen(EIGHT):
        propose(api, LUNA, fact("note", "A"))
        first = api.get(FACTS, asked).json()
    with clock.frozen(EIGHT + timedelta(hours=1)):
        propose(api, fact("note", "B"))
        second = api.get(FACTS, asked).json()
    assert values(first, "note") == ["A"]
    assert values(second, "note") == ["A", "B"]
    assert first["known_at"] < "2030-11-30T08:00:01Z"
    assert first["known_at"] < second["known_at"] < "2030-11-30T09:00:01Z"


def test_a_basis_that_cannot_be_read_is_refused(api: Any) -> None:
    for basis in ("b1.", "b1.xxxx", "b1.W10"):
        assert_problem(api.get(f"/api/world/entities/me/facts?{urlencode({'known_at': basis})}"), 422, "invalid_basis")


def test_a_basis_without_an_offset_is_refused(api: Any) -> None:
    basis = "b1." + base64.urlsafe_b64encode(b'{"global": "2026-03-01T12:00:00"}').decode().rstrip("=")
    assert_problem(api.get("/api/world/entities/me/facts", {"known_at": basis}), 422, "naive_time", "known_at")


def test_an_alias_ends_after_it_begins(api: Any) -> None:
    alias = {"op": "add_alias", "entity_ref": "pet:luna", "alias": "Lunchen"}
    results = propose(api, LUNA, {**alias, "valid_from": "2026-03-01", "valid_to": "2026-02-01"})
    assert (results[1]["outcome"], results[1]["code"]) == ("rejected", "empty_interval")
