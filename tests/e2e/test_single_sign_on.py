"""Signing in with the button of an identity provider, in a browser, as its people do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect

from gedaechtnis.identity.models import User
from tests import oidc
from tests.e2e.conftest import apart, new_page, two_seconds, wait_until_told
from tests.oidc import Issuer
from tests.stack import Stack

pytestmark = pytest.mark.e2e

GROUPS = "/einstellungen/gruppen/"


@pytest.fixture(scope="module")
def issuers() -> Iterator[tuple[Issuer, Issuer]]:
    with oidc.issuer() as work, oidc.issuer() as club:
        yield work, club


@pytest.fixture(scope="module")
def server(django_db_setup: object, issuers: tuple[Issuer, Issuer]) -> Iterator[Stack]:
    """A server that knows both."""
    environment = {"GEDAECHTNIS_OIDC_PROVIDERS": "WORK,CLUB", "GEDAECHTNIS_OIDC_GROUPS_CLAIM__WORK": "groups"}
    for name, issuer in zip(("WORK", "CLUB"), issuers, strict=True):
        environment[f"GEDAECHTNIS_OIDC_ISSUER__{name}"] = issuer.url
        environment[f"GEDAECHTNIS_OIDC_CLIENT_ID__{name}"] = oidc.CLIENT_ID
        environment[f"GEDAECHTNIS_OIDC_CLIENT_SECRET__{name}"] = oidc.CLIENT_SECRET
    server = Stack(**environment)
    try:
        server.start_web()
        yield server
    finally:
        server.stop()


@pytest.fixture
def profiles(database: None, browser: Browser, server: Stack) -> Iterator[list[Page]]:
    """Pages in browser profiles that know nothing of each other; any word on their console fails the test."""
    heard: list[str] = []
    with ExitStack() as stack:
        pages = []
        for _ in range(2):
            context = stack.enter_context(browser.new_context(base_url=server.url, locale="de"))
            context.on("console", lambda said: heard.append(said.text))
            pages.append(new_page(context))
        yield pages
    assert heard == []


def test_the_button_leads_there_and_back(profiles: list[Page], issuers: tuple[Issuer, Issuer]) -> None:
    page = profiles[0]
    issuers[0].claims = {"sub": "same", "preferred_username": "anna"}
    page.goto(GROUPS)
    expect(page).to_have_url(re.compile("/anmelden/"))
    page.get_by_role("button", name="Mit Work anmelden").click()
    expect(page).to_have_url(re.compile(f"{GROUPS}$"))
    expect(page.get_by_role("navigation", name="Hauptnavigation")).to_be_visible()
    expect(page.locator(".who")).to_have_text("anna")
    page.get_by_role("button", name="Abmelden").click()
    expect(page.get_by_role("button", name="Mit Work anmelden")).to_be_visible()


def test_the_same_subject_at_another_provider_is_somebody_else(
    profiles: list[Page], issuers: tuple[Issuer, Issuer]
) -> None:
    for page, issuer, name in zip(profiles, issuers, ("Work", "Club"), strict=True):
        issuer.claims = {"sub": "same"}
        page.goto("/")
        page.get_by_role("button", name=f"Mit {name} anmelden").click()
        expect(page.get_by_role("navigation", name="Hauptnavigation")).to_be_visible()
    assert apart(lambda: User.objects.count()) == 2


def test_a_group_comes_with_the_claim_and_leaves_open_pages_with_it(
    profiles: list[Page], issuers: tuple[Issuer, Issuer]
) -> None:
    here, elsewhere = profiles
    for page, groups in ((here, ["Familie"]), (elsewhere, [])):
        issuers[0].claims = {"sub": "1", "groups": groups}
        page.goto(GROUPS)
        page.get_by_role("button", name="Mit Work anmelden").click()
        expect(page).to_have_url(re.compile(f"{GROUPS}$"))
        if groups:
            expect(here.get_by_role("link", name="Familie")).to_be_visible()
            wait_until_told(here, apart(User.objects.get))
    expect(here.get_by_role("link", name="Familie")).to_have_count(0, timeout=two_seconds(elsewhere))


def test_a_refusal_is_said_at_the_sign_in_page(profiles: list[Page], issuers: tuple[Issuer, Issuer]) -> None:
    page = profiles[0]
    issuers[1].error = "access_denied"
    page.goto("/")
    page.get_by_role("button", name="Mit Club anmelden").click()
    expect(page.get_by_role("alert")).to_contain_text("hat nicht geklappt")
    issuers[1].error = None
