"""Who owns a place decides how sensitive a statement in it is; what tells of the statement follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from curator.curate import curate
from gedaechtnis.chat import selectors
from gedaechtnis.chat import services as chats
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity.models import AuditEntry, Group, GroupMembership, Org, OrgMembership, User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.schemas import MemoryMutationProposal, Outcome
from gedaechtnis.memory.selectors import explain
from gedaechtnis.memory.selectors.export import export_own
from gedaechtnis.memory.services import facts
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.services.governance import accept_proposal
from gedaechtnis.memory.services.sensitivity import classify_fact, sensitivity_of
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, Proposal

Admin = psycopg.Connection[Any]
Role = GroupMembership.Role
MIA = {"op": "upsert_entity", "id_hint": "person:mia", "kind": "person", "canonical_name": "Mia"}


def remember(
    principal: Principal, *, scope_ref: str | None = None, predicate: str = "likes", value: str = "Kuchen"
) -> UUID:
    """What Mia likes, or the like; the id of the fact."""
    says = {"op": "assert_fact", "subject_ref": "person:mia", "predicate": predicate, "object_value": value}
    proposal = MemoryMutationProposal.model_validate({"operations": [MIA, says]})
    made = commit_proposal(principal=principal, proposal=proposal, scope_ref=scope_ref).results[1].fact_id
    assert made is not None
    return made


def visible(principal: Principal, fact_id: UUID, clearance: int) -> bool:
    return bool(explain.get_facts(principal=replace(principal, clearance=clearance), fact_ids=[fact_id]))


def refusal(principal: Principal, fact_id: UUID, level: int = 3) -> str:
    with pytest.raises(Problem) as refused:
        classify_fact(principal=principal, fact_id=fact_id, level=level)
    return refused.value.code


def levels(admin: Admin, table: str, where: str) -> set[int]:
    return {level for (level,) in admin.execute(f"SELECT classification FROM {table} WHERE {where}")}


def test_a_statement_becomes_more_and_less_sensitive_with_all_its_pieces(
    as_anna: Principal, admin_connection: Admin
) -> None:
    first = remember(as_anna, predicate="job_title", value="Köchin")
    correction = facts.correct_fact(principal=as_anna, fact_id=first, changes={"valid_from": "2020-01-01"})
    ended = facts.end_fact(principal=as_anna, fact_id=correction.fact_id, at="2024-01-01")  # type: ignore[arg-type]
    assert ended.outcome is Outcome.COMMITTED
    with scope(as_anna):
        pieces = set(Fact.objects.filter(origin_fact_id=correction.fact_id).values_list("pk", flat=True))
    assert len(pieces) == 2
    for level in (3, 1):
        classify_fact(principal=as_anna, fact_id=pieces.copy().pop(), level=level)
        ids = ", ".join(f"'{id}'" for id in pieces)
        assert levels(admin_connection, "facts", f"id IN ({ids})") == {level}
        assert levels(admin_connection, "fact_evidence", f"fact_id = '{correction.fact_id}'") <= {level}
        assert visible(as_anna, pieces.copy().pop(), 1) is (level == 1)
    assert levels(admin_connection, "facts", f"id = '{first}'") == {1}, "another statement keeps its own"
    changes = AuditEntry.objects.filter(kind="classified").order_by("at")
    assert [entry.details["change"] for entry in changes] == ["1-3", "3-1"]
    assert {entry.details["scope"] for entry in changes} == {as_anna.default_scope}


def test_what_else_tells_of_it_rises_and_never_sinks(as_anna: Principal, admin_connection: Admin) -> None:
    remember(as_anna)
    says = {"op": "assert_fact", "subject_ref": "person:mia", "predicate": "likes", "object_value": "Tee"}
    agent = replace(as_anna, kind=PrincipalKind.AGENT, acted_by=f"agent:x@{as_anna.acted_by}")
    waiting = commit_proposal(
        principal=agent, proposal=MemoryMutationProposal.model_validate({"operations": [says]})
    ).results[0]
    assert waiting.proposal_id is not None
    fact_id = accept_proposal(principal=as_anna, proposal_id=waiting.proposal_id).fact_id
    assert fact_id is not None
    with scope(as_anna):
        event_id = Fact.objects.get(pk=fact_id).event_id
    for level in (3, 1):
        classify_fact(principal=as_anna, fact_id=fact_id, level=level)
        assert levels(admin_connection, "world_events", f"id = '{event_id}'") == {3}
        assert levels(admin_connection, "proposals", f"id = '{waiting.proposal_id}'") == {3}


@pytest.mark.parametrize("raised", ["before", "after", "meanwhile"])
def test_a_proposal_is_as_sensitive_as_what_it_would_change(
    as_anna: Principal, admin_connection: Admin, raised: str
) -> None:
    """It repeats what is believed in its slot."""
    agent = replace(as_anna, kind=PrincipalKind.AGENT, acted_by=f"agent:x@{as_anna.acted_by}", clearance=1)
    fact_id = remember(as_anna, predicate="job_title", value="Spionin" if raised != "meanwhile" else "Köchin")
    if raised == "before":
        classify_fact(principal=as_anna, fact_id=fact_id, level=3)
    says = {"op": "assert_fact", "subject_ref": "person:mia", "predicate": "job_title", "object_value": "Lehrerin"}
    commit_proposal(principal=agent, proposal=MemoryMutationProposal.model_validate({"operations": [says]}))
    with scope(as_anna):
        waiting = Proposal.objects.get()
    if raised == "after":
        classify_fact(principal=as_anna, fact_id=fact_id, level=3)
    if raised == "meanwhile":
        changed = remember(as_anna, predicate="job_title", value="Spionin")
        classify_fact(principal=as_anna, fact_id=changed, level=3)
        with pytest.raises(Problem, match="stale"):
            accept_proposal(principal=as_anna, proposal_id=waiting.pk)
    assert levels(admin_connection, "proposals", "present LIKE '%Spionin%'") == {3}


def test_an_export_tells_no_more_than_the_chat(as_anna: Principal) -> None:
    """What was answered with a fact that has become more sensitive is in neither."""
    fact_id = remember(as_anna, value="Kuchen")
    chat = chats.main_chat(principal=as_anna)
    chats.post_message(principal=as_anna, chat_id=chat.id, text="Was mag Mia?")
    classify_fact(principal=as_anna, fact_id=fact_id, level=3)
    for clearance, told in ((2, False), (3, True)):
        with export_own(principal=replace(as_anna, clearance=clearance)) as file:
            assert ("Kuchen" in file.read().decode()) is told


def test_quotes_and_answers_are_as_sensitive_as_the_fact_has_become(as_anna: Principal, anna: User) -> None:
    remember(as_anna, value="Tee")
    chat = chats.main_chat(principal=as_anna)
    chats.post_message(principal=as_anna, chat_id=chat.id, text="Mia mag Kuchen.")
    curate(user=anna, chat_id=chat.id)
    chats.post_message(principal=as_anna, chat_id=chat.id, text="Was mag Mia?")

    def read(clearance: int) -> str:
        found = selectors.messages(principal=replace(as_anna, clearance=clearance), chat_id=chat.id)
        return " ".join(view.text for view in found)

    assert read(2).count("Kuchen") == 2, "said and answered"
    assert read(1).count("Kuchen") == 1
    with scope(as_anna):
        fact = Fact.objects.get(predicate="likes", object_value="Kuchen")
    classify_fact(principal=as_anna, fact_id=fact.pk, level=3)
    assert "Kuchen" not in read(2)
    assert read(3).count("Kuchen") == 2


def test_it_is_never_less_sensitive_than_what_it_names(as_anna: Principal, admin_connection: Admin) -> None:
    fact_id = remember(as_anna, predicate="allergic_to", value="Nüsse")
    for level in (0, -1, 4):
        assert refusal(as_anna, fact_id, level) == "out_of_range"
    admin_connection.execute("UPDATE entities SET classification = 2 WHERE slug = 'mia'")
    found = sensitivity_of(principal=as_anna, fact_id=fact_id)
    assert found is not None
    assert (found.level, found.choices) == (3, (2, 3))
    assert refusal(as_anna, fact_id, 1) == "out_of_range"


def test_policies_and_names_stay_as_they_are(as_anna: Principal) -> None:
    remember(as_anna)
    policy = [
        {"op": "upsert_entity", "id_hint": "policy:quiet", "kind": "policy", "canonical_name": "Nachtruhe"},
        {
            "op": "assert_fact",
            "subject_ref": "policy:quiet",
            "predicate": "policy_rule",
            "object_value": "Nach 22 Uhr still",
        },
    ]
    commit_proposal(principal=as_anna, proposal=MemoryMutationProposal.model_validate({"operations": policy}))
    with scope(as_anna):
        fixed = list(Fact.objects.filter(predicate__in=["policy_rule", "name"]))
    assert len(fixed) > 2
    for fact in fixed:
        assert refusal(as_anna, fact.pk) == "out_of_range"


@pytest.fixture
def crowd(anna: User, ben: User, clara: User) -> dict[str, str]:
    """A group of Anna's in which Ben writes, and an org that Anna administers and Ben is in; by kind."""
    group, org = Group.objects.create(name="Familie"), Org.objects.create(name="Nord")
    GroupMembership.objects.create(group=group, user=anna, role=Role.OWNER)
    GroupMembership.objects.create(group=group, user=ben, role=Role.EDITOR)
    OrgMembership.objects.create(org=org, user=anna, role=OrgMembership.Role.ADMIN)
    OrgMembership.objects.create(org=org, user=ben)
    return {"user": person(anna).default_scope, "group": f"group:{group.pk}", "org": f"org:{org.pk}"}


@pytest.mark.parametrize("kind", ["user", "group", "org"])
def test_only_the_owner_decides(
    crowd: dict[str, str], anna: User, ben: User, clara: User, admin_connection: Admin, kind: str
) -> None:
    fact_id = remember(person(anna), scope_ref=crowd[kind])
    for user in (ben, clara):
        expected = "not_owner" if user == ben and kind != "user" else "not_found"
        assert refusal(person(user), fact_id) == expected
        if expected == "not_owner":
            assert sensitivity_of(principal=person(user), fact_id=fact_id) is None
        else:
            with pytest.raises(NotFound):
                sensitivity_of(principal=person(user), fact_id=fact_id)
    for limits in ({"kind": PrincipalKind.AGENT}, {"write_scopes": frozenset()}):
        limited = replace(person(anna), **limits)
        assert refusal(limited, fact_id) == "not_owner"
    assert levels(admin_connection, "facts", f"id = '{fact_id}'") == {1}
    classify_fact(principal=person(anna), fact_id=fact_id, level=3)
    assert levels(admin_connection, "facts", f"id = '{fact_id}'") == {3}


# The database


def test_no_plain_update_changes_it(as_anna: Principal) -> None:
    fact_id = remember(as_anna)
    for table in ("facts", "fact_evidence"):
        with (
            pytest.raises(DatabaseError, match=r"immutable|permission denied"),
            scope(as_anna, write=as_anna.default_scope),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE {table} SET classification = 0 WHERE scope_ref = %s", [as_anna.default_scope])
    assert not visible(as_anna, fact_id, 0)


def test_the_function_changes_what_is_open_for_writing_and_nothing_else(
    as_anna: Principal, as_clara: Principal, admin_connection: Admin
) -> None:
    fact_id, other = remember(as_anna), remember(as_clara)
    with scope(as_clara, write=as_clara.default_scope), connection.cursor() as cursor:
        with pytest.raises(DatabaseError, match="not open for writing"), transaction.atomic():
            cursor.execute("SELECT world_classify(%s, %s, 0::smallint)", [as_anna.default_scope, fact_id])
        cursor.execute("SELECT world_classify(%s, %s, 0::smallint)", [as_clara.default_scope, fact_id])
    before = admin_connection.execute("SELECT f::text FROM facts f WHERE id = %s", [other]).fetchone()
    classify_fact(principal=as_anna, fact_id=fact_id, level=3)
    assert admin_connection.execute("SELECT f::text FROM facts f WHERE id = %s", [other]).fetchone() == before
    row = admin_connection.execute("SELECT to_jsonb(f) - 'classification' FROM facts f WHERE id = %s", [fact_id])
    assert row.fetchone() is not None
    assert levels(admin_connection, "facts", f"id = '{fact_id}'") == {3}


# The page


def test_its_owner_finds_the_choice_on_the_facts_page(
    crowd: dict[str, str], anna: User, ben: User, page_for: Callable[[User], Client], admin_connection: Admin
) -> None:
    fact_id = remember(person(anna), scope_ref=crowd["group"])
    page, act = reverse("fact", args=[fact_id]), reverse("fact-classify", args=[fact_id])
    hers, his = page_for(anna), page_for(ben)
    assert "Wie vertraulich es ist: gewöhnlich" in " ".join(hers.get(page).content.decode().split())
    assert "Wie vertraulich" not in his.get(page).content.decode()
    assert his.post(act, {"level": "3"}).status_code == 422
    assert hers.post(act, {"level": "7"}).status_code == 422
    assert levels(admin_connection, "facts", f"id = '{fact_id}'") == {1}
    assert hers.post(act, {"level": "3"}).status_code == 302
    assert "Wie vertraulich es ist: vertraulich" in " ".join(hers.get(page).content.decode().split())
    assert "Kuchen" in his.get(page).content.decode(), "people see it as before"
