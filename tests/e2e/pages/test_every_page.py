"""What holds for every page, in both languages, light and dark, on phone and desk."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from gedaechtnis.identity.models import User
from tests.e2e.conftest import EVA, SCREENS, Open

pytestmark = pytest.mark.e2e

PAGES = {
    "chat": "/",
    "explorer": "/wissen/",
    "nothing-found": "/wissen/?q=zzz",
    "search": "/suche/",
    "found": "/suche/?q=Eva",
    "entity": EVA,
    "entity-then": f"{EVA}?valid_at=2026-05-01",
    "entity-known": f"{EVA}?as_of=2020-01-01T00:00:00Z",
    "settings": "/einstellungen/",
    "groups": "/einstellungen/gruppen/",
    "data": "/einstellungen/daten/",
    "missing": "/wissen/person:niemand/",
}


@pytest.mark.parametrize(("language", "theme", "width"), [("de", "light", 1440), ("en", "dark", 390)])
def test_it_is_accessible_and_fits(eva: None, anna: User, visit: Open, language: str, theme: str, width: int) -> None:
    anna.language = language
    anna.save(update_fields=["language"])
    page = visit("/", width=width, color_scheme=theme)
    for name, path in PAGES.items():
        page.goto(path)
        assert page.locator("html").get_attribute("lang") == language
        _check(page, f"{name}-{language}-{theme}-{width}")


@pytest.mark.parametrize(("language", "theme", "width"), [("de", "dark", 390), ("en", "light", 1440)])
def test_the_sign_in_page_is_too(database: None, visit: Open, language: str, theme: str, width: int) -> None:
    page = visit("/anmelden/", user=None, width=width, color_scheme=theme, locale=language)
    assert page.locator("html").get_attribute("lang") == language
    _check(page, f"sign-in-{language}-{theme}-{width}")


def test_an_unfolded_fact_is_too(eva: None, visit: Open) -> None:
    page = visit(f"{EVA}?valid_at=2026-05-01", width=390)
    row = page.locator("details.fact", has_text="wohnt in").first
    row.locator("summary").first.click()
    row.get_by_text("Korrigieren", exact=True).click()
    row.get_by_text("Für Fachleute").click()
    _check(page, "fact-de-light-390")


def _check(page: Page, name: str) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}.png", full_page=True)
