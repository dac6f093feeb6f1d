"""A served application, a browser, and a small world of Anna's."""

from __future__ import annotations

import gc
import os
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvicorn
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work
from tests.conftest import make_user

# The browser's driver keeps an event loop in this thread, which Django takes for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

T = TypeVar("T")
SCREENS = Path("test-results/screens")
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


class Site(uvicorn.Server):
    """The application over real HTTP and WebSocket, in a thread of this process."""

    def __init__(self) -> None:
        from gedaechtnis.config.asgi import application  # noqa: PLC0415 - only browser tests load the whole of it

        super().__init__(uvicorn.Config(application, lifespan="off", log_level="warning", ws="websockets-sansio"))
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def settle(self) -> None:
        """Wait for what is under way. A request whose page is gone leaves its connection to the collector."""
        deadline = time.monotonic() + 5
        while self.server_state.tasks and time.monotonic() < deadline:
            time.sleep(0.01)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.run, kwargs={"sockets": [site.listening]}, daemon=True)
    thread.start()
    while not site.started:
        time.sleep(0.02)
    yield site
    site.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])


def apart(act: Callable[[], T]) -> T:
    """Do it in a thread of its own: here the browser's event loop runs, and live notices are sent from outside one."""

    def closing() -> T:
        try:
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(closing).result()


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
        work.run_due()

    apart(tell)


Open = Callable[..., Page]


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What browsers complained about; a test that ends with any fails."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def visit(site: Site, browser: Browser, complaints: list[str]) -> Iterator[Open]:
    """`visit("/", width=390)` opens a page in a browser of its own, signed in as Anna unless told otherwise."""
    contexts: list[BrowserContext] = []

    def open_page(path: str, *, user: str | None = "anna", width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(
            base_url=site.url, viewport={"width": width, "height": 900}, timezone_id="Europe/Berlin", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: _note(said.type, said.text, complaints))
        if user:
            sign_in(page, user)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    site.settle()


def sign_in(page: Page, user: str) -> None:
    page.goto("/anmelden/")
    page.get_by_label("Name").fill(user)
    page.locator("input[type=password]").fill(f"geheim-{user}")
    page.locator("input[type=password]").press("Enter")
    expect(page).to_have_url(re.compile("/$"))


def _note(kind: str, text: str, complaints: list[str]) -> None:
    # A refusal that the page answers in words (4xx) is logged by the browser all the same.
    if kind in {"error", "warning"} and "Failed to load resource: the server responded with a status of 4" not in text:
        complaints.append(text)
