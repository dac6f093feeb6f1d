"""The self-test of the guard: refuses a database in which the policies could be walked around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core import checks
from django.db import connection

from gedaechtnis.scoping import grants
from gedaechtnis.scoping.tables import DEFINER_FUNCTIONS, UNSCOPED_TABLES, owned_tables, scoped_models

_DEFINER, _EVERYBODY = "gedaechtnis_definer", "-"


@dataclass(frozen=True, slots=True)
class _Policy:
    """Command, what the condition must name, and how many alternatives it has (rows of no org): more would be a way in.

    One that is not permissive takes away from what the others allow.
    """

    command: str
    names: tuple[str, ...]
    alternatives: int = 0
    for_whom: str = _EVERYBODY
    permissive: bool = True


_POLICIES = {
    "scope_read": _Policy("r", ("gedaechtnis.read_scopes", "gedaechtnis.current_org", "gedaechtnis.clearance"), 1),
    "scope_insert": _Policy("a", ("gedaechtnis.write_scope",)),
    "scope_update": _Policy("w", ("gedaechtnis.write_scope",)),
    "scope_delete": _Policy("d", ("gedaechtnis.write_scope",)),
    "scope_definer": _Policy("*", ("true",), for_whom=_DEFINER),
}
_OWNER_POLICY = {
    "scope_owner": _Policy(
        "*", ("owner_ref = ANY", "gedaechtnis.read_scopes", f"CURRENT_USER = '{_DEFINER}'"), 2, permissive=False
    )
}
"""Of owned tables besides. Who erases is its alternative, for reading and for writing."""
_REFERRING = ("facts", "entity_aliases")
"""Tables whose rows name entities of other scopes."""

_PRIVILEGES = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"})

_SCOPED_RELATIONS = """
SELECT c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL (%s)
ORDER BY c.relname
"""


def _rows(sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())


def problems() -> list[str]:
    """Everything that is wrong, in words; empty when the guard stands."""
    found: list[str] = []
    for check in _CHECKS:
        found.extend(check())
    return found


def _role() -> Iterator[str]:
    ((name, superuser, bypass),) = _rows(
        "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )
    if superuser:
        yield f"role {name} is a superuser: no policy binds it"
    if bypass:
        yield f"role {name} has BYPASSRLS: no policy binds it"
    for (table,) in _rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') "
        "AND pg_has_role(relowner, 'MEMBER') ORDER BY relname"
    ):
        yield f"role {name} owns table {table} and could change its policies"
    for (other,) in _rows(
        "SELECT rolname FROM pg_roles WHERE (rolsuper OR rolbypassrls OR rolname = %s) "
        "AND rolname <> current_user AND pg_has_role(oid, 'MEMBER') ORDER BY rolname",
        [_DEFINER],
    ):
        yield f"role {name} is a member of {other}, which sees the rows of everybody"


def _tables() -> Iterator[str]:
    relations = _rows(_SCOPED_RELATIONS, [list(UNSCOPED_TABLES)])
    seen = {name for _oid, name, *_rest in relations}
    for model in scoped_models():
        if model._meta.db_table not in seen:
            yield f"table {model._meta.db_table} of {model.__name__} is missing"
    reference: dict[str, Any] = {}
    for oid, name, enabled, forced in relations:
        if not (enabled and forced):
            yield f"table {name}: row-level security is not enabled and forced (or list the table as unscoped)"
        yield from _policies(oid, name, reference)


def _policies(oid: int, table: str, reference: dict[str, Any]) -> Iterator[str]:
    rows = _rows(
        "SELECT polname, polcmd, coalesce(pg_get_expr(polqual, polrelid), ''), "
        "coalesce(pg_get_expr(polwithcheck, polrelid), ''), polpermissive, "
        "array_to_string(polroles::regrole[]::text[], ',') "
        "FROM pg_policy WHERE polrelid = %s",
        [oid],
    )
    by_name = {row[0]: row[1:] for row in rows}
    wanted = _POLICIES | _OWNER_POLICY if table in owned_tables() else _POLICIES
    for name, policy in wanted.items():
        if name not in by_name:
            yield f"table {table}: policy {name} is missing"
            continue
        found = by_name[name]
        text = found[1] + found[2]
        says_all = all(part in text for part in policy.names) and text.count(" OR ") == policy.alternatives
        if (found[0], found[3], found[4]) != (policy.command, policy.permissive, policy.for_whom) or not says_all:
            yield f"table {table}: policy {name} does not say what it must"
        elif reference.setdefault(name, found) != found:
            yield f"table {table}: policy {name} differs from that of the other tables"
    for name in sorted(set(by_name) - set(wanted)):
        yield f"table {table}: unexpected policy {name}"


def _views() -> Iterator[str]:
    for (name,) in _rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND (relkind = 'm' OR relkind = 'v' "
        "AND NOT coalesce(reloptions, '{}') @> ARRAY['security_invoker=true']) "
        "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = pg_class.oid AND d.deptype = 'e')"
    ):
        yield f"view {name} runs as its owner (needs security_invoker)"


def _functions() -> Iterator[str]:
    for name, config, sees_all, for_all in _rows(
        "SELECT proname, coalesce(proconfig, '{}'), r.rolsuper OR r.rolbypassrls, EXISTS (SELECT 1 FROM "
        "aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0) "
        "FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner WHERE pronamespace = 'public'::regnamespace "
        "AND prosecdef AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
    ):
        if name not in DEFINER_FUNCTIONS:
            yield f"function {name} runs as its owner and is not on the list"
        if not any(entry.startswith("search_path=") and entry.endswith("pg_temp") for entry in config):
            yield f"function {name} does not fix its search_path"
        if sees_all:
            yield f"function {name} runs as a role that no policy binds"
        if for_all:
            yield f"function {name} runs as its owner and may be called by anybody"


def _unique_keys() -> Iterator[str]:
    """Unique and exclusion checks ignore row-level security, so each must hold the scope."""
    for table, index in _rows(
        "SELECT t.relname, i.relname FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid "
        "JOIN pg_class i ON i.oid = x.indexrelid "
        "WHERE t.relnamespace = 'public'::regnamespace AND t.relname <> ALL (%s) "
        "AND (x.indisunique OR x.indisexclusion) AND NOT x.indisprimary AND NOT EXISTS ("
        "  SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'scope_ref' "
        "  AND a.attnum = ANY ((x.indkey::smallint[])[:x.indnkeyatts - 1]))",
        [list(UNSCOPED_TABLES)],
    ):
        yield f"table {table}: unique or exclusion key {index} does not hold scope_ref"


def _foreign_keys() -> Iterator[str]:
    """Foreign keys bypass row-level security: between scoped tables they must hold the scope."""
    for table, name in _rows(
        "SELECT t.relname, c.conname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid "
        "JOIN pg_class r ON r.oid = c.confrelid WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace "
        "AND t.relname <> ALL (%s) AND r.relname <> ALL (%s) AND NOT EXISTS ("
        "  SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'scope_ref' "
        "  AND a.attnum = ANY (c.conkey))",
        [list(UNSCOPED_TABLES), list(UNSCOPED_TABLES)],
    ):
        yield f"table {table}: foreign key {name} leaves the scope without the reference check"


def _partitions() -> Iterator[str]:
    for (name,) in _rows(
        "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' "
        "AND relnamespace = 'public'::regnamespace "
        "AND has_table_privilege(current_user, oid, 'SELECT, INSERT, UPDATE, DELETE')"
    ):
        yield f"partition {name} can be reached around its parent"


def _rules() -> Iterator[str]:
    """What each scoped table needs beside policies: rows stay where they are, and name only what may be named."""
    models = scoped_models()
    tables = [model._meta.db_table for model in models]
    wanted = {(table, f"{table}_keep_identity") for table in tables}
    wanted |= {(table, f"{table}_references") for table in _REFERRING}
    wanted |= {(table, f"{table}_owner") for table in owned_tables()}
    wanted |= {(table, f"{table}_{rule}") for table in tables for rule in ("scope_and_org", "classification")}
    standing = _rows(
        "SELECT tgrelid::regclass::text, tgname::text FROM pg_trigger WHERE tgenabled IN ('O', 'A') UNION ALL "
        "SELECT conrelid::regclass::text, conname::text FROM pg_constraint WHERE contype = 'c' AND convalidated"
    )
    for table, rule in sorted(wanted - set(standing)):
        yield f"table {table}: rule {rule} is missing or off"


def _privileges() -> Iterator[str]:
    """TRUNCATE asks no policy, and what only grows is only added to."""
    for table, listed in grants.of_application():
        for (privilege,) in _rows(
            "SELECT p FROM unnest(%s::text[]) AS p WHERE has_table_privilege(current_user, to_regclass(%s), p)",
            [sorted(_PRIVILEGES - listed), f'"{table}"'],
        ):
            yield f"table {table}: the application may {privilege} and should not"


_CHECKS: tuple[Callable[[], Iterator[str]], ...] = (
    _role,
    _tables,
    _views,
    _functions,
    _unique_keys,
    _foreign_keys,
    _partitions,
    _rules,
    _privileges,
)


def register() -> None:
    """Make `manage.py check --database default` part of the guard."""
    checks.register(_system_check, checks.Tags.database)


def _system_check(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[checks.CheckMessage]:
    if not databases or "default" not in databases:
        return []
    return [checks.Error(text, id="scoping.E001") for text in problems()]
