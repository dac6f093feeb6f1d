from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from gedaechtnis.identity.models import User
from tests.e2e.conftest import EVA, Open, sign_in

pytestmark = pytest.mark.e2e


def test_a_wrong_password_is_said_in_words(anna: User, visit: Open) -> None:
    page = visit("/anmelden/", user=None, locale="de")
    page.get_by_label("Name").fill("anna")
    page.get_by_label("Passwort").fill("falsch")
    page.get_by_role("button", name="Anmelden").click()
    expect(page.get_by_role("alert")).to_contain_text("passen nicht zusammen")


def test_the_language_chosen_before_goes_with_the_person(anna: User, visit: Open) -> None:
    page = visit("/anmelden/", user=None, locale="de")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(page, "anna")
    expect(page.get_by_role("link", name="Knowledge")).to_be_visible()


def test_an_expired_session_leads_to_the_sign_in_page_and_back(eva: None, visit: Open) -> None:
    page = visit(EVA)
    page.context.clear_cookies()
    page.locator("#asof-step").focus()
    page.locator("#asof-step").press("ArrowLeft")
    expect(page).to_have_url(re.compile("/anmelden/\\?next="))
    page.get_by_label("Name").fill("anna")
    page.locator("input[type=password]").fill("geheim-anna")
    page.locator("input[type=password]").press("Enter")
    expect(page.get_by_role("heading", name="Eva", exact=True)).to_be_visible()


def test_a_stranger_finds_nothing_there(eva: None, clara: User, visit: Open) -> None:
    page = visit(EVA, user="clara")
    expect(page.get_by_role("heading", name="Hier ist nichts.")).to_be_visible()
    page.goto("/wissen/")
    expect(page.locator("main")).not_to_contain_text("Eva")
