"""Back, forward, a tab that is opened again: whole pages each time, and nothing of them for whoever comes after."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Response, expect

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.projecting import index
from gedaechtnis.memory.services import facts
from tests.e2e.conftest import EVA, Open, apart, sign_in

pytestmark = pytest.mark.e2e

FOUND = "/suche/?q=Garten"
SECRET = "verwildert am Kanal"


@pytest.fixture
def garden(anna: User) -> str:
    """Anna's garden with a note; the address of its page."""

    def make() -> None:
        own = person(anna)
        thing = facts.introduce(principal=own, kind="place", name="Garten", scope_ref=own.default_scope)
        assert thing.entity_id is not None
        facts.add_note(principal=own, entity_id=thing.entity_id, text=SECRET, scope_ref=own.default_scope)
        index.run(scope_ref=own.default_scope)

    apart(make)
    return "/wissen/place:garten/"


@pytest.fixture
def page(garden: str, visit: Open) -> Page:
    """A search as people make it, and from there the page of what was found."""
    page = visit("/suche/")
    page.locator("#search-q").press_sequentially("Garten")
    expect(page).to_have_url(re.compile(re.escape(FOUND)))
    page.get_by_role("link", name="Dinge").click()
    expect(page.locator(".find-row")).to_have_count(1)
    page.go_back()
    expect(page.locator(".find-row").nth(1)).to_be_visible()
    page.locator(".find-row", has_text="Ort").get_by_role("link").click()
    is_whole(page, garden)
    return page


def is_whole(page: Page, address: str) -> None:
    """The page of that address with all that surrounds it, once."""
    expect(page).to_have_url(re.compile(re.escape(address) + "$"))
    expect(page.get_by_role("navigation", name="Hauptnavigation")).to_have_count(1)
    expect(page.locator("main")).to_have_count(1)
    expect(page.locator("main h1")).to_have_count(1)
    assert page.evaluate("document.doctype !== null && document.styleSheets.length > 0")


def is_signed_out(page: Page) -> None:
    """Nothing of it is shown, or kept where a script can read it."""
    expect(page).to_have_url(re.compile("/anmelden/"))
    expect(page.get_by_role("button", name="Anmelden")).to_be_visible()
    assert SECRET not in page.content()
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "garten" not in kept.lower()
    assert SECRET not in kept


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Abmelden").click()
    is_signed_out(page)


def test_case_c111_going_back_and_forward_shows_whole_pages(page: Page, garden: str) -> None:
    page.go_back()
    is_whole(page, FOUND)
    expect(page.locator(".find-row").first).to_contain_text("Garten")
    expect(page.locator("#search-q")).to_have_value("Garten")
    page.go_back()
    is_whole(page, "/suche/")
    page.go_forward()
    is_whole(page, FOUND)
    page.go_forward()
    is_whole(page, garden)
    expect(page.locator("main")).to_contain_text(SECRET)


def test_case_c111_so_does_going_back_after_the_history_of_htmx_was_cleared(eva: None, visit: Open) -> None:
    page = visit(EVA)
    page.locator("#asof-step").focus()
    page.locator("#asof-step").press("ArrowLeft")
    expect(page).to_have_url(re.compile("valid_at="))
    then = page.url.partition("/wissen/")[2]
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.go_back()
    is_whole(page, EVA)
    expect(page.locator("[data-past]")).to_have_count(0)
    page.go_forward()
    is_whole(page, then)
    expect(page.locator("#entity-moment[data-past]")).to_have_count(1)


def test_case_c111_so_does_loading_anew_and_a_tab_that_is_opened_again(page: Page, garden: str) -> None:
    page.go_back()
    page.reload()
    is_whole(page, FOUND)
    again = page.context.new_page()
    page.close()
    again.goto(FOUND)
    is_whole(again, FOUND)
    expect(again.locator(".find-row").first).to_contain_text("Garten")


def test_case_c111_a_page_keeps_nothing_of_what_it_showed(page: Page) -> None:
    page.go_back()
    kept = json.loads(page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])"))
    assert kept == [{}, {"htmx-current-path-for-history": FOUND}]


def test_case_c111_whoever_signed_out_finds_nothing_behind_them(page: Page) -> None:
    sign_out(page)
    page.go_back()
    is_signed_out(page)
    page.go_back()
    is_signed_out(page)


def test_case_c111_whoever_signs_in_after_them_finds_nothing_either(page: Page, garden: str, clara: User) -> None:
    sign_out(page)
    sign_in(page, "clara")
    address = re.compile(re.escape(garden) + "$")
    for _step in range(4):
        page.go_back()
        expect(page.locator("body")).not_to_contain_text(SECRET)
        if address.search(page.url):
            break
    expect(page).to_have_url(address)
    expect(page.get_by_role("heading", name="Hier ist nichts.")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Suchen")).to_have_count(1)
    expect(page.locator(".find-row", has_text="Garten")).to_have_count(0)


def test_case_c111_an_ended_session_leads_to_the_sign_in_page_and_loses_no_words(page: Page, garden: str) -> None:
    page.locator("#entity-note summary").click()
    page.get_by_label("Was soll ich notieren?").fill("Rosen schneiden")
    page.context.clear_cookies(name=re.compile("session"))
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer) if answer.request.method == "POST" else None)
    page.get_by_role("button", name="Notieren").click()
    expect(page).to_have_url(re.compile("/anmelden/\\?next="))
    assert answers[0].headers["hx-redirect"].startswith("/anmelden/?next=")
    expect(page.locator("main")).to_have_count(1)
    expect(page.get_by_role("navigation", name="Hauptnavigation")).to_have_count(0)
    page.get_by_label("Name").fill("anna")
    page.locator("input[type=password]").fill("geheim-anna")
    page.locator("input[type=password]").press("Enter")
    is_whole(page, garden)
    expect(page.get_by_label("Was soll ich notieren?")).to_have_value("Rosen schneiden")
