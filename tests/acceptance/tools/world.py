"""A small world that every tool has something to say about: Basti, the cat he cares for, the repository he works on.

Told on the days it is about, so that valid time and system time differ where the tools tell them apart.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gedaechtnis.chat import services as chats
from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import agent, person
from gedaechtnis.knowledge.policy_changes import propose_policy
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal

BEGINNING = datetime(2026, 5, 31, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 6, 12, 10, 0, tzinfo=UTC)

LUNA, BASTI, REPO = "pet:luna", "person:basti", "repo:home-agent"


def _thing(ref: str, name: str, *aliases: str) -> dict[str, Any]:
    kind = ref.partition(":")[0]
    return {"op": "upsert_entity", "id_hint": ref, "kind": kind, "canonical_name": name, "aliases": list(aliases)}


def _fact(subject: str, predicate: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, "object_value": value, **more}


def _tie(subject: str, predicate: str, target: str, **more: Any) -> dict[str, Any]:
    return {"op": "assert_relationship", "subject_ref": subject, "predicate": predicate, "object_ref": target, **more}


def build(user: User) -> None:
    """Basti's memory; what waits for his word (`colour`) and what was only believed for a while are in it too."""
    me = person(user)
    _say(
        me,
        _day(1),
        "r-first",
        _thing(LUNA, "Luna", "Lunchen"),
        _thing("person:mia", "Mia"),
        _thing(REPO, "home-agent"),
        _thing("repo:luna-tools", "luna-tools"),
        _thing("file:memory-py", "memory.py"),
        _thing("file:schema-py", "schema.py"),
        _thing("task:issue-42", "Issue 42"),
        _thing("place:ulm", "Ulm"),
        _fact(LUNA, "species", "Katze"),
        _fact(LUNA, "feeding_time_evening", "18:00", valid_from="2026-05-01"),
        _tie("me", "cares_for", LUNA),
        _tie("me", "lives_in", "place:ulm", valid_from="2024-03"),
        _tie("person:mia", "lives_in", "place:ulm"),
        _tie("me", "friend_of", "person:mia"),
        _fact("me", "preferred_language", "de", valid_from="2026-06-01"),
        _fact("me", "eats", "Fleisch", polarity=False),
        _tie("file:memory-py", "part_of", REPO),
        _tie("file:schema-py", "part_of", REPO),
        _tie("task:issue-42", "belongs_to", REPO),
        _fact("task:issue-42", "status", "blocked"),
        _fact("task:issue-42", "due_at", "2026-06-20"),
        _fact(REPO, "default_branch", "master", valid_from="2026-06-01"),
    )
    _say(me, _day(7), "r-output", _fact("me", "preferred_output_format", "markdown", confidence=0.9))
    with clock.frozen(_day(8)):
        posted = chats.post_message(
            principal=me, chat_id=chats.main_chat(principal=me).id, text="Luna bekommt abends um 19 Uhr Futter."
        )
    quote = {
        "kind": "conversation_quote",
        "ref": f"msg:{posted.message_id}",
        "text": "Luna bekommt abends um 19 Uhr Futter.",
    }
    _say(
        agent(user, "assistant"),
        _day(8),
        "r-xyz",
        _fact(LUNA, "feeding_time_evening", "19:00", valid_from="2026-06-08", evidence=quote),
        _fact(LUNA, "colour", "grau", source="inference"),
    )
    _say(me, _day(9), "r-branch", _fact(REPO, "default_branch", "main", valid_from="2026-06-01"))
    _say(me, _day(9), "r-due", _fact("task:issue-42", "due_at", "2026-06-30", correction=True))
    _say(me, _day(10), "r-english", _fact("me", "preferred_language", "en", valid_from="2026-06-10"))
    with clock.frozen(_day(10)):
        propose_policy(principal=me, rule="Nach 22 Uhr keine Meldungen", domain="notices", name="Quiet")


def _day(day: int) -> datetime:
    return datetime(2026, 6, day, 9, 0, tzinfo=UTC)


def _say(principal: Any, at: datetime, run_id: str, *operations: dict[str, Any]) -> None:
    proposal = MemoryMutationProposal.model_validate({"run_id": run_id, "operations": list(operations)})
    with clock.frozen(at):
        results = commit_proposal(principal=principal, proposal=proposal).results
    assert not [one for one in results if one.code], results
