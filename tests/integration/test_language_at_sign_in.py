"""Which language the sign-in page and the person's pages speak, in a browser that several people use."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from gedaechtnis.identity.models import User


def sign_in(client: Client, name: str) -> None:
    response = client.post(reverse("login"), {"username": name, "password": f"geheim-{name}"})
    assert response.status_code == 302


def test_what_is_chosen_before_signing_in_goes_with_the_person(anna: User) -> None:
    browser = Client()
    browser.post(reverse("language"), {"language": "en"})
    sign_in(browser, "anna")
    anna.refresh_from_db()
    assert anna.language == "en"


def test_whoever_signs_in_next_keeps_their_own(anna: User, ben: User) -> None:
    browser = Client()
    sign_in(browser, "anna")
    browser.post(reverse("settings"), {"language": "en", "theme": "auto", "time_zone": "Europe/Berlin"})
    browser.post(reverse("logout"))
    sign_in(browser, "ben")
    ben.refresh_from_db()
    assert ben.language == "de"
    assert "Einstellungen" in browser.get(reverse("settings")).content.decode()


def test_the_sign_in_page_speaks_as_the_pages_before_it(anna: User) -> None:
    browser = Client(headers={"Accept-Language": "en"})
    assert "Sign in" in browser.get(reverse("login")).content.decode()
    sign_in(browser, "anna")
    browser.post(reverse("logout"))
    assert "Anmelden" in browser.get(reverse("login")).content.decode()
