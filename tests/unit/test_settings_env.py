"""Environment variables are read strictly, and every complaint names its variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from gedaechtnis.config import env

NAME = "GEDAECHTNIS_EXAMPLE"


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: env.text(NAME), None),
        (lambda: env.text(NAME), ""),
        (lambda: env.boolean(NAME, False), "perhaps"),
        (lambda: env.integer(NAME, 5, minimum=1), "1.5"),
        (lambda: env.integer(NAME, 5, minimum=1), "0"),
        (lambda: env.words(NAME), " , "),
        (lambda: env.choice(NAME, "de", ("de", "en")), "fr"),
        (lambda: env.time_zone(NAME, "Europe/Berlin"), "Europe/Nowhere"),
        (lambda: env.time_zone(NAME, "Europe/Berlin"), "../etc/passwd"),
        (lambda: env.redis_url(NAME), "http://localhost"),
        (lambda: env.issuer(NAME), "http://login.example"),
        (lambda: env.issuer(NAME), "login.example"),
        (lambda: env.issuer(NAME), "https://"),
        (lambda: env.embeddings(NAME, "bundled"), "word2vec"),
        (lambda: env.embeddings(NAME, "bundled"), "openai:m@https://key@api.example/v1#8"),
        (lambda: env.database(NAME), "mysql://app@localhost/db"),
        (lambda: env.database(NAME), "postgresql://app@localhost"),
        (lambda: env.database(NAME), "postgresql://localhost/db"),
        (lambda: env.database(NAME), "postgresql://app@localhost:port/db"),
        (lambda: env.database(NAME), "postgresql://app@localhost/db?sslmode"),
    ],
)
def test_it_refuses_and_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], Any], value: str | None
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    if value is not None:
        monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=NAME):
        read()


def test_it_never_repeats_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "mysql://app:hunter2@localhost/db")
    with pytest.raises(ImproperlyConfigured) as refusal:
        env.database(NAME)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("YES", True), ("off", False), ("False", False)])
def test_it_reads_booleans(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.boolean(NAME, not expected) is expected


def test_it_reads_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "a.example, b.example,")
    assert env.words(NAME) == ["a.example", "b.example"]


@pytest.mark.parametrize("value", ["https://login.example/realm/", "http://127.0.0.1:8080", "http://localhost", ""])
def test_it_reads_issuers_as_they_stand(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.issuer(NAME) == value


def test_it_reads_lists_that_may_be_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert env.optional_words(NAME) == frozenset()
    monkeypatch.setenv(NAME, "a, b,")
    assert env.optional_words(NAME) == {"a", "b"}


def test_it_uses_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert env.boolean(NAME, True) is True
    assert env.integer(NAME, 5, minimum=1) == 5
    assert env.words(NAME, "x,y") == ["x", "y"]


def test_it_reads_a_database_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "postgresql://app:p%40ss%2Fword@db.example:5433/memory?sslmode=require")
    entry = env.database(NAME)
    assert entry == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "memory",
        "USER": "app",
        "PASSWORD": "p@ss/word",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"connect_timeout": "5", "sslmode": "require"},
    }
