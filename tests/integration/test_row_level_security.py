"""The database decides who sees and writes what, whatever the application does."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import Group, GroupMembership, User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.scoping import checks
from gedaechtnis.scoping.context import ScopeNestingError, current_scope, scope
from tests.rows import insert_everywhere

Admin = psycopg.Connection[Any]

_EVERYWHERE = """
DO $$ DECLARE target regclass; BEGIN
  FOR target IN SELECT polrelid FROM pg_policy WHERE polname = 'scope_definer' LOOP
    EXECUTE format('ALTER POLICY scope_definer ON %s {}', target);
  END LOOP;
END $$
"""
_ORG_RULE = """
ALTER TABLE entities ADD CONSTRAINT entities_scope_and_org CHECK (CASE
  WHEN scope_ref = 'global' OR scope_ref LIKE 'user:%' THEN org_id IS NULL
  WHEN scope_ref LIKE 'org:%' THEN org_id IS NOT NULL AND scope_ref = 'org:' || org_id
  ELSE scope_ref LIKE 'group:%' END)
"""


def attempt(sql: str, params: list[Any]) -> int:
    """Rows that a statement touched, or 0 when the database refused it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, params)
            return int(cursor.rowcount)
    except DatabaseError:
        return 0


def test_a_viewer_is_refused_at_the_door(anna: User, ben: User) -> None:
    group = Group.objects.create(name="Familie")
    GroupMembership.objects.create(group=group, user=ben, role=GroupMembership.Role.VIEWER)
    with pytest.raises(Problem) as refused, scope(person(ben), write=f"group:{group.pk}"):
        pass
    assert refused.value.code == "scope_denied"


def test_an_inner_door_gives_back_what_the_outer_one_had(as_anna: Principal, as_clara: Principal) -> None:
    with scope(as_anna):
        before = _settings()
        with scope(as_clara):
            assert _settings() != before
        assert _settings() == before
        with pytest.raises(ZeroDivisionError), scope(as_clara):
            _ = 1 / 0
        assert _settings() == before
    assert _settings()[0] in (None, "")
    assert current_scope() is None


def _settings() -> tuple[str | None, ...]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('gedaechtnis.read_scopes', true), current_setting('gedaechtnis.write_scope', true)"
        )
        return tuple(cursor.fetchone())


def test_an_inner_door_cannot_add_a_write_scope(anna: User) -> None:
    group = Group.objects.create(name="Familie")
    GroupMembership.objects.create(group=group, user=anna)
    principal = person(anna)
    shared = f"group:{group.pk}"
    with (
        scope(principal, write=principal.default_scope),
        pytest.raises(ScopeNestingError),
        scope(principal, write=shared),
    ):
        pass
    with scope(principal, write=[principal.default_scope, shared]), scope(principal, write=shared) as inner:
        assert inner.write == shared


@pytest.mark.usefixtures("database")
def test_the_guard_stands() -> None:
    assert checks.problems() == []


@pytest.mark.parametrize(
    ("breach", "repair"),
    [
        ("ALTER TABLE facts NO FORCE ROW LEVEL SECURITY", "ALTER TABLE facts FORCE ROW LEVEL SECURITY"),
        ("CREATE TABLE leaky (id uuid, scope_ref text)", "DROP TABLE leaky"),
        ("CREATE VIEW peek AS SELECT * FROM facts", "DROP VIEW peek"),
        (
            "CREATE FUNCTION peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM facts'",
            "DROP FUNCTION peek()",
        ),
        (
            "GRANT EXECUTE ON FUNCTION world_check_references() TO PUBLIC",
            "REVOKE ALL ON FUNCTION world_check_references() FROM PUBLIC",
        ),
        ("CREATE UNIQUE INDEX facts_peek ON facts (statement)", "DROP INDEX facts_peek"),
        (
            "ALTER TABLE facts ADD CONSTRAINT peek FOREIGN KEY (subject_id) REFERENCES entities (id)",
            "ALTER TABLE facts DROP CONSTRAINT peek",
        ),
        ("ALTER ROLE gedaechtnis_app BYPASSRLS", "ALTER ROLE gedaechtnis_app NOBYPASSRLS"),
        (
            "GRANT SELECT ON world_events_other TO gedaechtnis_app",
            "REVOKE ALL ON world_events_other FROM gedaechtnis_app",
        ),
        (
            "ALTER POLICY scope_read ON facts USING (true)",
            None,
        ),
        ("GRANT gedaechtnis_definer TO gedaechtnis_app", "REVOKE gedaechtnis_definer FROM gedaechtnis_app"),
        ("GRANT gedaechtnis_backup TO gedaechtnis_app", "REVOKE gedaechtnis_backup FROM gedaechtnis_app"),
        (_EVERYWHERE.format("TO PUBLIC"), _EVERYWHERE.format("TO gedaechtnis_definer")),
        ("GRANT TRUNCATE ON facts TO gedaechtnis_app", "REVOKE TRUNCATE ON facts FROM gedaechtnis_app"),
        ("GRANT DELETE ON facts TO gedaechtnis_app", "REVOKE DELETE ON facts FROM gedaechtnis_app"),
        (
            "GRANT UPDATE ON identity_auditentry TO gedaechtnis_app",
            "REVOKE UPDATE ON identity_auditentry FROM gedaechtnis_app",
        ),
        ("ALTER TABLE facts DISABLE TRIGGER facts_references", "ALTER TABLE facts ENABLE TRIGGER facts_references"),
        (
            "ALTER TABLE chats DISABLE TRIGGER chats_keep_identity",
            "ALTER TABLE chats ENABLE TRIGGER chats_keep_identity",
        ),
        (
            "ALTER TABLE entities DROP CONSTRAINT entities_scope_and_org",
            _ORG_RULE,
        ),
        ("CREATE UNIQUE INDEX facts_peek ON facts (statement) INCLUDE (scope_ref)", "DROP INDEX facts_peek"),
        (
            "ALTER FUNCTION scoping_erase(text) OWNER TO CURRENT_USER",
            "ALTER FUNCTION scoping_erase(text) OWNER TO gedaechtnis_definer",
        ),
    ],
    ids=[
        "not forced",
        "new table",
        "view",
        "definer function",
        "callers",
        "unique key",
        "foreign key",
        "role",
        "partition",
        "policy",
        "member of definer",
        "member of backup",
        "policy of definer for all",
        "truncate",
        "delete",
        "rewriting the log",
        "reference check off",
        "identity check off",
        "org rule",
        "included column",
        "superuser's function",
    ],
)
def test_the_guard_notices_every_way_around(admin_connection: Admin, breach: str, repair: str | None) -> None:
    readable = admin_connection.execute(
        "SELECT qual FROM pg_policies WHERE tablename = 'facts' AND policyname = 'scope_read'"
    ).fetchone()
    assert readable is not None
    admin_connection.execute(breach)
    try:
        assert checks.problems()
    finally:
        admin_connection.execute(repair or f"ALTER POLICY scope_read ON facts USING ({readable[0]})")
    assert checks.problems() == []


def test_the_guard_notices_what_weakens_every_policy_alike(admin_connection: Admin) -> None:
    """Policies are compared with each other, so what is wrong in all of them must be seen in each."""
    readable = admin_connection.execute(
        "SELECT tablename, qual FROM pg_policies WHERE policyname = 'scope_read'"
    ).fetchall()
    for table, condition in readable:
        admin_connection.execute(f"ALTER POLICY scope_read ON {table} USING (({condition}) OR classification = 0)")
    try:
        assert checks.problems()
    finally:
        for table, condition in readable:
            admin_connection.execute(f"ALTER POLICY scope_read ON {table} USING ({condition})")
    assert checks.problems() == []


def test_partitions_cannot_be_read_around_their_parent(anna: User, admin_connection: Admin) -> None:
    insert_everywhere(admin_connection, person(anna).default_scope)
    with scope(person(anna)):
        for (name,) in admin_connection.execute("SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"):
            assert attempt(f'SELECT * FROM "{name}"', []) == 0
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f'SELECT count(*) FROM "{name}"')


@pytest.mark.parametrize("month", ["2026-12-01 BC", "1900-01-01", "9999-12-01", "20000-12-01", "infinity", None])
def test_the_application_gets_partitions_of_near_months_only(
    anna: User, admin_connection: Admin, month: str | None
) -> None:
    partitions = "SELECT relname FROM pg_class WHERE relispartition ORDER BY relname"
    before = admin_connection.execute(partitions).fetchall()
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT world_ensure_event_partition(%s)", [month])
    assert admin_connection.execute(partitions).fetchall() == before
