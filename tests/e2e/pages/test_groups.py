"""Groups in the settings: founding one, letting people in, and what a member may do there."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from tests.e2e.conftest import Open, apart

pytestmark = pytest.mark.e2e


@pytest.fixture
def family(anna: User, clara: User) -> UUID:
    """Anna's group; Clara reads along."""
    made = apart(lambda: groups.create_group(user=anna, name="Familie"))
    apart(lambda: groups.add_member(user=anna, group_id=made.pk, username="clara", role="viewer"))
    return UUID(str(made.pk))


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_group_from_its_founding_to_its_end(anna: User, clara: User, visit: Open, scripts: bool) -> None:
    page = visit("/einstellungen/", java_script_enabled=scripts)
    page.get_by_role("link", name="Gruppen").click()
    page.get_by_label("Eine Gruppe gründen").fill("Familie")
    page.get_by_role("button", name="Gründen").click()
    expect(page.get_by_role("heading", name="Familie")).to_be_visible()

    page.get_by_label("Jemanden aufnehmen").fill("clarra")
    page.get_by_role("button", name="Aufnehmen").click()
    expect(page.get_by_role("alert")).to_have_text("Ich kenne niemanden mit dem Benutzernamen „clarra“.")
    page.get_by_label("Jemanden aufnehmen").fill("clara")
    page.get_by_role("button", name="Aufnehmen").click()
    expect(page.locator("#live")).to_contain_text("clara ist jetzt in der Gruppe.")

    page.get_by_label("Rolle von clara", exact=True).select_option("liest mit")
    page.get_by_role("button", name="Rolle von clara ändern").click()
    expect(page.get_by_label("Rolle von clara", exact=True)).to_have_value("viewer")

    page.get_by_label("Rolle von anna", exact=True).select_option("liest mit")
    page.get_by_role("button", name="Rolle von anna ändern").click()
    expect(page.get_by_role("alert")).to_contain_text("Jemand muss die Gruppe leiten.")

    page.get_by_role("button", name="clara entfernen").click()
    expect(page.locator(".members li")).to_have_count(1)
    page.get_by_text("Umbenennen").click()
    page.get_by_label("Name der Gruppe").fill("Weber & Co")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("heading", name="Weber & Co")).to_be_visible()

    page.get_by_text("Schließen", exact=True).click()
    page.get_by_role("button", name="Gruppe schließen").click()
    expect(page).to_have_url(re.compile("/gruppen/$"))
    expect(page.get_by_text("Du bist noch in keiner Gruppe.")).to_be_visible()


def test_a_viewer_sees_who_is_in_it_and_may_leave(family: UUID, visit: Open) -> None:
    page = visit(f"/einstellungen/gruppen/{family}/", user="clara", width=390)
    expect(page.locator(".members li")).to_have_count(2)
    expect(page.locator("main form")).to_have_count(1)
    page.get_by_text("Verlassen", exact=True).click()
    page.get_by_role("button", name="Gruppe verlassen").click()
    expect(page.locator("#live")).to_contain_text("Du hast die Gruppe verlassen.")
    page.goto(f"/einstellungen/gruppen/{family}/")
    expect(page.get_by_role("heading")).to_have_text("Hier ist nichts.")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_a_group_is_accessible_and_fits(family: UUID, visit: Open, theme: str, width: int) -> None:
    page = visit(f"/einstellungen/gruppen/{family}/", width=width, color_scheme=theme)
    for name in ("Umbenennen", "Schließen"):
        page.get_by_text(name, exact=True).click()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
