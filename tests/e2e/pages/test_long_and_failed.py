"""Long words stay on the page, failures keep what was typed and point to what to do."""

from __future__ import annotations

from playwright.sync_api import expect

from gedaechtnis.identity.models import User
from tests.e2e.conftest import Open


def test_a_word_without_end_stays_in_its_bubble(anna: User, visit: Open) -> None:
    page = visit("/", width=390)
    page.get_by_role("textbox", name="Nachricht").fill("Donaudampfschifffahrtsgesellschaft" * 20)
    page.get_by_role("button", name="Senden").click()
    expect(page.locator(".said")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_short_chat_does_not_scroll(anna: User, visit: Open) -> None:
    page = visit("/", width=1320)
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_after_a_wrong_password_it_is_the_password_that_is_asked_for(anna: User, visit: Open) -> None:
    page = visit("/anmelden/", user=None, locale="de")
    page.get_by_label("Name").fill("anna")
    page.get_by_label("Passwort").fill("falsch")
    page.get_by_label("Passwort").press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("anna")
    expect(page.get_by_label("Passwort")).to_be_focused()


def test_a_question_is_answered_in_a_sentence(eva: None, visit: Open) -> None:
    page = visit("/")
    page.get_by_role("textbox", name="Nachricht").fill("Wann hat Eva Geburtstag?")
    page.get_by_role("button", name="Senden").click()
    expect(page.locator(".answer")).to_contain_text("Eva ist am 3. April 1990 geboren.")
    expect(page.locator(".answer .chip")).to_have_text("Eva ist am 3. April 1990 geboren")
