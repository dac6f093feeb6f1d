"""Access for programs in the settings: a token is shown once, does what it may, and ends when it is revoked."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import Token, User
from gedaechtnis.identity.tokens import create_token
from tests.e2e.conftest import Open, apart

pytestmark = pytest.mark.e2e

ADDRESS = "/einstellungen/zugaenge/"


def status_of(page: Page, secret: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return int(page.request.get("/api/world/entities", headers=headers).status)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_token_from_its_making_to_its_end(anna: User, visit: Open, scripts: bool) -> None:
    family = apart(lambda: groups.create_group(user=anna, name="Familie"))
    page = visit("/einstellungen/", java_script_enabled=scripts)
    page.get_by_role("link", name="Zugänge").click()
    page.get_by_label("Neuer Zugang für").fill("Laptop")
    page.get_by_label("Rolle des Agenten").fill("Butler!")
    page.get_by_role("button", name="Zugang anlegen").click()
    expect(page.get_by_role("alert")).to_contain_text("Nur kleine Buchstaben")
    page.get_by_label("Rolle des Agenten").fill("butler")
    page.get_by_label("Darf schreiben").select_option("Familie")
    page.get_by_label("Endet").select_option("in 30 Tagen")
    page.get_by_role("button", name="Zugang anlegen").click()
    secret = page.locator("#secret").inner_text()
    row = page.locator(".members li")
    expect(row).to_contain_text("Agent: butler")
    expect(row).to_contain_text("Familie")
    expect(row).to_contain_text("nie benutzt")

    token = apart(lambda: Token.objects.get())
    assert (token.write_scope, token.read_only, token.agent_role) == (f"group:{family.pk}", False, "butler")
    assert token.expires_at is not None
    assert (token.expires_at - token.created_at).days in (29, 30)
    assert status_of(page, secret) == 200

    page.goto(ADDRESS)
    expect(row).to_contain_text("zuletzt benutzt")
    assert secret not in page.content()
    page.get_by_role("button", name="Laptop widerrufen").click()
    expect(page.get_by_text("Noch hat kein Programm Zugang.")).to_be_visible()
    assert status_of(page, secret) == 401


def test_an_agent_is_trusted_where_one_leads_and_sees_what_one_lets_it(anna: User, clara: User, visit: Open) -> None:
    family = apart(lambda: groups.create_group(user=clara, name="Familie"))
    apart(lambda: groups.add_member(user=clara, group_id=family.pk, username="anna"))
    page = visit(ADDRESS)
    page.get_by_label("Neuer Zugang für").fill("Haus")
    page.get_by_label("Rolle des Agenten").fill("house_keeper")
    page.get_by_label("Darf schreiben").select_option("Familie")
    page.get_by_label("Sieht").select_option("nichts Persönliches")
    page.get_by_label("genießt Vertrauen").check()
    page.get_by_role("button", name="Zugang anlegen").click()
    expect(page.get_by_role("alert")).to_contain_text("entscheidet, wer sie leitet")
    expect(page.get_by_label("Sieht")).to_have_value("1")
    page.get_by_label("Darf schreiben").select_option("privat")
    page.get_by_role("button", name="Zugang anlegen").click()
    row = page.locator(".members li")
    for words in ("Agent: house_keeper", "privat", "genießt Vertrauen", "sieht nichts Persönliches"):
        expect(row).to_contain_text(words)
    token = apart(lambda: Token.objects.get())
    assert (token.clearance, token.trusted_writer, token.write_scope) == (1, True, f"user:{anna.sub}")


def test_anothers_token_is_none_of_ones_business(anna: User, clara: User, visit: Open) -> None:
    apart(lambda: create_token(user=anna, name="Laptop"))
    page = visit(ADDRESS, user="clara")
    expect(page.locator(".members li")).to_have_count(0)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_is_accessible_and_fits(anna: User, visit: Open, theme: str, width: int) -> None:
    apart(lambda: create_token(user=anna, name="Haussteuerung", read_only=True))
    page = visit(ADDRESS, width=width, color_scheme=theme)
    page.get_by_label("Neuer Zugang für").fill("Laptop")
    page.get_by_role("button", name="Zugang anlegen").click()
    expect(page.locator("#secret")).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
