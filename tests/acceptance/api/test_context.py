"""`POST /api/world/context`: the block before a run, by token."""

from __future__ import annotations

from typing import Any

import pytest

from gedaechtnis.identity.models import Token, User
from gedaechtnis.identity.tokens import create_token
from tests.acceptance.api.support import LUNA, assert_problem, fact, propose
from tests.conftest import ApiClient

PATH = "/api/world/context"


def test_it_answers_with_the_block_and_what_it_rests_on(api: Any) -> None:
    _luna, fed = propose(api, LUNA, fact("feeding_time_morning", "07:00"))
    answer = api.post(PATH, {"text": "Wann frisst Luna?"}, **{"Accept-Language": "en"})
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["text"].startswith("## Known world state")
    assert "- feeding_time_morning: 07:00" in body["text"]
    assert body["fact_ids"] == [fed["fact_id"]]
    assert [(entity["ref"], entity["said"]) for entity in body["entities"]] == [("pet:luna", "Luna")]
    assert body["policies"] == []
    assert body["tokens"] > 0
    assert body["policies_read"] is True
    steps = {"policies", "notes", "link", "events", "facts", "context", "render", "total"}
    assert set(body["timings_ms"]) == steps


def test_it_answers_of_the_past(api: Any) -> None:
    propose(api, LUNA, fact("feeding_time_morning", "07:00", valid_from="2026-03-01"))
    assert "07:00" in api.post(PATH, {"text": "Luna", "valid_at": "2026-04-01"}).json()["text"]
    assert "07:00" not in api.post(PATH, {"text": "Luna", "valid_at": "2026-02-01"}).json()["text"]
    assert "07:00" not in api.post(PATH, {"text": "Luna", "as_of": "2026-04-01"}).json()["text"]


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "missing", "text"),
        ({"text": "x", "budget_tokens": 99}, "out_of_range", "budget_tokens"),
        ({"text": "x", "budget": 100}, "unknown_field", "budget"),
        ({"text": "x", "chat_id": "main"}, "invalid_id", "chat_id"),
        ({"text": "x" * 100_001}, "too_long", "text"),
        ({"text": "x", "valid_at": "2026-04-01T10:00:00"}, "naive_time", "valid_at"),
    ],
)
def test_a_wrong_question_names_its_field(api: Any, body: dict[str, Any], code: str, field: str) -> None:
    assert_problem(api.post(PATH, body), 422, code, field)


def test_a_context_of_somebody_else_is_missing(api: Any) -> None:
    assert_problem(api.post(PATH, {"text": "x", "applies_to": ["repo:foreign"]}), 404, "not_found", "applies_to")


def test_a_read_only_token_may_ask_and_nobody_without_one(api: Any, anna: User) -> None:
    propose(api, LUNA)
    _token, secret = create_token(user=anna, name="reader", read_only=True)
    assert [e["ref"] for e in ApiClient(secret).post(PATH, {"text": "Luna"}).json()["entities"]] == ["pet:luna"]
    assert ApiClient(None).post(PATH, {"text": "Luna"}).status_code == 401
    assert Token.objects.count() == 2
