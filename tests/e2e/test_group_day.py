"""A group member's day: what is shared appears at once, what is private stays so, who goes sees nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Page, expect

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from tests.conftest import make_user
from tests.e2e.conftest import SCREENS, Open, apart, two_seconds

pytestmark = pytest.mark.e2e

POND, BENCH = "Der Teich muss vor dem Frost abgedeckt werden", "Anna eine Bank schenken"


@pytest.fixture
def ben(database: None) -> User:
    return apart(lambda: make_user("ben"))


@pytest.fixture
def family(anna: User, ben: User, clara: User) -> UUID:
    """Anna leads, Ben writes, Clara reads along."""

    def found() -> UUID:
        made = groups.create_group(user=anna, name="Familie")
        groups.add_member(user=anna, group_id=made.pk, username="ben")
        groups.add_member(user=anna, group_id=made.pk, username="clara", role="viewer")
        return UUID(str(made.pk))

    return apart(found)


def make_garden(page: Page) -> None:
    page.locator("#new-thing summary").click()
    page.get_by_label("Name", exact=True).fill("Garten")
    page.get_by_label("Art", exact=True).select_option("Ort")
    page.get_by_label("Wer es sieht").select_option("Familie")
    page.get_by_role("button", name="Anlegen").click()
    expect(page.get_by_role("heading", name="Garten")).to_be_visible()


def note(page: Page, text: str, place: str | None) -> None:
    page.locator("#entity-note summary").click()
    page.get_by_label("Was soll ich notieren?").fill(text)
    if place:
        page.get_by_label("Wer es sieht").select_option(place)
    page.get_by_role("button", name="Notieren").click()
    expect(page.locator("#live")).to_contain_text("Notiert.")


def as_member(user: User, act: Callable[[Client], int]) -> int:
    """The status of what a program sends with that person's session, past all forms."""

    def send() -> int:
        client = Client()
        client.force_login(user)
        return act(client)

    return apart(send)


def test_a_group_members_day(family: UUID, clara: User, visit: Open) -> None:
    shared = f"group:{family}"
    bens, annas = visit("/wissen/", user="ben"), visit("/wissen/")

    # Anna makes something in the group; Ben's open page shows it, and whom it is shared with.
    make_garden(annas)
    expect(annas.locator(".head .chip.scope")).to_contain_text("Familie")
    garden = bens.locator(".thing", has_text="Garten")
    expect(garden.locator(".chip.scope")).to_contain_text("Familie")
    garden.get_by_role("link").click()
    note(annas, POND, "Familie")
    pond = bens.locator("details.fact", has_text=POND)
    expect(pond.locator(".chip.scope")).to_contain_text("Familie")
    expect(pond.locator(".provenance")).to_contain_text("anna")

    # Ben's private note on it is his alone.
    note(bens, BENCH, None)
    bench = bens.locator("details.fact", has_text=BENCH)
    expect(bench).to_have_count(1)
    expect(bench.locator(".chip.scope")).to_have_count(0)
    annas.reload()
    expect(annas.get_by_text(POND)).to_have_count(1)
    expect(annas.get_by_text(BENCH)).to_have_count(0)

    # Clara reads along: nothing to write with, and a refusal for whoever tries.
    claras = visit(annas.url, user="clara")
    expect(claras.get_by_text(BENCH)).to_have_count(0)
    row = claras.locator("details.fact", has_text=POND)
    row.locator("summary").first.click()
    expect(row).to_contain_text("Du liest hier mit.")
    expect(row.locator("form")).to_have_count(0)
    claras.locator("#entity-note summary").click()
    expect(claras.get_by_text("Nur du siehst sie.")).to_be_visible()
    fact = str(row.get_attribute("id")).removeprefix("fact-")
    there = claras.url.removeprefix(claras.url.split("/wissen/")[0])
    assert as_member(clara, lambda client: client.post(f"/tatsachen/{fact}/zuruecknehmen/").status_code) == 422
    sent = {"text": "Kaputt", "scope": shared}
    assert as_member(clara, lambda client: client.post(f"{there}notiz/", sent).status_code) == 422
    made = {"name": "Laube", "kind": "place", "scope": shared}
    assert as_member(clara, lambda client: client.post("/wissen/neu/", made).status_code) == 422
    annas.reload()
    expect(annas.get_by_text(POND)).to_have_count(1)
    expect(annas.get_by_text("Kaputt")).to_have_count(0)

    # Anna lets Ben go: his open page loses everything within two seconds.
    annas.goto(f"/einstellungen/gruppen/{family}/")
    promised = two_seconds(annas)
    annas.get_by_role("button", name="ben entfernen").click()
    expect(bens.get_by_role("heading")).to_have_text("Hier ist nichts.", timeout=promised)
    expect(bens.get_by_text("Garten")).to_have_count(0)
    bens.goto("/wissen/")
    expect(bens.locator(".thing")).to_have_count(1)  # himself
    assert "Garten" not in bens.content()
    assert bens.goto(f"/wissen/?scope={shared}").status == 404  # type: ignore[union-attr]
    # Clara's page knew nothing of all that and goes on.
    expect(claras.get_by_text(POND)).to_have_count(1)


def test_the_explorer_shows_one_scope_alone(family: UUID, eva: None, visit: Open) -> None:
    page = visit("/wissen/", width=390)
    make_garden(page)
    page.goto("/wissen/")
    scopes = page.get_by_role("navigation", name="Nach Sichtbarkeit filtern")
    scopes.get_by_role("link", name="Familie").click()
    expect(page.locator(".thing")).to_have_count(1)
    expect(page.locator(".thing")).to_contain_text("Garten")
    page.get_by_label("Nach Namen filtern").fill("eva")
    expect(page.locator(".thing")).to_have_count(0)
    expect(page).to_have_url(re.compile("scope=group"))
    page.get_by_label("Nach Namen filtern").fill("")
    scopes.get_by_role("link", name="privat").click()
    expect(page.locator(".thing", has_text="Eva")).to_have_count(1)
    expect(page.locator(".thing", has_text="Garten")).to_have_count(0)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_shared_pages_are_accessible_and_fit(family: UUID, eva: None, visit: Open, theme: str, width: int) -> None:
    page = visit("/wissen/", width=width, color_scheme=theme)
    make_garden(page)
    note(page, POND, "Familie")
    page.locator("#entity-note summary").click()
    _check(page)
    page.screenshot(path=SCREENS / f"shared-{theme}-{width}.png", full_page=True)
    page.goto("/wissen/")
    page.locator("#new-thing summary").click()
    _check(page)


def test_it_works_without_javascript(family: UUID, visit: Open) -> None:
    page = visit("/wissen/", java_script_enabled=False)
    make_garden(page)
    note(page, POND, "Familie")
    expect(page.locator("details.fact", has_text=POND).locator(".chip.scope")).to_contain_text("Familie")


def _check(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
