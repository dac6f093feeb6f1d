from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open

pytestmark = pytest.mark.e2e


def say(page: Page, text: str) -> None:
    page.get_by_label("Nachricht").fill(text)
    page.get_by_label("Nachricht").press("Enter")
    expect(page.locator(".said").last).to_contain_text(text)


def test_what_is_told_becomes_knowledge(anna: None, visit: Open) -> None:
    page = visit("/")
    expect(page.locator(".empty")).to_contain_text("Erzähl mir aus deinem Leben")
    say(page, "Luna ist meine Katze.")
    page.get_by_role("button", name="jetzt").click()
    expect(page.locator("#curator-status")).to_contain_text("Mitgelesen")
    say(page, "Was weißt du über Luna?")
    chip = page.locator(".answer").last.locator(".chip").first
    chip.click()
    expect(page).to_have_url(re.compile("/wissen/pet:luna/.*#fact-"))
    expect(page.locator("details.fact[open]")).to_have_count(1)
    expect(page.locator("details.fact[open] .fact-actions")).to_be_visible()


def test_shift_enter_starts_a_line(anna: None, visit: Open) -> None:
    page = visit("/")
    field = page.get_by_label("Nachricht")
    field.fill("eins")
    field.press("Shift+Enter")
    field.type("zwei")
    expect(field).to_have_value("eins\nzwei")
    expect(page.locator(".said")).to_have_count(0)


def test_the_other_window_hears_it_and_keeps_its_draft(anna: None, visit: Open) -> None:
    page, other = visit("/"), visit("/")
    other.get_by_label("Nachricht").fill("angefangen")
    say(page, "Guten Morgen")
    expect(other.locator(".said")).to_contain_text("Guten Morgen")
    expect(other.get_by_label("Nachricht")).to_have_value("angefangen")


def test_an_empty_message_is_refused_in_words(anna: None, visit: Open) -> None:
    page = visit("/", java_script_enabled=False)
    page.get_by_label("Nachricht").fill("   ")
    page.get_by_role("button", name="Senden").click()
    expect(page.get_by_role("alert")).to_be_visible()
