"""Who is let in, and how everything that is refused is told."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client

from gedaechtnis.identity.models import Group, GroupMembership, User
from tests.acceptance.api.support import LUNA, assert_problem, fact, propose


def test_without_a_token_nothing_is_told(client_for: Callable[..., Any]) -> None:
    response = client_for(None).get("/api/world/kinds")
    assert_problem(response, 401, "authentication_required")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="gedaechtnis"'


@pytest.mark.parametrize("header", ["Bearer gd_wrong", "Bearer", "Bearer ", "Basic YTpi", "gd_wrong"])
def test_a_wrong_token_is_refused_for_reading_and_writing(client_for: Callable[..., Any], header: str) -> None:
    client = client_for(None)
    read = client.get("/api/world/kinds", Authorization=header)
    write = client.post("/api/world/proposals", {"operations": [LUNA]}, Authorization=header)
    for response in (read, write):
        assert_problem(response, 401, "invalid_token")
        assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_an_expired_token_is_refused(anna: User, client_for: Callable[..., Any]) -> None:
    expired = client_for(anna, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert_problem(expired.get("/api/world/kinds"), 401, "invalid_token")


def test_a_read_only_token_reads_and_never_writes(api: Any, anna: User, client_for: Callable[..., Any]) -> None:
    propose(api, LUNA)
    reader = client_for(anna, read_only=True)
    assert reader.get("/api/world/entities/pet:luna").status_code == 200
    for path, body in [
        ("/api/world/proposals", {"operations": [LUNA]}),
        (f"/api/world/facts/{uuid4()}/end", {}),
        ("/api/chats", {}),
        ("/api/chats/main/messages", {"text": "Hallo"}),
        ("/api/chats/main/curate", {}),
    ]:
        assert_problem(reader.post(path, body), 403, "read_only")


def test_a_session_reads_and_needs_the_csrf_token_to_write(anna: User) -> None:
    page = Client(enforce_csrf_checks=True)
    page.force_login(anna)
    assert page.get("/api/world/kinds").status_code == 200
    sent = {"data": {"title": "Garten"}, "content_type": "application/json"}
    assert_problem(page.post("/api/chats", **sent), 403, "csrf_failed")
    page.get("/login/")
    page.cookies.load({settings.CSRF_COOKIE_NAME: "a" * 32})
    assert page.post("/api/chats", headers={"X-CSRFToken": "a" * 32}, **sent).status_code == 201


def test_a_session_does_not_help_a_wrong_token(anna: User) -> None:
    page = Client()
    page.force_login(anna)
    response = page.get("/api/world/kinds", headers={"Authorization": "Bearer gd_wrong"})
    assert_problem(response, 401, "invalid_token")


def test_messages_speak_the_language_asked_for_else_the_persons(api: Any, anna: User) -> None:
    path = "/api/world/entities/pet:nobody"
    german = api.get(path)
    english = api.get(path, **{"Accept-Language": "fr, en-GB;q=0.8"})
    assert german.headers["Content-Language"] == "de"
    assert english.headers["Content-Language"] == "en"
    assert english.json()["detail"] == "Nothing is known under “pet:nobody”."
    assert german.json()["detail"] != english.json()["detail"]
    assert api.get(path, **{"Accept-Language": "*"}).headers["Content-Language"] == "de"


def test_answers_are_not_kept_by_caches(api: Any) -> None:
    response = api.get("/api/world/kinds")
    assert response.headers["Cache-Control"] == "no-store"
    assert {"Authorization", "Cookie"} <= {part.strip() for part in response.headers["Vary"].split(",")}


@pytest.mark.parametrize("path", ["/api/", "/api/nothing", "/api/world/kinds/", "/api/docs", "/api/world/merge"])
def test_an_unknown_address_is_a_problem_document(api: Any, path: str) -> None:
    assert_problem(api.get(path), 404, "not_found")


def test_a_wrong_method_names_the_right_ones(api: Any) -> None:
    response = api.delete("/api/world/proposals")
    assert_problem(response, 405, "method_not_allowed")
    assert set(response.headers["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize(
    "body",
    ['{"operations": [', "", "nonsense", b'{"a": "\xff"}', '{"run_id": NaN}', '{"a": 1, "a": 2}', "[" * 100_000],
)
def test_broken_json_is_never_an_error_of_ours(api: Any, body: str | bytes) -> None:
    response = api.post("/api/world/proposals", body)
    assert response.status_code in {400, 422}
    assert response.json()["code"] in {"invalid_json", "missing", "too_deep"}


def test_broken_json_has_its_own_code(api: Any) -> None:
    assert_problem(api.post("/api/world/proposals", '{"operations": ['), 400, "invalid_json")


def test_a_body_must_be_json(api: Any, anna: User) -> None:
    page = Client()
    page.force_login(anna)
    response = page.post("/api/chats", {"title": "Garten"})
    assert_problem(response, 415, "unsupported_media_type")


def test_a_body_above_the_limit_is_413(api: Any) -> None:
    assert_problem(api.post("/api/chats/main/messages", {"text": "x" * 2_700_000}), 413, "too_large")


@pytest.mark.parametrize(
    ("operation", "field"),
    [
        (fact("statement", "x" * 1_000_000), "operations.1.object_value"),
        (fact("note", "kurz", statement="x" * 1_000_000), "operations.1.statement"),
        ({**LUNA, "canonical_name": "x" * 1_000_000}, "operations.1.canonical_name"),
        (fact("note", "kurz", evidence={"text": "x" * 1_000_000}), "operations.1.evidence.text"),
    ],
)
def test_a_text_of_a_megabyte_is_too_long_for_a_named_field(api: Any, operation: dict[str, Any], field: str) -> None:
    response = api.post("/api/world/proposals", {"operations": [LUNA, operation]})
    assert_problem(response, 422, "too_long", field)
    assert api.get("/api/world/entities", {"q": "Luna"}).json()["items"] == []


def test_a_message_of_a_megabyte_is_too_long(api: Any) -> None:
    assert_problem(api.post("/api/chats/main/messages", {"text": "x" * 1_000_000}), 422, "too_long", "text")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/chats/main/messages", {"text": "Rechnung\x00 4711 ist da"}, "text"),
        ("/api/chats", {"title": "\x00"}, "title"),
        ("/api/world/proposals", {"operations": [LUNA, fact("note", {"a": "\x00"})]}, "operations.1.object_value.a"),
        ("/api/world/proposals", {"operations": [LUNA, fact("note", {"\x00b": 1})]}, "operations.1.object_value.b"),
        (
            "/api/world/proposals",
            {"operations": [{"op": "record_event", "event_type": "x", "payload": {"a": ["\x00"]}}]},
            "operations.0.payload.a.0",
        ),
        ("/api/world/proposals", {"run_id": "\x00", "operations": [LUNA]}, "run_id"),
    ],
)
def test_case_c100_nul_in_a_body_is_refused_by_name(api: Any, path: str, body: dict[str, Any], field: str) -> None:
    assert_problem(api.post(path, body), 422, "invalid_text", field)


@pytest.mark.parametrize(
    "path",
    [
        "/api/world/entities?q=%00",
        "/api/world/entities?kind=%00",
        "/api/world/entities?cursor=%00",
        "/api/world/entities?%00=1",
        "/api/world/entities/%00",
        "/api/world/entities/pet:%00/facts",
        "/api/world/facts?predicate=%00&object=%00",
        "/api/world/resolve?ref=%00",
        "/api/world/proposals?state=%00",
        "/api/chats/%00",
        "/api/%00",
    ],
)
def test_case_c100_nul_in_an_address_is_never_an_error_of_ours(api: Any, path: str) -> None:
    assert_problem(api.get(path), 422, "invalid_text")


def test_case_c100_half_a_character_is_refused(api: Any) -> None:
    body = '{"operations": [{"op": "upsert_entity", "id_hint": "a", "kind": "pet", "canonical_name": "\\ud800"}]}'
    assert_problem(api.post("/api/world/proposals", body), 422, "invalid_text", "operations.0.canonical_name")
    assert_problem(api.post("/api/chats/main/messages", '{"text": "\\ud800"}'), 422, "invalid_text", "text")


def test_case_c100_nul_inside_a_page_marker_is_refused(api: Any) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps([None, "\x00", str(uuid4())]).encode()).decode()
    assert_problem(api.get("/api/world/entities", {"cursor": cursor}), 422, "invalid_text", "cursor")


@pytest.mark.parametrize(
    "path",
    ["/api/world/kinds?x=1", "/api/world/entities?knd=pet", "/api/world/entities/me/facts?valid_on=2026-01-01"],
)
def test_an_unknown_parameter_is_refused(api: Any, path: str) -> None:
    assert_problem(api.get(path), 422, "unknown_parameter")


def test_a_parameter_that_comes_twice_is_refused(api: Any) -> None:
    assert_problem(api.get("/api/world/entities?kind=pet&kind=person"), 422, "repeated_parameter", "kind")


def test_what_nobody_foresaw_tells_nothing(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_arguments: Any) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr("gedaechtnis.memory.selectors.entities.get_entity", broken)
    response = api.get("/api/world/entities/me")
    assert_problem(response, 500, "internal")
    assert b"secret" not in response.content


def test_the_scope_header_picks_where_to_write(
    api: Any, anna: User, ben: User, clara: User, client_for: Callable[..., Any]
) -> None:
    family = Group.objects.create(name="Familie")
    for user, role in ((anna, "owner"), (ben, "viewer")):
        GroupMembership.objects.create(group=family, user=user, role=role)
    header = {"Gedaechtnis-Scope": f"group:{family.pk}"}
    assert propose(api, LUNA, **header)[0]["outcome"] == "committed"
    luna = client_for(ben).get("/api/world/entities/pet:luna").json()
    assert luna["scope_ref"] == f"group:{family.pk}"
    for client in (client_for(ben), client_for(clara)):
        response = client.post("/api/world/proposals", {"operations": [LUNA]}, **header)
        assert_problem(response, 403, "scope_denied", "Gedaechtnis-Scope")
    response = api.post("/api/world/proposals", {"operations": [LUNA]}, **{"Gedaechtnis-Scope": "group:x,global"})
    assert_problem(response, 422, "invalid_scope", "Gedaechtnis-Scope")


def test_the_openapi_document_names_every_operation_once(api: Any) -> None:
    document = api.get("/api/openapi.json").json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names)) > 30
    assert all(operation["summary"] and operation["tags"] and operation["description"] for operation in operations)
    assert all("application/problem+json" in operation["responses"]["default"]["content"] for operation in operations)
    assert "Problem" in document["components"]["schemas"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_name_that_is_not_the_servers_is_refused_as_a_problem(anna: User, method: str) -> None:
    send = getattr(Client(raise_request_exception=False, headers={"Host": "evil.example"}), method)
    for path in ("/api/world/kinds", "/api/openapi.json", "/api/nothing"):
        response = send(path)
        assert_problem(response, 400, "unknown_host")
        assert response.headers["Cache-Control"] == "no-store"
    page = send("/wissen/")
    assert page.status_code == 400
    assert "nicht verstanden" in page.content.decode()
    assert "evil.example" not in page.content.decode()
