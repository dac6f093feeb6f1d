"""Leaving at the pages: what is taken along arrives whole, a closed group goes, and so does an account."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import Group, User
from gedaechtnis.identity.principals import person, user_scope
from gedaechtnis.memory.services import facts
from tests.e2e.conftest import Open, apart

pytestmark = pytest.mark.e2e

DATA = "/einstellungen/daten/"


@pytest.fixture
def garden(anna: User, clara: User) -> Group:
    """Anna's group with a garden, on which Clara, who has left, keeps a private note."""

    def make() -> Group:
        made = groups.create_group(user=anna, name="Familie")
        groups.add_member(user=anna, group_id=made.pk, username="clara")
        thing = facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=f"group:{made.pk}")
        assert thing.entity_id is not None
        own = user_scope(clara.sub)
        facts.add_note(principal=person(clara), entity_id=thing.entity_id, text="verwildert", scope_ref=own)
        groups.leave(user=clara, group_id=made.pk)
        return made

    return apart(make)


def downloaded(page: Page) -> list[dict[str, object]]:
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Alles herunterladen").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_closed_group_is_taken_along_and_erased(garden: Group, visit: Open, scripts: bool) -> None:
    page = visit(f"/einstellungen/gruppen/{garden.pk}/", java_script_enabled=scripts)
    page.get_by_text("Schließen", exact=True).click()
    page.get_by_role("button", name="Gruppe schließen").click()
    page.get_by_role("link", name="Familie").click()
    expect(page.locator("main")).to_contain_text("Niemand liest mehr darin")
    header, *rows, footer = downloaded(page)
    assert header["scope_ref"] == f"group:{garden.pk}"
    assert sum(footer["rows"].values()) == len(rows)  # type: ignore[attr-defined]
    page.get_by_text("Jetzt löschen").click()
    page.get_by_role("button", name="Gruppe löschen").click()
    expect(page).to_have_url(re.compile("/gruppen/$"))
    expect(page.get_by_role("link", name="Familie")).to_have_count(0)
    assert apart(lambda: Group.objects.count()) == 0


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_somebody_puts_a_note_away_takes_all_along_and_goes(garden: Group, visit: Open, scripts: bool) -> None:
    elsewhere = visit("/wissen/", user="clara")
    page = visit("/einstellungen/", user="clara", java_script_enabled=scripts)
    page.get_by_role("link", name="Deine Daten").click()
    note = page.locator(".members li")
    expect(note).to_contain_text("verwildert")
    header, *_rows, _footer = downloaded(page)
    assert header["scope_kind"] == "user"
    note.get_by_role("button", name="Gilt nicht mehr").click()
    expect(note).to_have_count(0)

    page.get_by_text("Mein Konto löschen").click()
    page.get_by_label("Dein Passwort").fill("falsch")
    page.get_by_role("button", name="Endgültig löschen").click()
    expect(page.get_by_role("alert")).to_have_text("Das ist nicht dein Passwort.")
    page.get_by_label("Dein Passwort").fill("geheim-clara")
    page.get_by_role("button", name="Endgültig löschen").click()
    expect(page).to_have_url(re.compile("/anmelden/"))
    expect(page.get_by_role("status")).to_have_text("Dein Konto und dein Gedächtnis sind gelöscht.")
    assert apart(lambda: User.objects.filter(username="clara").exists()) is False
    # Her other window ends with its next step, which may be its own: it fetches anew what changed.
    elsewhere.reload()
    expect(elsewhere).to_have_url(re.compile("/anmelden/"))


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_the_pages_are_accessible_and_fit(garden: Group, visit: Open, theme: str, width: int) -> None:
    page = visit(DATA, user="clara", width=width, color_scheme=theme)
    page.get_by_text("Mein Konto löschen").click()
    _check(page)
    owner = apart(lambda: User.objects.get(username="anna"))
    apart(lambda: groups.close_group(user=owner, group_id=garden.pk))
    page = visit("/einstellungen/gruppen/", width=width, color_scheme=theme)
    _check(page)
    page.get_by_role("link", name="Familie").click()
    page.get_by_text("Jetzt löschen").click()
    _check(page)


def _check(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
