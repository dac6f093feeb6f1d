"""Reading and every act work without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import EVA, Open

pytestmark = pytest.mark.e2e


@pytest.fixture
def page(eva: None, visit: Open) -> Page:
    return visit("/", java_script_enabled=False)


def test_it_sends_a_message_once(page: Page) -> None:
    page.get_by_label("Nachricht").fill("Guten Morgen")
    page.get_by_role("button", name="Senden").click()
    expect(page.locator(".said")).to_have_count(1)


def test_it_answers_a_question(page: Page) -> None:
    page.get_by_role("button", name="Nein").click()
    expect(page.locator(".review")).to_contain_text("nicht gemerkt")


def test_it_filters_by_name(page: Page) -> None:
    page.goto("/wissen/")
    page.get_by_label("Nach Namen filtern").fill("evi")
    page.get_by_role("button", name="Filtern").click()
    expect(page.locator(".thing")).to_have_count(1)


def test_it_travels_in_time(page: Page) -> None:
    page.goto(EVA)
    page.locator("#asof-at").fill("2026-05-01T12:00")
    page.get_by_role("button", name="Dorthin").click()
    expect(page).to_have_url(re.compile("valid_at=2026-05-01T10"))
    expect(page.locator("[data-differs]")).to_have_count(1)


def test_it_corrects_on_the_page_of_the_fact(page: Page) -> None:
    page.goto(EVA)
    row = page.locator("details.fact", has_text="geboren am").first
    row.locator("summary").first.click()
    row.get_by_role("link", name="Verlauf, oder richtigstellen").click()
    page.get_by_text("Korrigieren", exact=True).click()
    page.get_by_label("geboren am").fill("1991-04-03")
    page.get_by_role("button", name="So ist es richtig").click()
    expect(page).to_have_url(re.compile(EVA))
    expect(page.locator("#live")).to_contain_text("Korrigiert.")
    expect(page.locator("#entity-moment")).to_contain_text("3. April 1991")


def test_it_changes_the_language(page: Page) -> None:
    page.goto("/einstellungen/")
    page.get_by_label("English").check()
    page.get_by_label("dunkel").check()
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    assert page.locator("html").get_attribute("data-theme") == "dark"
