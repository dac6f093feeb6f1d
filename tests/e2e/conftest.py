"""A real server, worker and beat on the test services, and a real browser.

Screenshots go to `test-results/`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from gedaechtnis.identity.models import User
from tests.conftest import make_user
from tests.stack import RESULTS, Stack

T = TypeVar("T")

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


def aside(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call something of Django in a thread of its own: Playwright keeps an event loop in this one."""

    def call() -> T:
        try:
            return function(*args, **kwargs)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


@pytest.fixture
def anna(database: None) -> User:
    return aside(make_user, "anna")


@pytest.fixture
def ben(database: None) -> User:
    return aside(make_user, "ben")


class Visitor:
    """A person at a browser, signed in; `complaints` are the console's errors."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.complaints: list[str] = []

    def open(self, path: str) -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.url + path)
        return page

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def sign_in(self, user: User, password: str) -> Page:
        page = self.open("/")
        page.locator("input[name=username]").fill(user.username)
        page.locator("input[name=password]").fill(password)
        page.locator("input[name=password]").press("Enter")
        expect(page.locator("#composer")).to_be_visible()
        return page


@pytest.fixture
def visitor(stack: Stack, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """`visitor(locale="de-DE", …)` opens a fresh browser profile; its last pages are kept as pictures."""
    opened: list[Visitor] = []

    def make(**options: Any) -> Visitor:
        settings = {"viewport": {"width": 1320, "height": 950}, "locale": "de-DE", **options}
        made = Visitor(browser.new_context(**settings), stack.url)
        opened.append(made)
        return made

    yield make
    for number, made in enumerate(opened):
        for index, page in enumerate(made.context.pages):
            name = f"{request.node.name}-{number}-{index}".replace("/", "_")
            page.screenshot(path=RESULTS / f"{name}.png", full_page=True)
        made.context.close()
