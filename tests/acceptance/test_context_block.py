"""The block an agent is given before a run, letter by letter, in both languages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.selectors.context import build_context
from gedaechtnis.memory.services.commit import commit_proposal
from tests.conftest import make_user

GOLDEN = Path(__file__).with_name("golden")
FIRST = datetime(2026, 6, 2, 9, 0, tzinfo=UTC)
LAST = datetime(2026, 6, 8, 17, 20, tzinfo=UTC)
MESSAGE = {
    "de": "Ich mache mit home-agent weiter: Was hält den PR 42 auf, und für wen ist Annas Katze da?",
    "en": "I am going on with home-agent: what holds up PR 42?",
}


def fact(subject: str, predicate: str, value: object, **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, "object_value": value, **more}


def relation(subject: str, predicate: str, target: str, **more: Any) -> dict[str, Any]:
    return {"op": "assert_relationship", "subject_ref": subject, "predicate": predicate, "object_ref": target, **more}


def thing(hint: str, kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"op": "upsert_entity", "id_hint": hint, "kind": kind, "canonical_name": name, **more}


def tell(principal: Principal, at: datetime, *operations: dict[str, Any]) -> list[Any]:
    with clock.frozen(at):
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        results = commit_proposal(principal=principal, proposal=proposal).results
    assert {result.outcome for result in results} <= {"committed", "restated"}, results
    return list(results)


@pytest.fixture
def basti(database: None) -> User:
    with clock.frozen(FIRST):
        return make_user("basti")


@pytest.fixture
def at_work(basti: User) -> Iterator[Principal]:
    """Basti's memory after a week of work with an agent and a connected code host."""
    me = person(basti)
    from_host = replace(me, kind=PrincipalKind.AGENT, acted_by=f"agent:github@{me.acted_by}", trusted_writer=True)
    preference = {"memory_type": "preference"}
    tell(
        me,
        FIRST,
        fact("me", "prefers", "`uv`, never pip", confidence=0.8, **preference),
        thing("repo", "repo", "home-agent"),
        thing("pr", "task", "PR 42"),
        thing("issue", "task", "Issue 40"),
        thing("anna", "person", "Anna"),
        thing("cat", "pet", "Mimi", aliases=["Annas Katze"]),
        relation("cat", "owned_by", "anna"),
    )
    tell(
        from_host,
        FIRST + timedelta(days=1),
        fact("repo:home-agent", "default_branch", "main", source="tool_result"),
        relation("task:pr-42", "belongs_to", "repo:home-agent", source="tool_result"),
        relation("task:pr-42", "blocked_by", "task:issue-40", source="tool_result"),
    )
    tell(me, FIRST + timedelta(days=2), fact("me", "preferred_output_format", "text", **preference))
    tell(
        me,
        LAST - timedelta(hours=3),
        fact("repo:home-agent", "gotcha", "extensions come by postInitSQL", confidence=0.6, source="inference"),
        fact("me", "preferred_output_format", "markdown", **preference),
    )
    edited = tell(
        me,
        LAST - timedelta(minutes=6),
        {"op": "record_event", "event_type": "note.recorded", "summary": "memory.py edited",
         "target_ref": "repo:home-agent", "occurred_at": "2026-06-08T17:14:00Z", "source": "assistant_output"},
    )  # fmt: skip
    tell(
        me,
        LAST,
        {"op": "record_event", "event_type": "note.recorded", "summary": "2 tests failed",
         "target_ref": "repo:home-agent", "occurred_at": "2026-06-08T17:16:00Z", "source": "tool_result",
         "caused_by_event_id": str(edited[0].event_id)},
    )  # fmt: skip
    with clock.frozen(LAST + timedelta(minutes=1)):
        yield me


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_block_reads_as_written_down(at_work: Principal, language: str) -> None:
    with translation.override(language):
        block = build_context(principal=at_work, text=MESSAGE[language])
    golden = GOLDEN / f"context.{language}.md"
    if "REWRITE_GOLDEN" in os.environ:
        golden.write_text(block.text, encoding="utf-8")
    assert block.text == golden.read_text(encoding="utf-8")
