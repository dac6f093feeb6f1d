"""What a hostile or broken caller sends is refused by name, and leaves neither an error of ours nor half a write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.test import Client

from gedaechtnis.identity.models import User
from tests.acceptance.api.support import LUNA, assert_problem, fact, propose

Admin = psycopg.Connection[Any]


@pytest.mark.parametrize("payload", ['{"a": "\\ud800"}', '{"\\udc00": 1}', '{"a": 1e400}'])
def test_an_event_holds_only_what_can_be_stored(api: Any, payload: str) -> None:
    body = f'{{"operations": [{{"op": "record_event", "event_type": "note.recorded", "payload": {payload}}}]}}'
    response = api.post("/api/world/proposals", body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "operations.0.payload"


@pytest.mark.parametrize("name", ["\ufdfa" * 500, "ß" * 500, "".join(chr(0x3300 + n % 88) for n in range(500))])
def test_a_name_that_grows_when_folded_is_too_long(api: Any, name: str) -> None:
    made, called = propose(
        api,
        {"op": "upsert_entity", "id_hint": "pet:x", "kind": "pet", "canonical_name": name},
        {"op": "add_alias", "entity_ref": "me", "alias": name},
    )
    assert (made["code"], called["code"]) == ("too_long", "too_long")


@pytest.mark.parametrize("operation", [fact("name", "x" * 600), fact("name", "\u200b")])
def test_what_is_refused_has_written_nothing(api: Any, operation: dict[str, Any]) -> None:
    propose(api, LUNA)
    before = api.get("/api/world/entities/pet:luna/history", {"beliefs": "all"}).json()
    assert propose(api, operation)[0]["outcome"] == "rejected"
    assert api.get("/api/world/entities/pet:luna/history", {"beliefs": "all"}).json() == before


def test_an_entity_with_an_impossible_alias_does_not_exist(api: Any) -> None:
    refused, unknown = propose(api, {**LUNA, "aliases": ["x" * 600]}, fact("likes", "Lachs"))
    assert (refused["code"], unknown["code"]) == ("too_long", "unknown_reference")
    assert api.get("/api/world/entities/pet:luna").status_code == 404


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("valid_from", "0001-01-01T00:00:00Z"),
        ("valid_from", "0001"),
        ("observed_at", "9999-12-31T23:59:59Z"),
        ("observed_at", "0001-01-01T00:00:00Z"),
        ("valid_from", "２０２６-01-01"),
    ],
)
def test_a_time_that_no_zone_can_show_is_refused(api: Any, field: str, text: str) -> None:
    response = api.post("/api/world/proposals", {"operations": [LUNA, fact("likes", "Lachs", **{field: text})]})
    assert_problem(response, 422, "invalid_time", f"operations.1.{field}")


def test_a_message_from_the_edge_of_time_does_not_stop_the_curator(api: Any, anna: User) -> None:
    anna.time_zone = "America/New_York"
    anna.save()
    message = {"text": "Gestern war ich in Graz", "sent_at": "0001-01-01T00:00:00Z"}
    assert_problem(api.post("/api/chats/main/messages", message), 422, "invalid_time", "sent_at")
    assert api.post("/api/chats/main/curate").status_code == 200


@pytest.mark.parametrize("query", ["valid_at=9999-12-31T23:59:59Z", "at=0001-01-01T00:00", "at=9999-12-31T23:59"])
def test_a_page_at_the_edge_of_time_says_so(
    api: Any, anna: User, page_for: Callable[[User], Client], query: str
) -> None:
    propose(api, LUNA)
    page = page_for(anna)
    page.raise_request_exception = False
    assert page.get(f"/wissen/pet:luna/?{query}").status_code == 422


@pytest.mark.parametrize("query", ["valid_at=9998-12-31", "step=" + "9" * 5000, "step=-1", "step=%00", "fact=%00"])
def test_a_page_bears_any_address(api: Any, anna: User, page_for: Callable[[User], Client], query: str) -> None:
    propose(api, LUNA)
    page = page_for(anna)
    page.raise_request_exception = False
    assert page.get(f"/wissen/pet:luna/?{query}", follow=True).status_code == 200
    assert page.head(f"/wissen/pet:luna/?{query}", follow=True).status_code == 200


def test_case_c100_nul_in_a_cookie_or_filter_is_no_error_of_ours(
    anna: User, page_for: Callable[[User], Client]
) -> None:
    page = page_for(anna)
    page.raise_request_exception = False
    assert page.get("/wissen/?kind=%00").status_code == 422
    stranger = Client(raise_request_exception=False)
    cookie = {"Cookie": f'{settings.SESSION_COOKIE_NAME}="\\000aaaaaaaaaaa"'}
    assert stranger.get("/anmelden/", headers=cookie).status_code == 200
    assert stranger.get("/api/chats", headers=cookie).status_code == 401


def test_signing_out_ends_at_the_sign_in_page(anna: User, page_for: Callable[[User], Client]) -> None:
    page = page_for(anna)
    assert page.post("/abmelden/").headers["Location"] == "/anmelden/"
    assert page.get("/").status_code == 302


def test_a_token_below_the_chats_level_finds_no_chat(anna: User, api: Any, client_for: Callable[..., Any]) -> None:
    low = client_for(anna, clearance=0)
    assert_problem(low.get("/api/chats/main"), 404, "not_found")
    api.post("/api/chats/main/messages", {"text": "Hallo"})
    assert_problem(low.get("/api/chats/main/messages"), 404, "not_found")
    assert json.loads(low.get("/api/chats").content)["items"] == []
