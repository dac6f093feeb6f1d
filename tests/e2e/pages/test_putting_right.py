from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import EVA, Open

pytestmark = pytest.mark.e2e


def unfolded(page: Page, predicate: str) -> Locator:
    row = page.locator("details.fact", has=page.locator(".predicate", has_text=predicate)).first
    row.locator("summary").first.click()
    expect(row.locator(".fact-actions")).to_be_visible()
    return row


def test_a_fact_tells_its_history(eva: None, visit: Open) -> None:
    row = unfolded(visit(EVA), "wohnt in")
    expect(row.locator(".chain li")).to_have_text(
        ["Nürnberg April 2024 – Juni 2026", "München seit Juni 2026"], use_inner_text=True
    )


def test_it_corrects_a_value(eva: None, visit: Open) -> None:
    page = visit(EVA)
    row = unfolded(page, "geboren am")
    row.get_by_text("Korrigieren", exact=True).click()
    row.get_by_label("geboren am").fill("1991-04-03")
    row.get_by_role("button", name="So ist es richtig").click()
    expect(page.locator("#live")).to_contain_text("Korrigiert.")
    expect(page.locator("#entity-moment")).to_contain_text("3. April 1991")


def test_a_refusal_keeps_what_was_typed(eva: None, visit: Open) -> None:
    page = visit(EVA)
    row = unfolded(page, "wohnt in")
    row.get_by_text("Korrigieren", exact=True).click()
    row.get_by_label("wohnt in").fill("Nirgendwo")
    row.get_by_role("button", name="So ist es richtig").click()
    expect(row.get_by_role("alert")).to_contain_text("Nirgendwo")
    expect(row.get_by_label("wohnt in")).to_have_value("Nirgendwo")


def test_it_ends_what_no_longer_holds(eva: None, visit: Open) -> None:
    page = visit(EVA)
    row = unfolded(page, "wohnt in")
    row.get_by_text("Gilt nicht mehr").click()
    row.get_by_label("seit").fill("2026-10-01")
    row.get_by_role("button", name="Es ist vorbei").click()
    expect(page.locator(".facts.past")).to_contain_text("Juni 2026 – 1. Oktober 2026")


def test_it_takes_back_what_was_never_true(eva: None, visit: Open) -> None:
    page = visit(EVA)
    unfolded(page, "isst").get_by_role("button", name="Stimmt nicht").click()
    expect(page.locator("#live")).to_contain_text("Zurückgenommen.")
    expect(page.locator("#entity-moment")).not_to_contain_text("Fleisch")


def test_a_change_elsewhere_arrives_without_losing_a_word(eva: None, visit: Open) -> None:
    page, other = visit(EVA), visit(EVA)
    row = unfolded(page, "geboren am")
    row.get_by_text("Korrigieren", exact=True).click()
    row.get_by_label("geboren am").fill("1990-04-0")
    unfolded(other, "isst").get_by_role("button", name="Stimmt nicht").click()
    expect(page.locator("#entity-moment")).not_to_contain_text("Fleisch")
    field = page.get_by_label("geboren am")
    expect(field).to_have_value("1990-04-0")
    expect(field).to_be_focused()


def test_a_question_is_answered_in_place_in_every_window(eva: None, visit: Open) -> None:
    page, other = visit("/"), visit("/")
    page.get_by_role("button", name="Ja, merken").click()
    for window in (page, other):
        expect(window.locator(".review")).to_contain_text("gemerkt")
        expect(window.get_by_role("button", name="Ja, merken")).to_have_count(0)
    page.goto(EVA)
    expect(page.locator("#entity-moment")).to_contain_text("Bergwandern")
