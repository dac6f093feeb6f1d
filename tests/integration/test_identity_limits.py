"""Passwords cannot be tried at will, and a token cannot ask without end; parallel tries gain nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from django.db import connections
from django.test import Client

from gedaechtnis.identity import limits
from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.limits import Limit
from gedaechtnis.identity.models import AuditEntry, User

SIGN_IN = "/anmelden/"


def attempt(name: str, password: str, address: str = "192.0.2.1", path: str = SIGN_IN) -> Any:
    return Client().post(path, {"username": name, "password": password}, REMOTE_ADDR=address)


def count(kind: Kind) -> int:
    return AuditEntry.objects.filter(kind=kind).count()


def test_after_five_wrong_passwords_the_right_one_waits_too(anna: User) -> None:
    assert [attempt("anna", "falsch").status_code for _try in range(5)] == [422] * 5
    for _try in range(3):
        refused = attempt("Anna", "geheim-anna")
        assert refused.status_code == 429
        assert 0 < int(refused["Retry-After"]) <= 900
        assert "Zu viele Versuche. Warte 15 Min." in refused.content.decode()
    assert (count(Kind.SIGN_IN_FAILED), count(Kind.SIGN_IN_BLOCKED), count(Kind.SIGN_IN)) == (5, 1, 0)


def test_another_address_and_another_account_go_on(anna: User, ben: User) -> None:
    for _try in range(6):
        attempt("anna", "falsch")
    assert attempt("anna", "geheim-anna", address="192.0.2.2").status_code == 302
    assert attempt("ben", "geheim-ben").status_code == 302
    assert attempt("anna", "geheim-anna").status_code == 429


def test_the_right_password_starts_the_count_anew(anna: User) -> None:
    for _round in range(3):
        for _try in range(4):
            attempt("anna", "falsch")
        assert attempt("anna", "geheim-anna").status_code == 302


def test_one_address_cannot_try_one_password_on_everybody(anna: User) -> None:
    tried = [attempt(f"name-{number}", "sommer2026").status_code for number in range(52)]
    assert tried == [422] * 50 + [429] * 2


def test_many_addresses_cannot_guess_at_one_account(anna: User) -> None:
    tried = [attempt("anna", "falsch", address=f"198.51.100.{number}").status_code for number in range(102)]
    assert tried == [422] * 100 + [429] * 2


def test_the_admins_sign_in_counts_too(anna: User) -> None:
    for _try in range(5):
        attempt("anna", "falsch", path="/admin/login/")
    assert b"Zu viele Versuche" in attempt("anna", "geheim-anna", path="/admin/login/").content
    assert attempt("anna", "geheim-anna").status_code == 429


def test_parallel_tries_gain_nothing(anna: User) -> None:
    def one(_number: int) -> int:
        try:
            return int(attempt("anna", "falsch").status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(one, range(24)))
    assert sorted(answers) == [422] * 5 + [429] * 19
    assert (count(Kind.SIGN_IN_FAILED), count(Kind.SIGN_IN_BLOCKED)) == (5, 1)


def _unreachable(*_arguments: Any) -> Any:
    raise redis.ConnectionError


def test_without_a_count_nobody_signs_in_and_tokens_still_work(
    anna: User, client_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "take", _unreachable)
    refused = attempt("anna", "geheim-anna")
    assert refused.status_code == 503
    assert "gerade nicht möglich" in refused.content.decode()
    assert client_for(anna).get("/api/world/kinds").status_code == 200


def test_a_token_that_asks_too_often_is_told_when_to_come_back(
    anna: User, client_for: Callable[..., Any], settings: Any
) -> None:
    settings.GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE = 3
    busy, other = client_for(anna), client_for(anna)
    assert [busy.get("/api/world/kinds").status_code for _request in range(3)] == [200] * 3
    refused = busy.get("/api/world/kinds")
    assert (refused.status_code, refused.headers["Content-Type"]) == (429, "application/problem+json")
    assert refused.json()["code"] == "rate_limited"
    assert 0 < int(refused.headers["Retry-After"]) == refused.json()["retry_after"] <= 60
    assert other.get("/api/world/kinds").status_code == 200


def test_parallel_requests_of_a_token_are_counted_one_by_one(
    anna: User, client_for: Callable[..., Any], settings: Any
) -> None:
    settings.GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE = 10
    busy = client_for(anna)

    def one(_number: int) -> int:
        try:
            return int(busy.get("/api/world/kinds").status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(25)))
    assert sorted(answers) == [200] * 10 + [429] * 15


def test_a_window_ends_by_itself_and_names_are_not_stored(database: None) -> None:
    limit = Limit(name="sign-in.anna", most=1, seconds=60)
    assert limits.take([limit]).wait == 0
    assert limits.take([limit]).wait == 60
    assert "anna" not in limit.key
    limits.forget(limit)
    assert limits.take([limit]).wait == 0


def test_a_try_taken_back_does_not_count(database: None) -> None:
    limit = Limit(name="x", most=1, seconds=60)
    limits.give_back([limit])
    for _try in range(3):
        assert limits.take([limit]).wait == 0
        limits.give_back([limit])
