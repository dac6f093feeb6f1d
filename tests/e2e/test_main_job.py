"""The main job in a real browser: tell, correct, change, look back, decide."""

from __future__ import annotations

import json
import re
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token
from tests.e2e.conftest import Open, apart
from tests.stack import Stack


@dataclass(frozen=True)
class Words:
    """One language's side of the conversation and of the page."""

    language: str
    told: str
    corrected: str
    changed: str
    what_held: str
    what_was_known: str
    yes: str
    noted: str
    known_as: str
    evening: str
    guess: str


GERMAN = Words(
    language="de",
    told="Luna ist meine Katze und bekommt abends um 19 Uhr Futter",
    corrected="nein, um 18 Uhr",
    changed="ab morgen um 20 Uhr",
    what_held="was galt",
    what_was_known="was der Agent wusste",
    yes="Ja, merken",
    noted="Gemerkt",
    known_as="Luna",
    evening="Futter abends",
    guess="Thunfisch",
)
ENGLISH = Words(
    language="en",
    told="Luna is my cat and gets food at 7 pm in the evening",
    corrected="no, at 6 pm",
    changed="from tomorrow at 8 pm",
    what_held="what held",
    what_was_known="what the agent knew",
    yes="Yes, remember",
    noted="Remembered",
    known_as="Luna",
    evening="evening feed",
    guess="tuna",
)


def say(page: Page, text: str) -> None:
    composer = page.locator("#composer-text")
    composer.fill(text)
    composer.press("Enter")
    expect(page.locator(".said").filter(has_text=text)).to_be_visible()


def feeding_row(page: Page, words: Words) -> Any:
    return page.locator("#entity-moment .facts").first.locator(".fact, details").filter(has_text=words.evening).first


def propose(stack: Stack, secret: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 (our own server)
        f"{stack.url}/api/world/proposals",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
        answer: dict[str, Any] = json.load(response)
        return answer


@pytest.mark.parametrize("words", [GERMAN, ENGLISH], ids=["de", "en"])
def test_tell_correct_change_look_back_and_decide(anna: User, stack: Stack, visit: Open, words: Words) -> None:
    anna.language = words.language
    apart(anna.save)
    chat = visit("/", locale="de-DE" if words.language == "de" else "en-GB")

    def window(path: str) -> Page:
        page = chat.context.new_page()
        page.goto(path)
        return page

    # Told once: the entity appears in another window without reload.
    explorer = window("/wissen/")
    say(chat, words.told)
    expect(explorer.get_by_role("link", name=re.compile(words.known_as)).first).to_be_visible()
    entity = window("/wissen/pet:luna/")
    expect(feeding_row(entity, words)).to_contain_text("19:00")
    before_correction = datetime.now(UTC)

    # Corrected: 19 was never true, but it was believed.
    say(chat, words.corrected)
    expect(feeding_row(entity, words)).to_contain_text("18:00")
    then = before_correction.isoformat().replace("+00:00", "Z")
    past = window(f"/wissen/pet:luna/?valid_at={then}")
    expect(feeding_row(past, words)).to_contain_text("18:00")
    past.get_by_role("link", name=words.what_was_known).click()
    expect(feeding_row(past, words)).to_contain_text("19:00")
    assert "as_of=" in past.url
    past.reload()
    expect(feeding_row(past, words)).to_contain_text("19:00")
    past.get_by_role("link", name=words.what_held).click()
    expect(feeding_row(past, words)).to_contain_text("18:00")

    # Changed from tomorrow on: both axes show 18 until then.
    say(chat, words.changed)
    expect(entity.locator("#asof")).to_be_visible()
    expect(entity.locator("#entity-moment")).to_contain_text("20:00")
    expect(feeding_row(entity, words)).to_contain_text("18:00")
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    for question in (f"valid_at={now}", f"as_of={now}"):
        past.goto(f"{stack.url}/wissen/pet:luna/?{question}")
        expect(feeding_row(past, words)).to_contain_text("18:00")

    # An agent's guess comes as a card and is accepted.
    _token, secret = apart(lambda: create_token(user=anna, name="assistant", agent_role="assistant"))
    answer = propose(
        stack,
        secret,
        {
            "operations": [
                {
                    "op": "assert_fact",
                    "subject_ref": "pet:luna",
                    "predicate": "likes",
                    "object_value": words.guess,
                    "source": "inference",
                    "memory_type": "derived_preference",
                }
            ]
        },
    )
    assert answer["results"][0]["outcome"] == "pending"
    card = chat.locator(".review li").filter(has_text=words.guess)
    expect(card).to_be_visible()
    card.get_by_role("button", name=words.yes).click()
    expect(card.get_by_role("button")).to_have_count(0)
    expect(entity.locator("#entity-moment")).to_contain_text(words.guess)
