"""Beliefs of two agents have drifted apart: their person says what holds, on a page of its own or in the chat."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from playwright.sync_api import expect

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import agent, person
from gedaechtnis.knowledge import hot
from gedaechtnis.knowledge.consolidation import consolidate
from gedaechtnis.knowledge.harmonizing import harmonize
from gedaechtnis.memory.selectors import conflicts, proposals
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.writing import freetext
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact
from tests.e2e.conftest import Open, apart

PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."
VERBS = {"new": "Das Neue gilt", "both": "Beides gilt", "old": "Das Alte bleibt"}
LEFT = {"new": {OTHER_PORT}, "both": {PORT, OTHER_PORT}, "old": {PORT}}


def remember(anna: User, role: str, text: str) -> None:
    """An agent remembers something and proposes it."""
    speaker = agent(anna, role)
    hot.remember(principal=speaker, text=text, domain="operations", topic="ports")
    consolidate(principal=speaker)


def accept_first(anna: User) -> None:
    waiting = proposals.list_proposals(principal=person(anna))
    governance.accept_proposal(principal=person(anna), proposal_id=waiting[0].id)


def believed(anna: User) -> set[str]:
    with scope(person(anna)):
        rows = Fact.objects.believed().filter(predicate="statement", valid_to=None)
        return set(rows.values_list("statement", flat=True))


def both_believed(anna: User) -> None:
    """As they were before anybody compared them."""
    with patch.object(freetext, "rivals", lambda *_args: []):
        for role, text in (("builder", PORT), ("planner", OTHER_PORT)):
            remember(anna, role, text)
            accept_first(anna)
    assert len(harmonize(principal=agent(anna, "planner")).raised) == 1


def one_believed(anna: User) -> None:
    remember(anna, "builder", PORT)
    remember(anna, "planner", OTHER_PORT)
    accept_first(anna)
    assert len(harmonize(principal=agent(anna, "planner")).raised) == 1


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
@pytest.mark.parametrize("keep", VERBS)
def test_beliefs_of_two_agents_are_reconciled(anna: User, visit: Open, keep: str, scripts: bool) -> None:
    apart(lambda: both_believed(anna))
    page = visit("/widersprueche/", java_script_enabled=scripts)
    card = page.locator(".contradiction")
    expect(card.locator("mark")).to_have_text(["5432", "5433"])
    expect(card.locator("figcaption")).to_contain_text(["dein Agent „builder“", "dein Agent „planner“"])
    card.get_by_role("button", name=VERBS[keep]).click()
    expect(page.locator("#live")).to_contain_text("Entschieden:")
    expect(page.get_by_role("button", name=VERBS[keep])).to_have_count(0)
    assert apart(lambda: believed(anna)) == LEFT[keep]
    apart(lambda: asked_no_more(anna))


def test_what_waits_stands_beside_what_another_agent_said(anna: User, visit: Open) -> None:
    apart(lambda: one_believed(anna))
    card = visit("/widersprueche/").locator(".contradiction")
    expect(card.locator("figcaption")).to_contain_text(["dein Agent „builder“", "dein Agent „planner“"])


@pytest.mark.parametrize("keep", VERBS)
def test_what_waits_is_reconciled_in_the_chat(anna: User, visit: Open, keep: str) -> None:
    apart(lambda: one_believed(anna))
    page = visit("/")
    card = page.locator(".question[data-state=open]")
    expect(card).to_have_count(1)
    expect(card).to_contain_text(OTHER_PORT)
    expect(card).to_contain_text(f"{PORT} (builder, ")
    card.get_by_role("button", name=VERBS[keep]).click()
    expect(page.locator(".question[data-state=open]")).to_have_count(0)
    assert apart(lambda: believed(anna)) == LEFT[keep]
    apart(lambda: asked_no_more(anna))


def asked_no_more(anna: User) -> None:
    assert harmonize(principal=agent(anna, "builder")).raised == ()
    assert not proposals.list_proposals(principal=person(anna))
    assert not conflicts.list_conflicts(principal=person(anna), only_open=True).items
