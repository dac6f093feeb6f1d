"""What the pages answer over HTTP, without a browser."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from gedaechtnis.identity.models import User
from tests.e2e.conftest import EVA

FRAGMENTS = {"/": "chat-stream", "/wissen/": "explorer-results", EVA: "entity-moment", "/stand/": "totals"}


@pytest.fixture
def client(eva: None, anna: User) -> Client:
    client = Client()
    client.force_login(anna)
    return client


@pytest.mark.parametrize(("path", "id"), FRAGMENTS.items())
def test_htmx_gets_the_part_with_the_id_it_replaces(client: Client, path: str, id: str) -> None:
    answer = client.get(path, headers={"HX-Request": "true"})
    text = answer.content.decode().strip()
    assert re.match(rf'<\w+ id="{id}"', text)
    assert "<html" not in text
    assert "HX-Request" in answer["Vary"]


@pytest.mark.parametrize("path", ["/", "/wissen/", EVA, "/einstellungen/"])
def test_private_pages_are_kept_by_nobody(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/wissen/", EVA, "/einstellungen/", "/kurator/", "/stand/"])
def test_pages_ask_who_is_there(database: None, path: str) -> None:
    assert Client().get(path)["Location"].startswith("/anmelden/?next=")
    assert Client().get(path, headers={"HX-Request": "true"})["HX-Redirect"].startswith("/anmelden/?next=")


@pytest.mark.parametrize(
    ("page", "back"),
    [
        (f"http://testserver{EVA}?axis=known", "/wissen/person%3Aeva/%3Faxis%3Dknown"),
        ("http://evil.example/wissen/", "/"),
        (None, "/"),
    ],
)
def test_an_act_after_the_session_ended_leads_back_to_its_page(database: None, page: str | None, back: str) -> None:
    answer = Client().post(f"{EVA}notiz/", {"text": "x"}, headers={"Referer": page} if page else {})
    assert answer["Location"] == f"/anmelden/?next={back}"


def test_no_page_needs_inline_code(client: Client) -> None:
    for path in ("/", "/wissen/", EVA):
        text = client.get(path).content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|hx-on", text)


def test_the_same_message_twice_is_one(client: Client) -> None:
    for _attempt in range(2):
        client.post("/nachrichten/", {"text": "Hallo", "client_id": "c-1"})
    assert client.get("/").content.decode().count('class="said"') == 1


@pytest.mark.parametrize("path", [f"{EVA}?valid_at=gestern", f"{EVA}?as_of=2026-05-01T10:00"])
def test_a_time_that_cannot_be_read_is_said_in_words(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 422
    assert "Das geht nicht." in answer.content.decode()


def test_both_axes_at_once(client: Client) -> None:
    text = client.get(f"{EVA}?valid_at=2026-05-01T00:00:00Z&known_at=2020-01-01T00:00:00Z").content.decode()
    assert "wie der Agent es am 1. Januar 2020, 01:00 glaubte" in text


@pytest.mark.parametrize(("language", "heading"), [("de", "Hier ist nichts."), ("en", "There is nothing here.")])
def test_a_missing_page_speaks_the_readers_language(database: None, language: str, heading: str) -> None:
    answer = Client().get("/gibt-es-nicht/", headers={"Accept-Language": language})
    assert answer.status_code == 404
    assert heading in answer.content.decode()
