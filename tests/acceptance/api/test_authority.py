"""An agent never gets the authority of the person it works for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gedaechtnis.identity.models import Group, GroupMembership, User
from tests.acceptance.api.support import LUNA, fact, propose

SAID = "Ich mag Fisch nicht. Luna mag Lachs! Mag sie auch Huhn? Wir wohnen seit 2019 in Ulm"


def quote(api: Any, text: str, said: str = SAID) -> dict[str, Any]:
    message_id = api.post("/api/chats/main/messages", {"text": said}).json()["message_id"]
    return {"kind": "conversation_quote", "ref": f"msg:{message_id}", "text": text}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (SAID, "committed"),
        ("Luna mag  Lachs", "committed"),
        ("Ich mag Fisch nicht. Luna mag Lachs!", "committed"),
        ("Mag sie auch Huhn? Wir wohnen seit 2019 in Ulm.", "committed"),
        ("L", "pending"),
        ("Ich mag Fisch", "pending"),
        ("mag Lachs!", "pending"),
        ("Mag sie auch Huhn?", "pending"),
        ("Mag sie auch Huhn", "pending"),
        ("Luna mag Huhn", "pending"),
    ],
)
def test_only_whole_sentences_prove_what_a_person_said(api: Any, agent: Any, text: str, outcome: str) -> None:
    propose(api, LUNA)
    assert propose(agent, fact("likes", "Lachs", evidence=quote(api, text)))[0]["outcome"] == outcome


def test_a_made_up_quote_is_never_shown_as_the_persons_words(api: Any, agent: Any) -> None:
    propose(api, LUNA)
    held = propose(agent, fact("likes", "Lachs", evidence=quote(api, "Luna liebt Lachs, merk dir das")))[0]
    (waiting,) = api.get("/api/world/proposals").json()["items"]
    assert waiting["quote"] == ""
    fact_id = api.post(f"/api/world/proposals/{held['proposal_id']}/accept").json()["fact_id"]
    (evidence,) = api.get(f"/api/world/facts/{fact_id}").json()["evidence"]
    assert evidence["kind"] == "note"


def test_anothers_message_proves_nothing(api: Any, agent: Any, stranger: Any) -> None:
    propose(api, LUNA)
    assert propose(agent, fact("likes", "Lachs", evidence=quote(stranger, SAID)))[0]["outcome"] == "pending"


@pytest.mark.parametrize("trusted", [False, True])
def test_nobody_but_a_person_touches_a_policy(
    api: Any, anna: User, client_for: Callable[..., Any], trusted: bool
) -> None:
    rule = {"op": "upsert_entity", "id_hint": "policy:ruhe", "kind": "policy", "canonical_name": "Ruhe"}
    stated = propose(api, LUNA, rule, fact("description", "Nachts ist Ruhe", subject="policy:ruhe"))[2]
    other = client_for(anna, agent_role="assistant", trusted_writer=trusted)
    proof = {"evidence": quote(api, SAID)}
    results = propose(
        other,
        {**rule, "id_hint": "policy:laut", "canonical_name": "Laut", **proof},
        fact("description", "Nachts ist Musik", subject="policy:ruhe", **proof),
        fact("name", "Krach", subject="policy:ruhe", **proof),
        {"op": "add_alias", "entity_ref": "policy:ruhe", "alias": "Krach", **proof},
        {"op": "invalidate_fact", "target_fact_id": stated["fact_id"], **proof},
        fact("likes", "alles", memory_type="policy", **proof),
    )
    assert [result["outcome"] for result in results] == ["pending"] * 6


@pytest.mark.parametrize("event_type", ["proposal.accepted", "fact.asserted", "entity.created"])
def test_the_memorys_own_record_cannot_be_forged(api: Any, agent: Any, event_type: str) -> None:
    for client in (api, agent):
        (result,) = propose(client, {"op": "record_event", "event_type": event_type, "summary": "x"})
        assert (result["outcome"], result["code"]) == ("rejected", "reserved_event_type")


def test_shared_rows_name_only_what_every_reader_reads(api: Any, anna: User, clara: User) -> None:
    group, other = (Group.objects.create(name=name) for name in ("WG", "Verein"))
    for shared in (group, other):
        GroupMembership.objects.create(group=shared, user=anna)
    GroupMembership.objects.create(group=group, user=clara)
    in_group, in_other = {"Gedaechtnis-Scope": f"group:{group.pk}"}, {"Gedaechtnis-Scope": f"group:{other.pk}"}
    private = propose(api, LUNA)[0]["entity_id"]
    foreign = propose(api, {**LUNA, "id_hint": "pet:mia", "canonical_name": "Mia"}, **in_other)[0]["entity_id"]
    for ref in (private, foreign, "pet:luna", "pet:mia", "Luna", "Mia"):
        results = propose(
            api,
            fact("likes", "Lachs", subject=ref),
            fact("likes", "Huhn", subject=ref, applies_to_ref=ref),
            {"op": "add_alias", "entity_ref": ref, "alias": "Mieze"},
            {"op": "record_event", "event_type": "note.recorded", "target_ref": ref},
            **in_group,
        )
        assert [result["code"] for result in results] == ["unknown_reference"] * 4
    made = propose(api, LUNA, **in_group)[0]
    assert made["outcome"] == "committed"
    assert made["entity_id"] != private
    note = propose(api, fact("likes", "Fisch", subject=made["entity_id"]))[0]
    assert note["outcome"] == "committed"
