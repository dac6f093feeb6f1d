"""The pages of a workspace's knowledge: rules switched, facts put right, contradictions settled, notes changed."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, agent, person
from gedaechtnis.knowledge import hot, pads
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.knowledge.policy_changes import propose_policy
from gedaechtnis.memory.schemas import OperationResult
from tests.e2e.conftest import SCREENS, Open, apart

pytestmark = pytest.mark.e2e

BACKUP, LATER = "Die Sicherung läuft jede Nacht um 2 Uhr.", "Die Sicherung läuft jede Nacht um 3 Uhr."
SPACES, TABS = "Rücke mit vier Leerzeichen ein", "Rücke mit Tabs ein"
PAGES = {"facts": "/gebiete/", "rules": "/regeln/", "notes": "/arbeitsgedaechtnis/", "conflicts": "/widersprueche/"}


def say(principal: Principal, content: str, domain: str = "architecture", **more: Any) -> OperationResult:
    return propose_statement(principal=principal, content=content, domain=domain, **more).results[-1]


@pytest.fixture
def workspace(anna: User) -> None:
    """Anna's: facts under three domains, rules, an agent's notes, and one contradiction that waits."""

    def tell() -> None:
        me, builder = person(anna), agent(anna, "builder")
        say(me, "Der Server antwortet auf Port 8000.", topic="ports")
        say(me, BACKUP, "operations", topic="backup")
        say(me, "Vor jeder Freigabe läuft die ganze Suite.", "repo:gedaechtnis/release")
        say(builder, LATER, "operations", topic="backup")
        propose_policy(principal=me, rule=SPACES, domain="style")
        propose_policy(principal=me, rule="Schreibe Commits auf Englisch", domain="style", repo="gedaechtnis")
        propose_policy(principal=me, rule="Frage, bevor du etwas löschst", required_role="reviewer")
        propose_policy(principal=builder, rule="Lass Tests vor jedem Commit laufen", domain="style")
        pads.update(principal=builder, text="Als Nächstes: das Protokoll der Nacht lesen.\n- Tests brauchen Valkey")
        pads.record_observation(principal=builder, text="Die Suite dauert zwölf Minuten.")
        hot.remember(principal=builder, text="Valkey hört auf Port 6390.", domain="operations", topic="ports")

    apart(tell)


@pytest.mark.parametrize(("language", "theme", "width"), [("de", "light", 1440), ("en", "dark", 390)])
def test_the_pages_are_accessible_and_fit(
    workspace: None, anna: User, visit: Open, language: str, theme: str, width: int
) -> None:
    anna.language = language
    apart(lambda: anna.save(update_fields=["language"]))
    page = visit("/", width=width, color_scheme=theme)
    for name, path in (PAGES | {"domain": "/gebiete/?domain=style", "begun": "/?text=Regel:%20"}).items():
        page.goto(path)
        check(page, f"knowledge-{name}-{language}-{theme}-{width}")
    page.goto("/regeln/")
    page.locator(".rule summary").first.click()
    check(page, f"knowledge-change-{language}-{theme}-{width}")


@pytest.mark.parametrize(("theme", "width"), [("dark", 1440), ("light", 390)])
def test_the_empty_pages_are_too(anna: User, visit: Open, theme: str, width: int) -> None:
    page = visit("/", width=width, color_scheme=theme)
    for name, path in PAGES.items():
        page.goto(path)
        check(page, f"knowledge-empty-{name}-{theme}-{width}")


def check(page: Page, name: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}.png", full_page=True)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
