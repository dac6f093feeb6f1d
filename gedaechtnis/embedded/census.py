"""What a database holds, in numbers: rows per table and scope, and how each table is guarded.

Counted twice and compared, in the database and in a dump of it, it tells whether a dump is whole.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.postgres import client_program

Rows = dict[str, dict[str, int]]
"""Number of rows by table and scope; the scope of tables without one is empty, and empty tables are left out."""

_TABLES = """
SELECT c.oid, c.relname, c.relkind::text, c.relrowsecurity, c.relforcerowsecurity,
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'scope_ref' AND NOT a.attisdropped)
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname
"""
_POLICIES = """
SELECT concat_ws(' | ', polname, polcmd::text, CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
    polroles::regrole[]::text, coalesce(pg_get_expr(polqual, polrelid), ''),
    coalesce(pg_get_expr(polwithcheck, polrelid), ''))
FROM pg_policy WHERE polrelid = %s ORDER BY polname
"""


@dataclass(frozen=True)
class Guard:
    """How row-level security guards a table or partition."""

    enabled: bool
    forced: bool
    policies: list[str]


@dataclass(frozen=True)
class Census:
    """Rows and guards of a database."""

    rows: Rows
    guards: dict[str, Guard]

    @classmethod
    def take(cls, connection: psycopg.Connection[Any]) -> Census:
        """Count everything the connection sees; its role must see all rows (`sees_everything`)."""
        rows: Rows = {}
        guards: dict[str, Guard] = {}
        for oid, name, kind, enabled, forced, scoped in connection.execute(_TABLES).fetchall():
            policies = [text for (text,) in connection.execute(_POLICIES, [oid])]
            guards[name] = Guard(enabled, forced, policies)
            if kind == "r":
                scope = sql.Identifier("scope_ref") if scoped else sql.Literal("")
                query = sql.SQL("SELECT {} AS scope, count(*) FROM {} GROUP BY 1").format(scope, sql.Identifier(name))
                if counts := dict(connection.execute(query).fetchall()):
                    rows[name] = counts
        return cls(rows, guards)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Census:
        """Read what `to_json` wrote."""
        return cls(value["rows"], {name: Guard(**guard) for name, guard in value["guards"].items()})

    def to_json(self) -> dict[str, Any]:
        """Plain values; numbers and names of scopes, no content."""
        return asdict(self)

    def differences(self, other: Census) -> list[str]:
        """What is not the same in another database, in words."""
        changed = sorted(
            name for name in self.guards.keys() | other.guards.keys() if self.guards.get(name) != other.guards.get(name)
        )
        return [*row_differences(self.rows, other.rows), *(f"table {name}: guarded differently" for name in changed)]


def row_differences(expected: Rows, found: Rows) -> list[str]:
    """Where two counts differ, in words."""
    lines = []
    for table in sorted(expected.keys() | found.keys()):
        wanted, there = expected.get(table, {}), found.get(table, {})
        for scope in sorted(wanted.keys() | there.keys()):
            if wanted.get(scope) != there.get(scope):
                where = f"table {table}, {scope}" if scope else f"table {table}"
                lines.append(f"{where}: {there.get(scope, 0)} rows instead of {wanted.get(scope, 0)}")
    return lines


def sees_everything(connection: psycopg.Connection[Any]) -> bool:
    """Whether no policy hides a row from the role of a connection."""
    row = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
    return row is not None and bool(row[0])


def rows_of_dump(dump: Path) -> Rows:
    """Count the rows in a dump, read to its end.

    Raises EmbeddedError if it cannot be read to its end.
    """
    counts: dict[str, Counter[str]] = {}
    command = [str(client_program("pg_restore")), "--data-only", "--file=-", str(dump)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        table, position = "", None
        for line in reader.stdout or ():
            if line.startswith(b"COPY ") and not table:
                table, position = _copied(line.decode())
            elif line == b"\\.\n":
                table = ""
            elif table:
                scope = "" if position is None else line.rstrip(b"\n").split(b"\t")[position].decode()
                counts.setdefault(table, Counter())[scope] += 1
        error = reader.stderr.read().decode(errors="replace") if reader.stderr else ""
    if reader.returncode:
        raise EmbeddedError(f"{dump} cannot be read: {error.strip()}")
    return {table: dict(scopes) for table, scopes in counts.items()}


def _copied(line: str) -> tuple[str, int | None]:
    """Table, and position of the scope, of `COPY public.facts (id, scope_ref, …) FROM stdin;`."""
    target, _, rest = line.removeprefix("COPY ").partition(" (")
    columns = [column.strip('"') for column in rest.partition(")")[0].split(", ")]
    position = columns.index("scope_ref") if "scope_ref" in columns else None
    return target.partition(".")[2].strip('"'), position
