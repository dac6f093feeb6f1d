"""The one search: from every page, live, in time, with what found each hit, and a way to where it was said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Request, expect

from gedaechtnis.chat import episodes
from gedaechtnis.chat import services as chats
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person, user_scope
from gedaechtnis.memory.projecting import index
from gedaechtnis.memory.services import facts
from tests.e2e.conftest import EVA, SCREENS, Open, apart

pytestmark = pytest.mark.e2e

SEARCH = "/suche/"
SAID = "Eva hat im Garten am Kanal die Rosen geschnitten"


@pytest.fixture
def garden(eva: None, anna: User) -> None:
    """Eva's world, a garden that a group shares, a private note on it, and a sentence in the chat."""

    def make() -> None:
        own = person(anna)
        family = groups.create_group(user=anna, name="Familie")
        own = person(anna)
        thing = facts.introduce(principal=own, kind="place", name="Garten", scope_ref=f"group:{family.pk}")
        assert thing.entity_id is not None
        facts.add_note(
            principal=own, entity_id=thing.entity_id, text="verwildert am Kanal", scope_ref=user_scope(anna.sub)
        )
        chat = chats.main_chat(principal=own)
        chats.post_message(principal=own, chat_id=chat.id, text=SAID, client_id="1")
        episodes.project(scope_ref=own.default_scope)
        for scope_ref in own.read_scopes[:2]:
            index.run(scope_ref=scope_ref)

    apart(make)


def found(page: Page) -> Any:
    return page.locator(".find-row")


def test_the_slash_leads_to_the_field_of_any_page_and_enter_to_what_is_found(garden: None, visit: Open) -> None:
    page = visit("/wissen/")
    page.keyboard.press("/")
    field = page.get_by_label("Im Gedächtnis suchen")
    expect(field).to_be_focused()
    field.fill("Garten")
    field.press("Enter")
    expect(page).to_have_url(re.compile(r"/suche/\?q=Garten$"))
    expect(page.get_by_label("Im Gedächtnis suchen")).to_have_value("Garten")
    expect(found(page).first).to_be_visible()
    page.get_by_label("Im Gedächtnis suchen").press("/")  # a letter like any other within a field
    expect(page.get_by_label("Im Gedächtnis suchen")).to_have_value("/Garten")


def test_it_finds_facts_things_and_what_was_said_and_says_what_found_them(garden: None, visit: Open) -> None:
    page = visit(f"{SEARCH}?q=Garten")
    thing = found(page).filter(has_text="Ort")
    expect(thing.locator(".line mark").first).to_have_text("Garten")
    expect(found(page).filter(has_text="verwildert")).to_have_count(1)
    said = found(page).filter(has_text="Rosen")
    expect(said.locator(".about")).to_contain_text(re.compile("^du"))
    expect(said.locator(".voices")).to_contain_text("Wörter")
    page.get_by_role("link", name="Gespräche").click()
    expect(page).to_have_url(re.compile("in=talks"))
    expect(found(page)).to_have_count(1)
    found(page).get_by_role("link").click()
    expect(page).to_have_url(re.compile("/nachrichten/"))
    expect(page.locator(".meant")).to_contain_text(SAID)
    page.go_back()
    expect(page).to_have_url(re.compile("in=talks"))
    expect(found(page)).to_have_count(1)


def test_letters_are_answered_as_they_come_and_make_one_step_back(garden: None, visit: Open) -> None:
    page = visit(SEARCH)
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if "/suche/" in request.url else None)
    page.get_by_label("Im Gedächtnis suchen").press_sequentially("Nürnberg", delay=20)
    expect(found(page).first).to_contain_text("Nürnberg")
    expect(page).to_have_url(re.compile(r"\?q=N%C3%BCrnberg$"))
    assert len(asked) == 1
    page.get_by_label("Im Gedächtnis suchen").press("Control+a")
    page.get_by_label("Im Gedächtnis suchen").press_sequentially("Garten", delay=20)
    expect(page).to_have_url(re.compile(r"\?q=Garten$"))
    page.go_back()
    expect(page).to_have_url(re.compile("/suche/$"))
    expect(page.locator(".empty")).to_be_visible()


def test_a_slow_answer_never_takes_the_place_of_a_later_one(garden: None, visit: Open) -> None:
    page = visit(SEARCH)
    waiting: list[Any] = []

    def hold(route: Any) -> None:
        if "q=Garten" in route.request.url:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/suche/?*", hold)
    field = page.get_by_label("Im Gedächtnis suchen")
    with page.expect_request("**/suche/?*q=Garten*"):
        field.fill("Garten")
    field.fill("Nürnberg")
    expect(found(page).first).to_contain_text("Nürnberg")
    page.wait_for_timeout(200)
    expect(page).to_have_url(re.compile("N%C3%BCrnberg"))
    expect(found(page).first).to_contain_text("Nürnberg")
    assert len(waiting) == 1


def test_what_is_over_says_until_when(garden: None, visit: Open) -> None:
    page = visit(f"{SEARCH}?q=Nürnberg")
    row = found(page).filter(has_text="Eva wohnt in Nürnberg")
    expect(row.locator(".over")).to_contain_text("April 2024 – Juni 2026")


def test_it_keeps_to_the_moment_that_the_page_stands_at(garden: None, visit: Open) -> None:
    page = visit(EVA)
    page.locator("#asof-step").focus()
    page.locator("#asof-step").press("ArrowLeft")
    expect(page).to_have_url(re.compile("valid_at="))
    page.keyboard.press("Escape")
    field = page.get_by_label("Im Gedächtnis suchen")
    field.fill("Nürnberg")
    field.press("Enter")
    expect(page).to_have_url(re.compile(r"/suche/\?q=N%C3%BCrnberg&valid_at="))
    expect(page.locator(".then")).to_contain_text("Was galt")
    page.get_by_role("link", name="Heute suchen").click()
    expect(page).to_have_url(re.compile(r"\?q=N%C3%BCrnberg$"))
    expect(page.locator(".then")).to_have_count(0)


def test_what_cannot_be_read_as_a_time_is_said(garden: None, visit: Open) -> None:
    page = visit(f"{SEARCH}?q=Garten&from=2026-05-02&to=2026-05-01")
    expect(page.get_by_role("alert")).to_have_text("Die Zeit endet, bevor sie beginnt.")


def test_where_nothing_is_found_it_says_what_may_help(garden: None, visit: Open) -> None:
    page = visit(f"{SEARCH}?q=qqqxyz&in=facts&mode=keyword")
    expect(page.locator(".empty")).to_contain_text("Zu „qqqxyz“ finde ich nichts.")
    page.get_by_role("link", name="Überall suchen").click()
    expect(page).to_have_url(re.compile(r"q=qqqxyz$"))
    expect(page.locator(".empty")).to_contain_text("Zu „qqqxyz“ finde ich nichts.")
    page = visit(f"{SEARCH}?q=gardening")
    expect(page.locator("#search-results")).to_contain_text("„gardening“ steht nirgends. Am nächsten kommt:")


def test_without_scripts_it_is_a_form_and_links(garden: None, visit: Open) -> None:
    page = visit("/", java_script_enabled=False)
    page.get_by_label("Im Gedächtnis suchen").fill("Garten")
    page.get_by_label("Im Gedächtnis suchen").press("Enter")
    expect(found(page).first).to_be_visible()
    page.get_by_role("link", name="Dinge", exact=True).click()
    expect(found(page)).to_have_count(1)
    page.get_by_label("Im Gedächtnis suchen").fill("Eva")
    page.get_by_role("button", name="Finden").click()
    expect(page).to_have_url(re.compile(r"\?q=Eva&.*in=things"))
    expect(found(page).first).to_contain_text("Eva")


def test_a_stranger_finds_nothing_of_it(garden: None, clara: User, visit: Open) -> None:
    page = visit(f"{SEARCH}?q=Garten", user="clara")
    expect(page.get_by_role("navigation", name="Filtern, wo es steht")).to_be_visible()
    for known in ("Garten", "Eva", "verwildert"):
        expect(found(page).filter(has_text=known)).to_have_count(0)


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize(("language", "theme"), [("de", "light"), ("en", "dark")])
def test_it_is_accessible_and_fits(
    garden: None, anna: User, visit: Open, language: str, theme: str, width: int
) -> None:
    anna.language = language
    apart(lambda: anna.save(update_fields=["language"]))
    page = visit("/", width=width, color_scheme=theme)
    pages = {
        "search": SEARCH,
        "search-garden": f"{SEARCH}?q=Garten+Eva",
        "search-then": f"{SEARCH}?q=Eva&valid_at=2026-05-01&in=facts&mode=keyword",
        "search-nothing": f"{SEARCH}?q=qqqxyz&mode=keyword",
    }
    for name, path in pages.items():
        page.goto(path)
        _check(page, f"{name}-{language}-{theme}-{width}")
    page.goto(f"{SEARCH}?q=Rosen&in=talks")
    found(page).get_by_role("link").click()
    expect(page.locator(".meant")).to_be_visible()
    _check(page, f"message-{language}-{theme}-{width}")


def _check(page: Page, name: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}.png")
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
