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
from gedaechtnis.scoping.models import ScopedModel
from gedaechtnis.scoping.tables import scoped_models
from tests.rows import columns, insert_everywhere

MODELS = scoped_models()
BY_TABLE = pytest.mark.parametrize("model", MODELS, ids=[model._meta.db_table for model in MODELS])

Admin = psycopg.Connection[Any]


def attempt(sql: str, params: list[Any]) -> int:
    """Rows that a statement touched, or 0 when the database refused it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, params)
            return int(cursor.rowcount)
    except DatabaseError:
        return 0


def count(model: type[ScopedModel]) -> int:
    return int(model._default_manager.count())


@BY_TABLE
def test_it_answers_nothing_and_writes_nothing_when_nothing_is_set(
    anna: User, admin_connection: Admin, model: type[ScopedModel]
) -> None:
    own = person(anna).default_scope
    ids = insert_everywhere(admin_connection, own)
    table, id = model._meta.db_table, ids[model._meta.db_table]
    assert count(model) == 0
    assert attempt(f'UPDATE "{table}" SET classification = 0 WHERE id = %s', [id]) == 0
    assert attempt(f'DELETE FROM "{table}" WHERE id = %s', [id]) == 0
    fresh = {**columns(model, own, ids), "id": "019ff000-0000-7000-8000-000000000001"}
    names, marks = ", ".join(f'"{name}"' for name in fresh), ", ".join(["%s"] * len(fresh))
    assert attempt(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', list(fresh.values())) == 0
    assert admin_connection.execute(f'SELECT count(*) FROM "{table}" WHERE id = %s', [id]).fetchone() == (1,)


@BY_TABLE
def test_the_owner_reads_and_a_stranger_does_not(
    anna: User, clara: User, admin_connection: Admin, model: type[ScopedModel]
) -> None:
    ids = insert_everywhere(admin_connection, person(anna).default_scope)
    id = ids[model._meta.db_table]
    with scope(person(anna)):
        assert model._default_manager.filter(pk=id).exists()
    with scope(person(clara)):
        assert not model._default_manager.filter(pk=id).exists()


@BY_TABLE
def test_a_reader_can_neither_change_nor_move_nor_delete(
    anna: User, ben: User, admin_connection: Admin, model: type[ScopedModel]
) -> None:
    group = Group.objects.create(name="Familie")
    GroupMembership.objects.create(group=group, user=anna, role=GroupMembership.Role.OWNER)
    GroupMembership.objects.create(group=group, user=ben, role=GroupMembership.Role.VIEWER)
    shared = f"group:{group.pk}"
    id = insert_everywhere(admin_connection, shared)[model._meta.db_table]
    table = model._meta.db_table
    viewer = person(ben)
    with scope(viewer, write=viewer.default_scope):
        assert model._default_manager.filter(pk=id).exists()
        assert attempt(f'UPDATE "{table}" SET classification = 0 WHERE id = %s', [id]) == 0
        assert attempt(f'UPDATE "{table}" SET scope_ref = %s WHERE id = %s', [viewer.default_scope, id]) == 0
        assert attempt(f'DELETE FROM "{table}" WHERE id = %s', [id]) == 0
    stored = admin_connection.execute(f'SELECT scope_ref, classification FROM "{table}" WHERE id = %s', [id]).fetchone()
    assert stored == (shared, 1)


@BY_TABLE
def test_low_clearance_hides_a_row(anna: User, admin_connection: Admin, model: type[ScopedModel]) -> None:
    id = insert_everywhere(admin_connection, person(anna).default_scope)[model._meta.db_table]
    with scope(person(anna), clearance=0):
        assert not model._default_manager.filter(pk=id).exists()
    with scope(person(anna), clearance=1):
        assert model._default_manager.filter(pk=id).exists()


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


@pytest.mark.parametrize("policy", ["scope_read", "scope_insert", "scope_update", "scope_delete", "scope_definer"])
@BY_TABLE
def test_the_guard_misses_any_one_policy(admin_connection: Admin, model: type[ScopedModel], policy: str) -> None:
    table = model._meta.db_table
    definition = admin_connection.execute(
        "SELECT cmd, qual, with_check, roles::text[] FROM pg_policies WHERE tablename = %s AND policyname = %s",
        [table, policy],
    ).fetchone()
    assert definition is not None
    command, using, check, roles = definition
    admin_connection.execute(f'DROP POLICY {policy} ON "{table}"')
    try:
        assert any(table in problem and policy in problem for problem in checks.problems())
    finally:
        clauses = (f" USING ({using})" if using else "") + (f" WITH CHECK ({check})" if check else "")
        admin_connection.execute(f'CREATE POLICY {policy} ON "{table}" FOR {command} TO {", ".join(roles)} {clauses}')
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
    ],
    ids=[
        "not forced",
        "new table",
        "view",
        "definer function",
        "unique key",
        "foreign key",
        "role",
        "partition",
        "policy",
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
