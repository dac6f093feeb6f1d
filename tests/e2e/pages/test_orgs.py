"""Organisations in the settings, and acting in one of several."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from gedaechtnis.identity import orgs
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.services import facts
from tests.e2e.conftest import Open, apart

pytestmark = pytest.mark.e2e


@pytest.fixture
def anna_of_staff(anna: User) -> User:
    anna.is_staff = True
    apart(lambda: anna.save())
    return anna


@pytest.fixture
def two(anna_of_staff: User, clara: User) -> dict[str, UUID]:
    """Anna administers both, Clara is a member of both; each holds a garden."""
    made: dict[str, UUID] = {}

    def found(name: str) -> None:
        org = orgs.create_org(user=anna_of_staff, name=name)
        orgs.add_member(user=anna_of_staff, org_id=org.pk, username="clara")
        principal = person(anna_of_staff, org.pk)
        facts.introduce(principal=principal, kind="place", name=f"Garten {name}", scope_ref=f"org:{org.pk}")
        made[name] = UUID(str(org.pk))

    for name in ("Nord", "Süd"):
        apart(lambda name=name: found(name))  # type: ignore[misc]
    return made


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_one_from_its_founding_to_its_leaving(anna_of_staff: User, clara: User, visit: Open, scripts: bool) -> None:
    page = visit("/einstellungen/", java_script_enabled=scripts)
    page.get_by_role("link", name="Organisationen").click()
    page.get_by_label("Eine Organisation gründen").fill("Verein Nord")
    page.get_by_role("button", name="Gründen").click()
    expect(page.get_by_role("heading", name="Verein Nord")).to_be_visible()

    page.get_by_label("Jemanden aufnehmen").fill("clarra")
    page.get_by_role("button", name="Aufnehmen").click()
    expect(page.get_by_role("alert")).to_have_text("Ich kenne niemanden mit dem Benutzernamen „clarra“.")
    page.get_by_label("Jemanden aufnehmen").fill("clara")
    page.get_by_role("button", name="Aufnehmen").click()
    expect(page.locator("#live")).to_contain_text("clara ist jetzt in der Organisation.")

    page.get_by_text("Verlassen", exact=True).click()
    page.get_by_role("button", name="Organisation verlassen").click()
    expect(page.get_by_role("alert")).to_contain_text("Jemand muss die Organisation verwalten.")
    page.get_by_label("Rolle von clara", exact=True).select_option("verwaltet sie")
    page.get_by_role("button", name="Rolle von clara ändern").click()
    expect(page.get_by_label("Rolle von clara", exact=True)).to_have_value("admin")

    page.get_by_text("Neue Gruppe", exact=True).click()
    page.get_by_label("Name der Gruppe").fill("Vorstand")
    page.get_by_role("button", name="Gründen").click()
    expect(page.get_by_role("heading", name="Vorstand")).to_be_visible()
    expect(page.get_by_text("Verein Nord")).to_be_visible()

    page.get_by_role("link", name="Gruppen").click()
    expect(page.get_by_role("link", name="Vorstand")).to_contain_text("Verein Nord")
    page.get_by_role("link", name="Organisationen").click()
    page.get_by_role("link", name="Verein Nord").click()
    page.get_by_text("Verlassen", exact=True).click()
    page.get_by_role("button", name="Organisation verlassen").click()
    expect(page).to_have_url(re.compile("/organisationen/$"))
    expect(page.get_by_text("Du bist in keiner Organisation.")).to_be_visible()
    page.get_by_role("link", name="Gruppen", exact=True).click()
    expect(page.get_by_text("Du bist noch in keiner Gruppe.")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_pages_show_and_write_within_the_one_chosen(two: dict[str, UUID], visit: Open, scripts: bool) -> None:
    page = visit("/wissen/", java_script_enabled=scripts)
    things = page.locator("#explorer-results .things")
    expect(things).to_contain_text("Garten Nord")
    expect(things).not_to_contain_text("Garten Süd")
    page.get_by_label("Organisation, in der ich handle").select_option("Süd")
    page.get_by_role("button", name="Wechseln").click()
    expect(things).to_contain_text("Garten Süd")
    expect(things).not_to_contain_text("Garten Nord")
    expect(page).to_have_url(re.compile("/wissen/$"))
    # Chips and the choice of who sees a new thing follow.
    expect(page.locator(".chip.scope", has_text="Süd").first).to_be_visible()
    expect(page.locator(".chip.scope", has_text="Nord")).to_have_count(0)
    page.get_by_text("Neu", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Halle")
    assert page.get_by_label("Wer es sieht").locator("option").all_inner_texts() == ["privat", "Süd"]
    page.get_by_label("Wer es sieht").select_option("Süd")
    page.get_by_role("button", name="Anlegen").click()
    expect(page.get_by_role("heading", name="Halle")).to_be_visible()
    expect(page.locator("main .chip.scope", has_text="Süd").first).to_be_visible()

    page.get_by_label("Organisation, in der ich handle").select_option("Nord")
    page.get_by_role("button", name="Wechseln").click()
    expect(things).to_contain_text("Garten Nord")
    expect(things).not_to_contain_text("Halle")


def test_an_open_page_hears_of_what_is_written_in_the_second_one(
    two: dict[str, UUID], anna_of_staff: User, visit: Open
) -> None:
    page = visit("/wissen/", user="clara")
    page.get_by_label("Organisation, in der ich handle").select_option("Süd")
    page.get_by_role("button", name="Wechseln").click()
    things = page.locator("#explorer-results .things")
    expect(things).to_contain_text("Garten Süd")

    def write(name: str, thing: str) -> None:
        principal = person(anna_of_staff, two[name])
        facts.introduce(principal=principal, kind="place", name=thing, scope_ref=f"org:{two[name]}")

    apart(lambda: write("Süd", "Südhalle"))
    expect(things).to_contain_text("Südhalle")
    # A member reads along: nothing to write with for all.
    page.get_by_text("Neu", exact=True).click()
    expect(page.get_by_label("Wer es sieht")).to_have_count(0)


def test_who_is_put_out_sees_nothing_more_at_once(
    two: dict[str, UUID], anna_of_staff: User, clara: User, visit: Open
) -> None:
    page = visit("/wissen/", user="clara")
    things = page.locator("#explorer-results .things")
    expect(things).to_contain_text("Garten Nord")
    apart(lambda: orgs.remove_member(user=anna_of_staff, org_id=two["Nord"], sub=clara.sub))
    expect(things).to_contain_text("Garten Süd", timeout=2_000)
    expect(things).not_to_contain_text("Garten Nord")
    expect(page.get_by_label("Organisation, in der ich handle")).to_have_count(0)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_an_organisation_is_accessible_and_fits(two: dict[str, UUID], visit: Open, theme: str, width: int) -> None:
    page = visit("/einstellungen/organisationen/", width=width, color_scheme=theme)
    for path in ("/einstellungen/organisationen/", f"/einstellungen/organisationen/{two['Nord']}/"):
        page.goto(path)
        for summary in page.locator("details.inline > summary").all():
            summary.click()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
