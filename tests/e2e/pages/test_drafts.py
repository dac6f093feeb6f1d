"""What was typed outlives a page that must load anew or sign in first; for nobody but who typed it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from tests.e2e.conftest import EVA, Open, apart, sign_in, wait_until_told

pytestmark = pytest.mark.e2e

SAID = "Luna ist meine Katze"


def loads_anew(page: Page, anna: User, act: Callable[[], object]) -> None:
    """Do it, and wait until her page has loaded anew by itself."""
    wait_until_told(page, anna)
    with page.expect_event("load"):
        apart(act)


def test_a_change_of_rights_keeps_what_is_being_written_in_the_chat(anna: User, visit: Open) -> None:
    page = visit("/")
    field = page.get_by_label("Nachricht")
    field.fill(f"{SAID}\nund bekommt")
    loads_anew(page, anna, lambda: groups.create_group(user=anna, name="Familie"))
    expect(field).to_have_value(f"{SAID}\nund bekommt")
    page.reload()
    expect(field).to_have_value("")


def test_it_keeps_a_half_filled_form(anna: User, eva: None, visit: Open) -> None:
    family = apart(lambda: groups.create_group(user=anna, name="Familie"))
    page = visit("/wissen/")
    page.locator("#new-thing summary").click()
    page.get_by_label("Name", exact=True).fill("Garten")
    page.get_by_label("Art", exact=True).select_option("Ort")
    page.get_by_label("Wer es sieht").select_option("Familie")
    loads_anew(page, anna, lambda: groups.create_group(user=anna, name="Chor"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Garten")
    expect(page.get_by_label("Art", exact=True)).to_have_value("place")
    expect(page.get_by_label("Wer es sieht")).to_have_value(f"group:{family.pk}")


def test_a_group_that_was_lost_is_not_chosen_any_more(anna: User, clara: User, visit: Open) -> None:
    apart(lambda: groups.create_group(user=anna, name="Chor"))
    family = apart(lambda: groups.create_group(user=clara, name="Familie"))
    apart(lambda: groups.add_member(user=clara, group_id=family.pk, username="anna"))
    page = visit("/wissen/")
    page.locator("#new-thing summary").click()
    page.get_by_label("Name", exact=True).fill("Garten")
    page.get_by_label("Wer es sieht").select_option("Familie")
    loads_anew(page, anna, lambda: groups.remove_member(user=clara, group_id=family.pk, sub=anna.sub))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Garten")
    expect(page.get_by_text("Familie")).to_have_count(0)
    page.get_by_role("button", name="Anlegen").click()
    expect(page.get_by_role("heading", name="Garten")).to_be_visible()
    expect(page.locator(".head .chip.scope")).to_have_text("privat")


def test_a_message_sent_after_the_session_ended_waits_for_the_sign_in(anna: User, visit: Open) -> None:
    page = visit("/")
    field = page.get_by_label("Nachricht")
    field.fill(SAID)
    end_session(page)
    field.press("Enter")
    expect(page).to_have_url(re.compile("/anmelden/"))
    sign_in_here(page, "anna")
    expect(field).to_have_value(SAID)
    field.press("Enter")
    expect(page.locator(".said")).to_have_count(1)
    expect(page.locator(".said")).to_contain_text(SAID)
    expect(field).to_have_value("")


def test_a_note_written_after_the_session_ended_waits_too(eva: None, visit: Open) -> None:
    page = visit(EVA)
    page.locator("#entity-note summary").click()
    page.get_by_label("Was soll ich notieren?").fill("Mag Tee")
    end_session(page)
    page.get_by_role("button", name="Notieren").click()
    expect(page).to_have_url(re.compile("/anmelden/"))
    sign_in_here(page, "anna")
    expect(page.get_by_label("Was soll ich notieren?")).to_have_value("Mag Tee")
    page.get_by_role("button", name="Notieren").click()
    expect(page.locator("details.fact", has_text="Mag Tee")).to_have_count(1)


def test_a_plain_form_sent_after_the_session_ended_waits_too(anna: User, visit: Open) -> None:
    page = visit("/einstellungen/gruppen/", locale="de")
    name = page.get_by_label("Eine Gruppe gründen")
    name.fill("Chor")
    end_session(page)
    name.press("Enter")
    expect(page).to_have_url(re.compile("/anmelden/"))
    page.locator("input[type=password]").fill("falsch")  # signing in may take two tries
    page.get_by_label("Name").fill("anna")
    page.get_by_role("button", name="Anmelden").click()
    expect(page.get_by_role("alert")).to_be_visible()
    sign_in_here(page, "anna")
    expect(name).to_have_value("Chor")
    name.press("Enter")
    expect(page.get_by_role("heading", name="Chor")).to_be_visible()
    page.goto("/einstellungen/gruppen/")
    expect(name).to_have_value("")


def test_it_unfolds_again(anna: User, visit: Open) -> None:
    family = apart(lambda: groups.create_group(user=anna, name="Familie"))
    page = visit(f"/einstellungen/gruppen/{family.pk}/")
    page.get_by_text("Umbenennen").click()
    name = page.get_by_label("Name der Gruppe")
    name.fill("Verwandtschaft")
    end_session(page)
    name.press("Enter")
    expect(page).to_have_url(re.compile("/anmelden/"))
    sign_in_here(page, "anna")
    expect(name).to_have_value("Verwandtschaft")
    expect(name).to_be_visible()


def test_whoever_signs_out_leaves_nothing_behind(anna: User, visit: Open) -> None:
    page = visit("/einstellungen/gruppen/")
    page.get_by_label("Eine Gruppe gründen").fill("Chor")
    page.get_by_role("button", name="Abmelden").click()
    expect(page).to_have_url(re.compile("/anmelden/"))
    page.wait_for_load_state()
    assert page.evaluate("['sent', 'draft'].map((key) => sessionStorage.getItem(key))") == [None, None]


def test_whoever_signs_in_instead_finds_nothing(anna: User, clara: User, visit: Open) -> None:
    page = visit("/")
    page.get_by_label("Nachricht").fill(SAID)
    end_session(page)
    page.get_by_label("Nachricht").press("Enter")
    expect(page).to_have_url(re.compile("/anmelden/"))
    sign_in_here(page, "clara")
    expect(page.get_by_label("Nachricht")).to_have_value("")
    assert page.evaluate("sessionStorage.getItem('draft')") is None
    end_session(page)
    sign_in(page, "anna")
    expect(page.get_by_label("Nachricht")).to_have_value("")


def end_session(page: Page) -> None:
    """As half an hour without a request does."""
    page.context.clear_cookies(name=re.compile("session"))


def sign_in_here(page: Page, user: str) -> None:
    """At the sign-in page one was led to."""
    page.get_by_label("Name").fill(user)
    page.locator("input[type=password]").fill(f"geheim-{user}")
    page.locator("input[type=password]").press("Enter")
    expect(page.get_by_role("navigation", name="Hauptnavigation")).to_be_visible()
