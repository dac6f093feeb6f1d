"""Every scoped table × every kind of scope × every act × every seat at the table: what the database itself allows.

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

from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.models import Group, GroupMembership, Org, OrgMembership
from gedaechtnis.identity.principals import GLOBAL_SCOPE, Principal, person, system
from gedaechtnis.scoping import checks, grants
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import INTERNAL, ScopedModel
from gedaechtnis.scoping.tables import scoped_models
from tests.conftest import make_user
from tests.rows import columns, insert, insert_everywhere, second_columns

Admin = psycopg.Connection[Any]
Role = GroupMembership.Role
OrgRole = OrgMembership.Role

MODELS = scoped_models()
POLICIES = ("scope_read", "scope_insert", "scope_update", "scope_delete")
WITH_POLICY = [
    (model, policy) for model in MODELS for policy in (*POLICIES, *(("scope_owner",) if model.owned else ()))
]
TARGETS = ("user", "group", "org", "global")
ACTS = ("read", "insert", "update", "move out", "move in", "delete")
_REFUSALS = {"42501", "23001"}  # a policy; the trigger that keeps the scope of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where somebody sits towards the scopes whose rows are tried: their roles in the group and the org around it."""

    role: Role | None = None
    org_role: OrgRole | None = None
    is_self: bool = False
    """The user scope is theirs."""
    is_server: bool = False
    """The server itself, at work in the global scope."""
    enters: bool = True
    """They come through the door at all."""
    clearance: int = 3

    def writes(self, target: str) -> bool:
        match target:
            case "user":
                return self.is_self
            case "group":
                return self.role in (Role.OWNER, Role.EDITOR)
            case "org":
                return self.org_role == OrgRole.ADMIN
            case _:
                return self.is_server

    def reads(self, target: str) -> bool:
        allowed = {
            "user": self.is_self,
            "group": self.role is not None,
            "org": self.org_role is not None,
            "global": self.enters,
        }
        return allowed[target] and self.clearance >= INTERNAL

    def may(self, target: str, act: str, model: type[ScopedModel] = ScopedModel) -> bool:
        """What the rules say. A row is only changed by someone who can also see it, and it never moves.

        Where rows belong to one person, `is_self` is who they are of, in every scope.
        """
        if model.owned and not self.is_self:
            return False
        match act:
            case "read":
                return self.reads(target)
            case "insert":
                return self.writes(target)
            case "update" | "delete":
                return self.reads(target) and self.writes(target)
            case _:
                return False


SEATS = {
    "owner": Seat(role=Role.OWNER, org_role=OrgRole.MEMBER, is_self=True),
    "editor": Seat(role=Role.EDITOR, org_role=OrgRole.MEMBER),
    "viewer": Seat(role=Role.VIEWER, org_role=OrgRole.MEMBER),
    "org admin": Seat(org_role=OrgRole.ADMIN),
    "org member": Seat(org_role=OrgRole.MEMBER),
    "stranger": Seat(),
    "other org": Seat(),
    "server": Seat(is_server=True),
    "no scope": Seat(enters=False),
    "low clearance": Seat(role=Role.OWNER, org_role=OrgRole.MEMBER, is_self=True, clearance=0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The rows of one scope: one in each table."""

    scope_ref: str
    org_id: UUID | None
    ids: dict[str, UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows in a person's scope, a group's, that of the org around it and the global one, and the people around them."""

    admin: Admin
    targets: dict[str, Target]
    principals: dict[str, Principal]
    before: dict[str, list[Any]]

    def door(self, seat: str, target: str, *, at_home: bool = False) -> AbstractContextManager[object]:
        """The door as this seat comes through it: writing into the target if they may, else where they are at home."""
        principal = self.principals.get(seat)
        if principal is None:
            return nullcontext()
        write = self.targets[target].scope_ref
        if at_home or not SEATS[seat].writes(target):
            home = self.home(seat, target)[0]
            write = home if home in principal.write_scopes else principal.default_scope
        return scope(principal, write=write, clearance=SEATS[seat].clearance)

    def home(self, seat: str, target: str) -> tuple[str, UUID | None]:
        """Where the seat would like to have the rows: their own scope, or the group for what is in it already."""
        own = self.principals[seat if seat in self.principals else "stranger"].default_scope
        group = self.targets["group"]
        return (group.scope_ref, group.org_id) if own == self.targets[target].scope_ref else (own, None)


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
    principals: dict[str, Principal] = {}
    for name, seat in SEATS.items():
        if not seat.enters or seat.is_server or name == "low clearance":
            continue
        user = make_user(name.replace(" ", "-"))
        if seat.org_role is not None or name == "other org":
            role = seat.org_role or OrgRole.ADMIN
            OrgMembership.objects.create(org=elsewhere if name == "other org" else org, user=user, role=role)
        if seat.role is not None or name == "other org":
            GroupMembership.objects.create(group=group, user=user, role=seat.role or Role.OWNER)
        principals[name] = person(user)
    # The owner again, seeing less far: whatever is missing is missing for its classification alone.
    principals["low clearance"] = principals["owner"]
    principals["server"] = system(GLOBAL_SCOPE, "sync")
    # The application refuses this one already; the policy has to, even if the scopes were asked for.
    shared = (f"group:{group.pk}", f"org:{org.pk}")
    outsider = principals["other org"]
    assert not set(shared) & set(outsider.read_scopes)
    principals["other org"] = replace(outsider, read_scopes=(*outsider.read_scopes, *shared))
    scopes = {
        "user": (principals["owner"].default_scope, None),
        "group": (shared[0], org.pk),
        "org": (shared[1], org.pk),
        "global": (GLOBAL_SCOPE, None),
    }
    targets = {
        name: Target(
            scope_ref=ref,
            org_id=org_id,
            ids=insert_everywhere(admin, ref, org_id=org_id, owner_ref=principals["owner"].default_scope),
        )
        for name, (ref, org_id) in scopes.items()
    }
    assert tuple(targets) == TARGETS
    return Table(admin=admin, targets=targets, principals=principals, before=_rows(admin))


def _rows(admin: Admin) -> dict[str, list[Any]]:
    """All that stands in the scoped tables."""
    names = [model._meta.db_table for model in MODELS]
    return {name: admin.execute(f'SELECT * FROM "{name}" ORDER BY id').fetchall() for name in names}


def does(table: Table, model: type[ScopedModel], target: str, seat: str, act: str) -> bool:
    """Whether the act succeeds. It is taken back; an error other than a refusal is one of the test."""
    rows, name = table.targets[target], model._meta.db_table
    id = rows.ids[name]
    with table.door(seat, target, at_home=act == "move in"):
        match act:
            case "read":
                return _touches(f'SELECT 1 FROM "{name}" WHERE id = %s', [id])
            case "insert":
                owner = table.targets["user"].scope_ref
                values = second_columns(model, rows.scope_ref, rows.ids, org_id=rows.org_id, owner_ref=owner)
                columns = ", ".join(f'"{column}"' for column in values)
                marks = ", ".join(["%s"] * len(values))
                return _touches(f'INSERT INTO "{name}" ({columns}) VALUES ({marks})', list(values.values()))
            case "update":
                return _touches(f'UPDATE "{name}" SET {_change(model)} WHERE id = %s', [id])
            case "move out" | "move in":
                home = table.home(seat, target)
                return _touches(f'UPDATE "{name}" SET scope_ref = %s, org_id = %s WHERE id = %s', [*home, id])
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


def wrong_cells(table: Table, model: type[ScopedModel]) -> Iterator[tuple[str, str, str]]:
    """(target, seat, act) of the cells that are not as the roles say."""
    for target in TARGETS:
        for name, seat in SEATS.items():
            for act in ACTS:
                if does(table, model, target, name, act) != seat.may(target, act, model):
                    yield target, name, act


BY_TABLE = pytest.mark.parametrize("model", MODELS, ids=[model._meta.db_table for model in MODELS])


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("target", TARGETS)
@BY_TABLE
def test_the_role_decides(table: Table, model: type[ScopedModel], target: str, seat: str) -> None:
    done = {act for act in ACTS if does(table, model, target, seat, act)}
    assert done == {act for act in ACTS if SEATS[seat].may(target, act, model)}


def test_each_kind_of_scope_is_read_and_written_by_some_and_not_by_others() -> None:
    for target in TARGETS:
        for act in ("read", "insert", "update", "delete"):
            assert {seat.may(target, act) for seat in SEATS.values()} == {True, False}, (target, act)


@contextmanager
def policy_replaced(admin: Admin, table: str, policy: str, by: str | None) -> Iterator[None]:
    """Without the policy, or with another condition in it (`by`), as long as it lasts."""
    found = admin.execute(
        "SELECT cmd, qual, with_check, roles::text[], permissive FROM pg_policies "
        "WHERE tablename = %s AND policyname = %s",
        [table, policy],
    ).fetchone()
    assert found is not None
    command, using, check, roles, kind = found

    def create(using: str | None, check: str | None) -> None:
        clauses = (f" USING ({using})" if using else "") + (f" WITH CHECK ({check})" if check else "")
        admin.execute(f'CREATE POLICY {policy} ON "{table}" AS {kind} FOR {command} TO {", ".join(roles)} {clauses}')

    admin.execute(f'DROP POLICY {policy} ON "{table}"')
    if by is not None:
        create(using and by, check and by)
    try:
        yield
    finally:
        admin.execute(f'DROP POLICY IF EXISTS {policy} ON "{table}"')
        create(using, check)


@pytest.mark.parametrize("by", [None, "true"], ids=["dropped", "wide open"])
@pytest.mark.parametrize(("model", "policy"), WITH_POLICY, ids=[f"{m._meta.db_table}-{p}" for m, p in WITH_POLICY])
def test_the_matrix_notices_any_one_policy_that_is(
    table: Table, model: type[ScopedModel], policy: str, by: str | None
) -> None:
    with policy_replaced(table.admin, model._meta.db_table, policy, by):
        assert any(wrong_cells(table, model))
        assert checks.problems()


@pytest.mark.parametrize(
    ("table_name", "policy"),
    [
        *((model._meta.db_table, policy) for model, policy in WITH_POLICY),
        *((model._meta.db_table, "scope_definer") for model in MODELS),
        *(("world_events_other", policy) for policy in (*POLICIES, "scope_definer")),
    ],
)
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
        for rows in table.targets.values():
            rows.ids["forgotten"] = uuid7()
            insert(table.admin, Forgotten, columns(Forgotten, rows.scope_ref, rows.ids, org_id=rows.org_id))
        wrong = set(wrong_cells(table, Forgotten))
        for target in TARGETS:
            assert {(target, "no scope", "delete"), (target, "viewer", "update")} <= wrong
        assert {("group", "stranger", "read"), ("user", "org admin", "read"), ("org", "org member", "delete")} <= wrong
        assert any("forgotten: policy" in problem for problem in checks.problems())
    finally:
        for rows in table.targets.values():
            rows.ids.pop("forgotten", None)
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
    assert _rows(table.admin) == table.before
    grants.apply()
    assert checks.problems() == []
