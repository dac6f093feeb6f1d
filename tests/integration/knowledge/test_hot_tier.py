"""What agents want remembered: kept at once, for them alone, and believed by nobody yet."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import hot
from gedaechtnis.knowledge.models import HotEntry
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, Proposal
from tests.integration.knowledge.conftest import agent_of
from tests.integration.knowledge.test_pads import refused


def test_an_entry_is_kept_as_it_was_said_and_proposes_nothing(reviewer: Principal) -> None:
    before = _beliefs(reviewer)
    made = hot.remember(
        principal=reviewer,
        text="CI läuft\nauf zwei Kernen 🐢",
        domain="Build",
        topic=" ci ",
        session_id="s-1",
        repo="Home-Agent",
    )
    assert (made.domain, made.topic, made.session_id, made.state) == ("repo:home-agent/build", "ci", "s-1", "hot")
    assert hot.list_hot(principal=reviewer) == (made,)
    assert _beliefs(reviewer) == before


def _beliefs(principal: Principal) -> tuple[int, int]:
    with scope(principal):
        return Fact.objects.count(), Proposal.objects.count()


def test_the_latest_come_first_and_by_session(reviewer: Principal) -> None:
    made = [hot.remember(principal=reviewer, text=str(number), session_id="ab"[number % 2]).text for number in range(5)]
    assert [entry.text for entry in hot.list_hot(principal=reviewer)] == made[::-1]
    assert [entry.text for entry in hot.list_hot(principal=reviewer, session_id="a")] == ["4", "2", "0"]
    assert [entry.text for entry in hot.list_hot(principal=reviewer, limit=2)] == ["4", "3"]
    assert hot.list_hot(principal=reviewer, states=["dropped"]) == ()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"text": " "}, "missing"),
        ({"text": "x" * 2_001}, "too_long"),
        ({"text": "x", "topic": "y" * 201}, "too_long"),
        ({"text": "x", "session_id": "y" * 201}, "too_long"),
        ({"text": "a\x00"}, "invalid_text"),
        ({"text": "x", "session_id": "\x00"}, "invalid_text"),
        ({"text": "x", "domain": "a b"}, "invalid_domain"),
        ({"text": "x", "domain": "a", "repo": "/"}, "invalid_repo"),
        ({"text": "x", "memory_type": "policy"}, "invalid_memory_type"),
        ({"text": "x", "memory_type": "nonsense"}, "invalid_memory_type"),
    ],
)
def test_what_makes_no_sense_is_refused(reviewer: Principal, asked: dict[str, Any], code: str) -> None:
    refused(code, lambda: hot.remember(principal=reviewer, **asked))
    assert hot.list_hot(principal=reviewer) == ()


def test_only_its_agent_and_their_person_find_and_forget_it(
    anna: User, ben: User, as_ben: Principal, planner: Principal, shared: str
) -> None:
    hers = agent_of(anna, "reviewer", scope_ref=shared)
    made = hot.remember(principal=hers, text="Nur für mich")
    others = (planner, as_ben, agent_of(ben, "reviewer", scope_ref=shared))
    for principal in others:
        assert made not in hot.list_hot(principal=principal, scope_ref=shared)
        with pytest.raises(NotFound):
            hot.forget(principal=principal, entry_id=made.id)
        if principal is not planner:  # of the same person: kept apart by the function
            with scope(principal):
                assert HotEntry.objects.count() == 0
    for id in (made.id, uuid4()):
        with pytest.raises(NotFound):
            hot.forget(principal=as_ben, entry_id=id)
    refused("not_your_notes", partial(hot.list_hot, principal=planner, scope_ref=shared, agent="reviewer"))
    assert hot.list_hot(principal=person(anna), scope_ref=shared, agent="reviewer") == (made,)
    hot.forget(principal=person(anna), entry_id=made.id)
    assert hot.list_hot(principal=hers) == ()


def test_a_token_that_only_reads_remembers_and_forgets_nothing(anna: User, reviewer: Principal) -> None:
    made = hot.remember(principal=reviewer, text="x")
    reading = agent_of(anna, "reviewer", read_only=True)
    assert hot.list_hot(principal=reading) == (made,)
    refused("scope_denied", lambda: hot.remember(principal=reading, text="x"))
    refused("scope_denied", lambda: hot.forget(principal=reading, entry_id=made.id))


def test_what_a_higher_clearance_remembered_is_not_told_to_a_lower_one(anna: User, reviewer: Principal) -> None:
    made = hot.remember(principal=reviewer, text="Befund")
    low = agent_of(anna, "reviewer", clearance=1)
    assert hot.list_hot(principal=low) == ()
    with pytest.raises(NotFound):
        hot.forget(principal=low, entry_id=made.id)
