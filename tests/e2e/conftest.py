"""A real browser on a real server, and a small world of Anna's. Pictures go to `test-results/`."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import pytest
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal
from tests.conftest import make_user
from tests.sockets import knock
from tests.stack import RESULTS, Stack

T = TypeVar("T")
Open = Callable[..., Page]

SCREENS = RESULTS / "screens"
EVA = "/wissen/person:eva/"

WORLD: list[dict[str, Any]] = [
    {"op": "upsert_entity", "id_hint": "person:eva", "kind": "person", "canonical_name": "Eva", "aliases": ["Evi"]},
    {"op": "upsert_entity", "id_hint": "place:nuernberg", "kind": "place", "canonical_name": "Nürnberg"},
    {"op": "upsert_entity", "id_hint": "place:muenchen", "kind": "place", "canonical_name": "München"},
    {
        "op": "assert_relationship",
        "subject_ref": "person:eva",
        "predicate": "lives_in",
        "object_ref": "place:nuernberg",
        "valid_from": "2024-04",
    },
    {
        "op": "assert_relationship",
        "subject_ref": "person:eva",
        "predicate": "lives_in",
        "object_ref": "place:muenchen",
        "valid_from": "2026-06",
    },
    {
        "op": "assert_fact",
        "subject_ref": "person:eva",
        "predicate": "born_on",
        "object_value": "1990-04-03",
    },
    {
        "op": "assert_fact",
        "subject_ref": "person:eva",
        "predicate": "eats",
        "object_value": "Fleisch",
        "polarity": False,
        "valid_from": "2025-09",
    },
]
GUESS = {
    "op": "assert_fact",
    "subject_ref": "person:eva",
    "predicate": "likes",
    "object_value": "Bergwandern",
    "source": "inference",
    "memory_type": "hypothesis",
    "confidence": 0.4,
}

_told: WeakSet[Page] = WeakSet()

expect.set_options(timeout=10_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium")
    if executable is None:
        pytest.fail("the browser tests need Chromium: install the package chromium")
    offline = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    # The driver keeps an event loop in this thread; closing connections beside it is safe, but Django cannot know that.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=offline)
        yield browser
        browser.close()


def apart(act: Callable[[], T]) -> T:
    """Do it in a thread of its own: in this one the browser's driver keeps an event loop."""

    def closing() -> T:
        try:
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(closing).result()


def new_page(context: BrowserContext) -> Page:
    """A page of which one can tell whether it is told of changes."""
    page = context.new_page()
    page.on("websocket", lambda line: line.on("framereceived", lambda _frame: _told.add(page)))
    return page


def wait_until_told(page: Page, user: User) -> None:
    """A page is told of changes once its line has joined its groups: knock until it hears that."""
    _told.discard(page)
    deadline = time.monotonic() + 10
    while page not in _told:
        assert time.monotonic() < deadline, "the page's line does not join"
        knock(user)
        page.wait_for_timeout(50)


def two_seconds(page: Page) -> float:
    """In milliseconds, and what the machine takes for three pages: an act, where it leads, and somebody else's."""
    begun = time.monotonic()
    page.reload()
    return 1000 * (2 + 3 * (time.monotonic() - begun))


@pytest.fixture
def anna(database: None) -> User:
    return apart(lambda: make_user("anna"))


@pytest.fixture
def clara(database: None) -> User:
    return apart(lambda: make_user("clara"))


@pytest.fixture
def eva(anna: User) -> None:
    """Anna's world: Eva moved from Nürnberg to München in June 2026; a guess of an agent's waits."""

    def tell() -> None:
        principal = person(anna)
        agent = replace(principal, kind=PrincipalKind.AGENT, acted_by=f"agent:assistant@{principal.acted_by}")
        for speaker, operations in ((principal, WORLD), (agent, [GUESS])):
            proposal = MemoryMutationProposal.model_validate({"operations": operations})
            commit_proposal(principal=speaker, proposal=proposal)

    apart(tell)


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What browsers complained about; a test that ends with any fails."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def visit(stack: Stack, browser: Browser, complaints: list[str], request: pytest.FixtureRequest) -> Iterator[Open]:
    """`visit("/", width=390)` opens a page in a browser profile of its own, signed in as Anna unless told otherwise.

    The last pages of each test are kept as pictures.
    """
    contexts: list[BrowserContext] = []

    def open_page(path: str, *, user: str | None = "anna", width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(
            base_url=stack.url, viewport={"width": width, "height": 900}, timezone_id="Europe/Berlin", **options
        )
        contexts.append(context)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("console", lambda said: _note(said.type, said.text, complaints))
        page = new_page(context)
        page.set_default_timeout(10_000)
        if user:
            sign_in(page, user)
        page.goto(path)
        return page

    yield open_page
    heard = len(complaints)
    for number, context in enumerate(contexts):
        for index, page in enumerate(context.pages):
            name = f"{request.node.name}-{number}-{index}".replace("/", "_")
            page.screenshot(path=RESULTS / f"{name}.png", full_page=True)
        context.close()
    del complaints[heard:]  # what a closing page breaks off is nobody's fault


def sign_in(page: Page, user: str) -> None:
    page.goto("/anmelden/")
    page.get_by_label("Name").fill(user)
    page.locator("input[type=password]").fill(f"geheim-{user}")
    page.locator("input[type=password]").press("Enter")
    expect(page).to_have_url(re.compile("/$"))


_MEANT = re.compile(
    # a refusal that the page answers in words
    r"Failed to load resource: the server responded with a status of 4"
    # a question that a newer one replaced (`hx-sync`); what fails is complained about under its own name as well
    r"|^htmx:(?:sendAbort|afterRequest),"
)


def _note(kind: str, text: str, complaints: list[str]) -> None:
    if kind in {"error", "warning"} and not _MEANT.search(text):
        complaints.append(text)
