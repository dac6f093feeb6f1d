from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import EVA, Open

pytestmark = pytest.mark.e2e


def differing(page: Page) -> list[str]:
    return page.locator("[data-differs] .today").all_inner_texts()


def test_arrow_keys_go_from_change_to_change(eva: None, visit: Open) -> None:
    page = visit(EVA)
    slider = page.locator("#asof-step")
    slider.focus()
    slider.press("Home")
    expect(page.locator("#asof-words")).to_contain_text("1990" if "1990" in page.url else "2024")
    expect(page).to_have_url(re.compile("valid_at=2024-03-31T22"))
    expect(page.locator("details.fact", has_text="wohnt in").first).to_contain_text("Nürnberg")
    assert "heute: München, seit Juni 2026" in differing(page)
    expect(slider).to_be_focused()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("valid_at=2025-08-31T22"))
    expect(page.locator("#live")).to_contain_text("1 Ding war anders")


def test_a_moment_can_be_shared(eva: None, visit: Open) -> None:
    page = visit(f"{EVA}?valid_at=2026-05-01T10:00:00Z")
    expect(page.locator("#asof-when")).to_contain_text("Freitag, 1. Mai 2026, 12:00")
    expect(page.locator("#asof-when")).to_contain_text("1 Ding war anders")
    assert differing(page) == ["heute: München, seit Juni 2026"]


def test_today_leads_back(eva: None, visit: Open) -> None:
    page = visit(f"{EVA}?valid_at=2026-05-01")
    page.locator("#asof-today").click()
    expect(page).to_have_url(re.compile(f"{EVA}$"))
    expect(page.locator("[data-differs]")).to_have_count(0)
    page.go_back()
    expect(page.locator("[data-differs]")).to_have_count(1)


def test_what_held_is_not_what_the_agent_knew(eva: None, visit: Open) -> None:
    page = visit(f"{EVA}?valid_at=2026-05-01T10:00:00Z")
    expect(page.locator("#entity-moment")).to_contain_text("Nürnberg")
    page.get_by_role("link", name="was der Agent wusste").click()
    expect(page).to_have_url(re.compile("as_of=2026-05-01"))
    expect(page.locator("#entity-moment")).to_contain_text("noch nicht")
    expect(page.locator("#entity-moment details.fact")).to_have_count(0)


def test_a_typed_time_is_read_in_the_readers_zone(eva: None, visit: Open) -> None:
    page = visit(EVA)
    page.locator("#asof-at").fill("2025-01-02T03:04")
    expect(page).to_have_url(re.compile("valid_at=2025-01-02T02%3A04%3A00Z"))
