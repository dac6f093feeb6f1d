"""Every scoped table × every act × every seat at the table: what the database itself allows.

The matrix is generated from the models, and what it expects from the seat's role. Acts run as the
application's role behind the real door; each is taken back, so the rows are set up once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.apps import apps
from django.db import DatabaseError, connection, connections, transaction

from gedaechtnis.identity.models import Group, GroupMembership, Org, OrgMembership
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.scoping import checks, grants
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import INTERNAL, ScopedModel
from gedaechtnis.scoping.tables import scoped_models
from tests.conftest import make_user
from tests.rows import insert, insert_everywhere, second_columns

Admin = psycopg.Connection[Any]
Role = GroupMembership.Role

MODELS = scoped_models()
POLICIES = ("scope_read", "scope_insert", "scope_update", "scope_delete")
ACTS = ("read", "insert", "update", "move out", "move in", "delete")
_REFUSALS = {"42501", "23001"}  # a policy; the trigger that keeps the scope of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where somebody sits towards the group whose rows are tried. `role` None: they have none in it."""

    role: Role | None
    clearance: int = 3

    @property
    def writes(self) -> bool:
        return self.role in (Role.OWNER, Role.EDITOR)

    @property
    def reads(self) -> bool:
        return self.role is not None and self.clearance >= INTERNAL

    def may(self, act: str) -> bool:
        """What the rules say. A row is only changed by someone who can also see it, and it never moves."""
        match act:
            case "read":
                return self.reads
            case "insert":
                return self.writes
            case "update" | "delete":
                return self.reads and self.writes
            case _:
                return False


SEATS = {
    "owner": Seat(role=Role.OWNER),
    "editor": Seat(role=Role.EDITOR),
    "viewer": Seat(role=Role.VIEWER),
    "stranger": Seat(role=None),
    "other org": Seat(role=None),
    "no scope": Seat(role=None),
    "low clearance": Seat(role=Role.OWNER, clearance=0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of one group within an org, and the people around them."""

    admin: Admin
    scope_ref: str
    org_id: UUID
    ids: dict[str, UUID]
    principals: dict[str, Principal]

    def door(self, seat: str, *, at_home: bool = False) -> AbstractContextManager[object]:
        """The door as this seat comes through it: writing into the group if they may, else into their own scope."""
        principal = self.principals.get(seat)
        if principal is None:
            return nullcontext()
        target = self.scope_ref if SEATS[seat].writes and not at_home else principal.default_scope
        return scope(principal, write=target, clearance=SEATS[seat].clearance)

    def home(self, seat: str) -> str:
        """The seat's own scope, where it would like to have the rows."""
        return self.principals[seat if seat in self.principals else "stranger"].default_scope


@pytest.fixture(scope="module")
def table(django_db_setup: Callable[[], None], django_db_blocker: Any) -> Iterator[Table]:
    with django_db_blocker.unblock():
        with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
            made = _set_up(admin)
            # Policies decide here, not what a table may be used for at all; see the last test but one.
            tables = ", ".join(model._meta.db_table for model in MODELS)
            admin.execute(f"GRANT ALL ON {tables} TO gedaechtnis_app")
            yield made
        grants.apply()
        connections.close_all()
    django_db_setup()


def _set_up(admin: Admin) -> Table:
    org, elsewhere = Org.objects.create(name="Nord"), Org.objects.create(name="Süd")
    group = Group.objects.create(name="Werkstatt", org=org)
    shared = f"group:{group.pk}"
    principals: dict[str, Principal] = {}
    for name, seat in SEATS.items():
        if name == "no scope":
            continue
        user = make_user(name.replace(" ", "-"))
        if name != "stranger":
            OrgMembership.objects.create(org=elsewhere if name == "other org" else org, user=user)
        if seat.role is not None or name == "other org":
            GroupMembership.objects.create(group=group, user=user, role=seat.role or Role.OWNER)
        principals[name] = person(user)
    # The application refuses this one already; the policy has to, even if the scope were asked for.
    outsider = principals["other org"]
    assert shared not in outsider.read_scopes
    principals["other org"] = replace(outsider, read_scopes=(*outsider.read_scopes, shared))
    return Table(
        admin=admin,
        scope_ref=shared,
        org_id=org.pk,
        ids=insert_everywhere(admin, shared, org_id=org.pk),
        principals=principals,
    )


def does(table: Table, model: type[ScopedModel], seat: str, act: str) -> bool:
    """Whether the act succeeds. It is taken back; an error other than a refusal is one of the test."""
    name, id = model._meta.db_table, table.ids[model._meta.db_table]
    with table.door(seat, at_home=act == "move in"):
        match act:
            case "read":
                return _touches(f'SELECT 1 FROM "{name}" WHERE id = %s', [id])
            case "insert":
                values = second_columns(model, table.scope_ref, table.ids, org_id=table.org_id)
                columns = ", ".join(f'"{column}"' for column in values)
                marks = ", ".join(["%s"] * len(values))
                return _touches(f'INSERT INTO "{name}" ({columns}) VALUES ({marks})', list(values.values()))
            case "update":
                return _touches(f'UPDATE "{name}" SET {_change(model)} WHERE id = %s', [id])
            case "move out" | "move in":
                home = table.home(seat)
                return _touches(f'UPDATE "{name}" SET scope_ref = %s, org_id = NULL WHERE id = %s', [home, id])
            case _:
                return _touches(f'DELETE FROM "{name}" WHERE id = %s', [id])


def _change(model: type[ScopedModel]) -> str:
    if model._meta.db_table == "facts":  # nothing else about a fact may change
        return "superseded_at = now(), closed_reason = 'ended'"
    return "classification = 0"


def _touches(sql: str, params: list[Any]) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, params)
            transaction.set_rollback(True)
            return int(cursor.rowcount) > 0
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) not in _REFUSALS:
            raise
        return False


def wrong_cells(table: Table, model: type[ScopedModel]) -> Iterator[tuple[str, str]]:
    """(seat, act) of the cells that are not as the roles say."""
    for name, seat in SEATS.items():
        for act in ACTS:
            if does(table, model, name, act) != seat.may(act):
                yield name, act


BY_TABLE = pytest.mark.parametrize("model", MODELS, ids=[model._meta.db_table for model in MODELS])


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("seat", SEATS)
@BY_TABLE
def test_the_role_decides(table: Table, model: type[ScopedModel], seat: str, act: str) -> None:
    assert does(table, model, seat, act) is SEATS[seat].may(act)


@contextmanager
def policy_replaced(admin: Admin, table: str, policy: str, by: str | None) -> Iterator[None]:
    """Without the policy, or with another condition in it (`by`), as long as it lasts."""
    found = admin.execute(
        "SELECT cmd, qual, with_check, roles::text[] FROM pg_policies WHERE tablename = %s AND policyname = %s",
        [table, policy],
    ).fetchone()
    assert found is not None
    command, using, check, roles = found

    def create(using: str | None, check: str | None) -> None:
        clauses = (f" USING ({using})" if using else "") + (f" WITH CHECK ({check})" if check else "")
        admin.execute(f'CREATE POLICY {policy} ON "{table}" FOR {command} TO {", ".join(roles)} {clauses}')

    admin.execute(f'DROP POLICY {policy} ON "{table}"')
    if by is not None:
        create(using and by, check and by)
    try:
        yield
    finally:
        admin.execute(f'DROP POLICY IF EXISTS {policy} ON "{table}"')
        create(using, check)


@pytest.mark.parametrize("by", [None, "true"], ids=["dropped", "wide open"])
@pytest.mark.parametrize("policy", POLICIES)
@BY_TABLE
def test_the_matrix_notices_any_one_policy_that_is(
    table: Table, model: type[ScopedModel], policy: str, by: str | None
) -> None:
    with policy_replaced(table.admin, model._meta.db_table, policy, by):
        assert any(wrong_cells(table, model))
        assert checks.problems()


@pytest.mark.parametrize("policy", [*POLICIES, "scope_definer"])
@pytest.mark.parametrize("table_name", [*(m._meta.db_table for m in MODELS), "world_events_other"])
def test_the_guard_misses_any_one_policy(table: Table, table_name: str, policy: str) -> None:
    with policy_replaced(table.admin, table_name, policy, None):
        assert any(table_name in problem and policy in problem for problem in checks.problems())


def test_a_new_table_without_policies_fails(table: Table) -> None:
    class Forgotten(ScopedModel):
        class Meta:
            app_label = "world"
            db_table = "forgotten"

    try:
        with connections["owner"].schema_editor() as editor:
            editor.create_model(Forgotten)
        table.admin.execute("GRANT ALL ON forgotten TO gedaechtnis_app")
        assert Forgotten in scoped_models()
        values = second_columns(Forgotten, table.scope_ref, table.ids, org_id=table.org_id)
        insert(table.admin, Forgotten, values)
        table.ids["forgotten"] = values["id"]
        wrong = set(wrong_cells(table, Forgotten))
        assert {("stranger", "read"), ("no scope", "delete"), ("viewer", "update")} <= wrong
        assert any("forgotten" in problem for problem in checks.problems())
    finally:
        table.ids.pop("forgotten", None)
        table.admin.execute("DROP TABLE IF EXISTS forgotten")
        del apps.all_models["world"]["forgotten"]
        apps.clear_cache()
    assert Forgotten not in scoped_models()


@BY_TABLE
def test_the_application_may_do_what_its_table_lists(table: Table, model: type[ScopedModel]) -> None:
    grants.apply()
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT act FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) act "
                "WHERE has_table_privilege(%s, act)",
                [model._meta.db_table],
            )
            assert {act for (act,) in cursor.fetchall()} == set(model.app_privileges)
    finally:
        table.admin.execute(f'GRANT ALL ON "{model._meta.db_table}" TO gedaechtnis_app')


def test_the_rows_are_as_they_were(table: Table) -> None:
    """Nothing that was tried above stayed."""
    for model in MODELS:
        name = model._meta.db_table
        rows = table.admin.execute(f'SELECT id, classification FROM "{name}" WHERE scope_ref = %s', [table.scope_ref])
        assert rows.fetchall() == [(table.ids[name], INTERNAL)]
    assert checks.problems() == []
