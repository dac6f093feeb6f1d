"""What is sensitive stays with those whose clearance reaches it, also in the answers of the committer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from curator.curate import curate
from gedaechtnis.chat import selectors
from gedaechtnis.chat import services as chats
from gedaechtnis.chat.models import Message
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.services.governance import accept_proposal
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact

Admin = psycopg.Connection[Any]
MIA = {"op": "upsert_entity", "id_hint": "person:mia", "kind": "person", "canonical_name": "Mia"}


def says(predicate: str, value: str, **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": "person:mia", "predicate": predicate, "object_value": value, **more}


def commit(principal: Principal, *operations: dict[str, Any], run_id: str | None = None) -> list[OperationResult]:
    proposal = MemoryMutationProposal.model_validate({"run_id": run_id, "operations": list(operations)})
    return commit_proposal(principal=principal, proposal=proposal).results


def of_clearance(principal: Principal, level: int) -> Principal:
    return replace(principal, clearance=level)


def agent_of(principal: Principal) -> Principal:
    return replace(principal, kind=PrincipalKind.AGENT, acted_by=f"agent:x@{principal.acted_by}")


def levels(admin: Admin, table: str, where: str = "true") -> set[int]:
    return {level for (level,) in admin.execute(f"SELECT classification FROM {table} WHERE {where}")}


@pytest.mark.parametrize(
    ("predicate", "value", "level"),
    [("likes", "Kuchen", 1), ("phone", "+49 30 5550101", 2), ("born_on", "2018-11-02", 2), ("allergic_to", "Nüsse", 3)],
)
def test_what_is_written_is_classified_like_its_predicate(
    as_anna: Principal, admin_connection: Admin, predicate: str, value: str, level: int
) -> None:
    _, result = commit(as_anna, MIA, says(predicate, value))
    assert levels(admin_connection, "facts", f"id = '{result.fact_id}'") == {level}
    assert levels(admin_connection, "fact_evidence", f"fact_id = '{result.fact_id}'") == {level}
    assert levels(admin_connection, "world_events", f"id = '{result.event_id}'") == {level}
    assert levels(admin_connection, "operations", "op_index = 1") == {level}


def test_a_proposal_is_as_sensitive_as_what_it_proposes(as_anna: Principal, admin_connection: Admin) -> None:
    commit(as_anna, MIA)
    proposal = MemoryMutationProposal.model_validate({"operations": [says("allergic_to", "Nüsse")]})
    waiting = commit_proposal(principal=agent_of(as_anna), proposal=proposal).results[0]
    assert waiting.proposal_id is not None
    assert levels(admin_connection, "proposals") == {3}
    accepted = accept_proposal(principal=as_anna, proposal_id=waiting.proposal_id)
    assert levels(admin_connection, "facts", f"id = '{accepted.fact_id}'") == {3}
    assert levels(admin_connection, "world_events", "event_type LIKE 'proposal.%'") == {3}


def test_policies_are_public(as_anna: Principal, admin_connection: Admin) -> None:
    policy = {"op": "upsert_entity", "id_hint": "policy:quiet", "kind": "policy", "canonical_name": "Nachtruhe"}
    commit(as_anna, policy, {**says("policy_rule", "Nach 22 Uhr still"), "subject_ref": "policy:quiet"})
    assert levels(admin_connection, "entities", "kind = 'policy'") == {0}
    with scope(as_anna, clearance=0):
        assert {row.predicate for row in Fact.objects.all()} == {"name", "policy_rule"}


def test_a_successor_is_as_sensitive_as_what_it_replaces(as_anna: Principal, admin_connection: Admin) -> None:
    commit(as_anna, MIA, says("job_title", "Spionin"))
    admin_connection.execute("ALTER TABLE facts DISABLE TRIGGER facts_immutable")
    admin_connection.execute("UPDATE facts SET classification = 3 WHERE predicate = 'job_title'")
    admin_connection.execute("ALTER TABLE facts ENABLE TRIGGER facts_immutable")
    commit(as_anna, says("job_title", "Gärtnerin"))
    assert levels(admin_connection, "facts", "predicate = 'job_title'") == {3}


@pytest.mark.parametrize("value", ["Nüsse", "Milch"], ids=["already known", "new"])
def test_the_outcome_is_no_oracle(as_anna: Principal, admin_connection: Admin, value: str) -> None:
    """Known or new: the answer is the same, and so is that to the same request sent again."""
    commit(as_anna, MIA, says("allergic_to", "Nüsse"))
    low = of_clearance(as_anna, 2)
    withheld = OperationResult(op_index=0, outcome=Outcome.WITHHELD)
    assert commit(low, says("allergic_to", value), run_id="r") == [withheld]
    assert commit(low, says("allergic_to", value), run_id="r") == [withheld]
    with scope(as_anna):
        assert Fact.objects.filter(predicate="allergic_to").count() == (1 if value == "Nüsse" else 2)


@pytest.mark.parametrize("mode", ["end", "retract"])
def test_a_hidden_fact_cannot_be_told_from_a_missing_one(as_anna: Principal, mode: str) -> None:
    _, known = commit(as_anna, MIA, says("allergic_to", "Nüsse"))
    missing = "019ff000-0000-7000-8000-000000000001"

    def answer(id: str, op: dict[str, Any]) -> str:
        return commit(of_clearance(as_anna, 2), op)[0].model_dump_json().replace(id, "…")

    def operations(id: str) -> list[dict[str, Any]]:
        return [
            {"op": "invalidate_fact", "target_fact_id": id, "mode": mode},
            says("likes", "Kuchen", replaces_fact_id=id),
            says("likes", "Kuchen", based_on_fact_id=id),
        ]

    hidden = str(known.fact_id)
    for naming_hidden, naming_missing in zip(operations(hidden), operations(missing), strict=True):
        assert answer(hidden, naming_hidden) == answer(missing, naming_missing)


def test_an_entity_above_the_clearance_cannot_be_told_from_a_missing_one(as_anna: Principal) -> None:
    commit(as_anna, MIA)
    low = of_clearance(as_anna, 0)
    for known, missing in [("person:mia", "person:xyz"), ("Mia", "Xyz")]:
        answers = {
            commit(low, {**says("likes", "Kuchen"), "subject_ref": ref})[0].model_dump_json().replace(ref, "…")
            for ref in (known, missing)
        }
        assert len(answers) == 1


def test_an_answer_in_the_chat_is_as_sensitive_as_what_it_tells(as_anna: Principal, anna: User) -> None:
    commit(as_anna, MIA, says("allergic_to", "Nüsse"))
    chat = chats.main_chat(principal=as_anna)
    posted = chats.post_message(principal=as_anna, chat_id=chat.id, text="Was weißt du über Mia?")
    assert posted.reply is not None
    assert "Nüsse" in posted.reply.text
    with scope(as_anna, clearance=2):
        assert not Message.objects.filter(text__contains="Nüsse").exists()


def seen(principal: Principal, clearance: int, role: str) -> list[str]:
    """The texts in the main chat at a clearance."""
    reader = of_clearance(principal, clearance)
    try:
        chat = chats.main_chat(principal=reader)
    except Problem:
        return []
    return [view.text for view in selectors.messages(principal=reader, chat_id=chat.id) if view.role == role]


def test_a_message_is_as_sensitive_as_what_was_learned_from_it(as_anna: Principal, anna: User) -> None:
    commit(as_anna, MIA)
    chat = chats.main_chat(principal=as_anna)
    texts = ["Mia ist allergisch gegen Nüsse.", "Mia mag Kuchen."]
    for text in texts:
        chats.post_message(principal=as_anna, chat_id=chat.id, text=text)
    assert seen(as_anna, 2, "user") == texts
    assert seen(as_anna, 1, "user") == [], "personal until it was read"
    curate(user=anna, chat_id=chat.id)
    with scope(as_anna):
        assert Fact.objects.filter(predicate="allergic_to").exists()
    assert seen(as_anna, 2, "user") == seen(as_anna, 1, "user") == ["Mia mag Kuchen."]


@pytest.mark.parametrize(
    "text",
    ["Mia mag Kuchen. Gestern ging es mir nicht gut.", "Gestern ging es mir nicht gut.", "Was weißt du über Mia?"],
    ids=["understood in part", "not understood", "a question"],
)
def test_what_nobody_has_judged_stays_personal(as_anna: Principal, anna: User, text: str) -> None:
    commit(as_anna, MIA)
    chat = chats.main_chat(principal=as_anna)
    chats.post_message(principal=as_anna, chat_id=chat.id, text=text)
    curate(user=anna, chat_id=chat.id)
    assert seen(as_anna, 2, "user") == [text]
    assert seen(as_anna, 1, "user") == []
    assert seen(as_anna, 1, "assistant") == [], "an answer is no less personal than its question"


def test_a_message_is_judged_by_all_that_was_learned_from_it_whoever_learned_it(as_anna: Principal, anna: User) -> None:
    commit(as_anna, MIA)
    chat = chats.main_chat(principal=as_anna)
    text = "Mia mag Kuchen."
    posted = chats.post_message(principal=as_anna, chat_id=chat.id, text=text)
    quote = {"kind": "conversation_quote", "text": text, "ref": f"msg:{posted.message_id}"}
    commit(agent_of(as_anna), says("phone", "+49 30 5550101", source="user_assertion", evidence=quote))
    curate(user=anna, chat_id=chat.id)
    assert seen(as_anna, 2, "user") == [text]
    assert seen(as_anna, 1, "user") == []


@pytest.mark.parametrize("clearance", [0, 1, 2, 3])
def test_a_tokens_clearance_counts_on_every_read_route(
    as_anna: Principal, anna: User, client_for: Callable[..., Any], clearance: int
) -> None:
    _, name, phone, allergy = commit(
        as_anna, MIA, says("likes", "Kuchen"), says("phone", "+49 30 5550101"), says("allergic_to", "Nüsse")
    )
    commit(agent_of(as_anna), says("allergic_to", "Milch"))
    chat = chats.main_chat(principal=as_anna)
    chats.post_message(principal=as_anna, chat_id=chat.id, text="Wogegen ist Mia allergisch?")
    client = client_for(anna, clearance=clearance)
    ids = [str(result.fact_id) for result in (name, phone, allergy)]
    addresses = [
        "/api/world/entities",
        "/api/world/entities/person:mia",
        "/api/world/entities/person:mia/facts",
        "/api/world/entities/person:mia/history?beliefs=all",
        "/api/world/facts?predicate=phone",
        "/api/world/facts?predicate=allergic_to",
        "/api/world/resolve?name=Mia",
        "/api/world/proposals",
        "/api/review-items",
        "/api/chats",
        f"/api/chats/{chat.id}/messages",
        *(f"/api/world/facts/{id}" for id in ids),
        *(f"/api/world/facts/{id}/explain" for id in ids),
    ]
    text = "\n".join(client.get(address).content.decode() for address in addresses).replace("\\u00fc", "ü")
    for marker, level in [("Kuchen", 1), ("5550101", 2), ("Nüsse", 3), ("Milch", 3)]:
        assert (marker in text) == (clearance >= level), marker
    for id, level in zip(ids, (1, 2, 3), strict=True):
        assert client.get(f"/api/world/facts/{id}").status_code == (200 if clearance >= level else 404)
