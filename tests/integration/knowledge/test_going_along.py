"""What agents keep goes where its owner's memory goes, and goes away with it."""

from __future__ import annotations

import json
import threading
from typing import Any

import psycopg
import pytest
from django.db import connections

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import Group, User
from gedaechtnis.identity.principals import Principal, person, user_scope
from gedaechtnis.knowledge import grants, hot, pads
from gedaechtnis.knowledge.agents import keeper_of, writing
from gedaechtnis.memory.selectors import export
from gedaechtnis.memory.services import erasure
from tests.integration.knowledge.conftest import agent_of
from tests.integration.test_import import bring, lines_of, take

Admin = psycopg.Connection[Any]
OWNED = ("working_memories", "observations", "hot_entries")


def keep_something(principal: Principal) -> None:
    pads.update(principal=principal, text="Notiz 🐈\n- zwei")
    pads.record_observation(principal=principal, text="Gesehen")
    hot.remember(principal=principal, text="Merken", domain="repo:haus/stil", session_id="s-1")


def count(admin: Admin, where: str, *values: object) -> list[int]:
    found = [admin.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone() for table in OWNED]
    return [row[0] for row in found if row]


@pytest.mark.parametrize("keep_ids", [True, False])
def test_it_comes_back_as_the_importing_persons(
    anna: User, clara: User, reviewer: Principal, keep_ids: bool, admin_connection: Admin
) -> None:
    keep_something(reviewer)
    grants.set_grant(principal=person(anna), domain="stil", agent_role="reviewer", permission="read")
    data = take(person(anna))
    pad, entries = pads.read(principal=reviewer), hot.list_hot(principal=reviewer)
    seen = pads.list_observations(principal=reviewer)
    if keep_ids:
        erasure.delete_user(user=anna)
    assert bring(person(clara), data, keep_ids=keep_ids).state == "done"
    hers = agent_of(clara, "reviewer")
    (entry,), (observed,) = hot.list_hot(principal=hers), pads.list_observations(principal=hers)
    assert pads.read(principal=hers) == pad
    assert (entry.text, entry.domain, entry.recorded_at) == (entries[0].text, entries[0].domain, entries[0].recorded_at)
    assert (observed.id == seen[0].id) is (entry.id == entries[0].id) is keep_ids
    assert [grant.permission for grant in grants.list_grants(principal=person(clara))] == ["read"]
    assert count(admin_connection, "owner_ref = %s", user_scope(clara.sub)) == [1, 1, 1]
    if not keep_ids:
        assert pads.read(principal=reviewer) == pad


def test_a_file_that_names_somebody_else_as_owner_gives_them_nothing(
    anna: User, ben: User, clara: User, reviewer: Principal, admin_connection: Admin
) -> None:
    keep_something(reviewer)
    lines = lines_of(take(person(anna)))
    for line in lines:
        if line.get("table") in OWNED:
            line["row"]["owner_ref"] = user_scope(ben.sub)
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    assert bring(person(clara), data).state == "done"
    assert count(admin_connection, "owner_ref = %s", user_scope(ben.sub)) == [0, 0, 0]
    assert count(admin_connection, "owner_ref = %s", user_scope(clara.sub)) == [1, 1, 1]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("domain_grants", "permission", "all"),
        ("hot_entries", "memory_type", "policy"),
        ("hot_entries", "memory_type", "gossip"),
        ("hot_entries", "state", "cold"),
        ("hot_entries", "text", "x" * 2_001),
        ("observations", "text", "x" * 2_001),
        ("working_memories", "text", "x" * 8_001),
    ],
)
def test_a_file_holds_what_could_have_been_written_here(
    anna: User, clara: User, reviewer: Principal, table: str, column: str, value: str
) -> None:
    keep_something(reviewer)
    grants.set_grant(principal=person(anna), domain="stil", agent_role="reviewer", permission="read")
    lines = lines_of(take(person(anna)))
    for line in lines:
        if line.get("table") == table:
            line["row"][column] = value
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    assert bring(person(clara), data).state == "refused"
    assert bring(person(clara), take(person(anna))).state == "done"


def test_an_agent_takes_along_its_own_only(anna: User, reviewer: Principal, planner: Principal) -> None:
    for agent in (reviewer, planner):
        keep_something(agent)
    for principal, roles in ((reviewer, {"reviewer"}), (person(anna), {"reviewer", "planner"})):
        rows = [line["row"] for line in lines_of(take(principal)) if line.get("table") in OWNED]
        assert {row["agent"] for row in rows} == roles


def test_the_export_of_a_closed_group_holds_nobodys_notes(anna: User, ben: User, family: Group, shared: str) -> None:
    for user in (anna, ben):
        keep_something(agent_of(user, "reviewer", scope_ref=shared))
    groups.close_group(user=anna, group_id=family.pk)
    with export.export_closed_group(user=anna, group_id=family.pk) as file:
        lines = lines_of(file.read())
    assert [lines[-1]["rows"][table] for table in OWNED] == [0, 0, 0]


def test_with_a_group_goes_what_its_members_kept_in_it(
    anna: User, ben: User, family: Group, shared: str, admin_connection: Admin
) -> None:
    for user in (anna, ben):
        keep_something(agent_of(user, "reviewer", scope_ref=shared))
        keep_something(agent_of(user, "reviewer"))
    groups.close_group(user=anna, group_id=family.pk)
    erasure.erase_group(user=anna, group_id=family.pk)
    assert count(admin_connection, "scope_ref = %s", shared) == [0, 0, 0]
    assert count(admin_connection, "true") == [2, 2, 2]


def test_with_an_account_goes_what_it_kept_in_groups_too(
    anna: User, ben: User, shared: str, admin_connection: Admin
) -> None:
    for user in (anna, ben):
        keep_something(agent_of(user, "reviewer", scope_ref=shared))
        keep_something(agent_of(user, "reviewer"))
    erasure.delete_user(user=ben)
    assert count(admin_connection, "owner_ref = %s", user_scope(ben.sub)) == [0, 0, 0]
    assert count(admin_connection, "owner_ref = %s", user_scope(anna.sub)) == [2, 2, 2]


def test_erasing_an_account_waits_for_its_agent_that_is_writing_in_a_group(
    ben: User, shared: str, admin_connection: Admin
) -> None:
    his, inside, erased = agent_of(ben, "reviewer", scope_ref=shared), threading.Event(), threading.Event()

    def write() -> None:
        try:
            with writing(his, keeper_of(his, None)):
                inside.set()
                assert not erased.wait(0.5)
                pads.update(principal=his, text="spät")
        finally:
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    assert inside.wait(5)
    erasure.delete_user(user=ben)
    erased.set()
    writer.join()
    assert count(admin_connection, "owner_ref = %s", user_scope(ben.sub)) == [0, 0, 0]
