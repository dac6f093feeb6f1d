"""Governing the vocabulary: what an administrator needs is done in well under a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from gedaechtnis.registry.models import EntityKind
from tests.conftest import make_user
from tests.e2e.conftest import Open, apart

_A_MINUTE = 60


@contextmanager
def within_a_minute() -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < _A_MINUTE


@pytest.fixture
def govern(eva: None, visit: Open) -> Iterator[Callable[[str], Page]]:
    """Admin pages as Gerda, who administers the vocabulary and is nobody in Anna's memory."""

    def hire() -> None:
        gerda = make_user("gerda")
        gerda.is_staff = gerda.is_superuser = True
        gerda.save()

    apart(hire)
    yield lambda path: visit(path, user="gerda")
    apart(lambda: EntityKind.objects.filter(key="folder").update(state="loaded"))


def test_adding_a_predicate_with_schema_and_labels(govern: Callable[[str], Page]) -> None:
    with within_a_minute():
        page = govern("/admin/registry/predicate/add/")
        page.locator("[name=key]").fill("garden:area")
        page.locator("[name=label_de]").fill("Gartenfläche")
        page.locator("[name=label_en]").fill("garden area")
        page.locator("[name=value_type]").select_option("number")
        page.locator("[name=value_schema]").fill('{"type": "nonsense"}')
        page.locator("[name=_save]").click()
        expect(page.locator(".errorlist").last).to_contain_text("JSON-Schema")
        page.locator("[name=value_schema]").fill('{"type": "number", "minimum": 0}')
        page.locator("[name=_save]").click()
        expect(page.locator(".messagelist .success")).to_contain_text("garden:area")
        expect(page.locator("#result_list")).to_contain_text("Gartenfläche")


def test_deprecating_a_kind(govern: Callable[[str], Page]) -> None:
    with within_a_minute():
        page = govern("/admin/registry/entitykind/?q=folder")
        page.locator("[name=_selected_action][value=folder]").check()
        page.locator("select[name=action]").select_option("deprecate")
        page.locator(".actions button[type=submit]").click()
        expect(page.locator(".messagelist .success")).to_be_visible()
        expect(page.locator("#result_list .field-state")).to_have_text("veraltet")


def test_finding_where_a_predicate_is_used(govern: Callable[[str], Page]) -> None:
    with within_a_minute():
        page = govern("/admin/registry/predicate/")
        page.locator("#searchbar").fill("wohnt")
        page.locator("#searchbar").press("Enter")
        page.get_by_role("link", name="lives_in").click()
        used = page.locator(".field-where_used")
        expect(used).to_contain_text("2 Tatsachen")  # of the two places of hers
        expect(used).to_contain_text("predicate change lives_in")
        expect(page.locator("[name=cardinality]")).to_have_count(0)
        expect(page.locator("body")).not_to_contain_text("Nürnberg")
