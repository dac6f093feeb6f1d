"""Migration operations: SQL from files, and the protection of scoped tables."""

from __future__ import annotations

from pathlib import Path

from django.db.migrations import RunSQL


def _whole(sql: str) -> tuple[tuple[str, None]]:
    """SQL passed to the server as it stands: a bare string would be split at semicolons and `%` interpolated."""
    return ((sql, None),)


class RunSQLFile(RunSQL):
    """Run `<name>.up.sql` of a package's `sql/` folder; `<name>.down.sql` reverses it.

    `package_file` is the migration's `__file__`.
    """

    def __init__(self, package_file: str, name: str) -> None:
        folder = Path(package_file).resolve().parent.parent / "sql"
        up = (folder / f"{name}.up.sql").read_text(encoding="utf-8")
        down = (folder / f"{name}.down.sql").read_text(encoding="utf-8")
        super().__init__(sql=_whole(up), reverse_sql=_whole(down))


class ScopedTable(RunSQL):
    """Protect a table of a `ScopedModel`: policies, fixed identity, org derived from the scope.

    Every table that scoped rows point to gets `UNIQUE (scope_ref, id)`, the target of `SameScope`.
    """

    def __init__(self, table: str) -> None:
        super().__init__(
            sql=_whole(f"""
                SELECT scoping_protect('{table}');
                CREATE TRIGGER {table}_keep_identity BEFORE UPDATE ON {table}
                  FOR EACH ROW EXECUTE FUNCTION scoping_keep_identity();
                ALTER TABLE {table}
                  ADD CONSTRAINT {table}_scope_and_org CHECK (CASE
                    WHEN scope_ref = 'global' OR scope_ref LIKE 'user:%' THEN org_id IS NULL
                    WHEN scope_ref LIKE 'org:%' THEN org_id IS NOT NULL AND scope_ref = 'org:' || org_id
                    ELSE scope_ref LIKE 'group:%' END),
                  ADD CONSTRAINT {table}_classification CHECK (classification BETWEEN 0 AND 3);
            """),
            reverse_sql=_whole(f"""
                ALTER TABLE {table} DROP CONSTRAINT {table}_scope_and_org, DROP CONSTRAINT {table}_classification;
                DROP TRIGGER {table}_keep_identity ON {table};
                DROP POLICY scope_read ON {table}; DROP POLICY scope_insert ON {table};
                DROP POLICY scope_update ON {table}; DROP POLICY scope_delete ON {table};
                DROP POLICY scope_definer ON {table};
                ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;
            """),
        )


_OWNED = """
  owner_ref = ANY ((SELECT string_to_array(nullif(current_setting('gedaechtnis.read_scopes', true), ''), ','))::text[])
  OR current_user = 'gedaechtnis_definer'"""
"""Only its owner's own scope is among what they read. Erasing reaches the rows of everybody."""


class OwnedTable(RunSQL):
    """Close a `ScopedTable` with `owner_ref` to everybody but its rows' owner, whoever else reads the scope.

    The policy restricts what the others allow. An owner is a person: a group as owner would be all of its members.
    """

    def __init__(self, table: str) -> None:
        super().__init__(
            sql=_whole(f"""
                CREATE POLICY scope_owner ON {table} AS RESTRICTIVE FOR ALL USING ({_OWNED}) WITH CHECK ({_OWNED});
                ALTER TABLE {table} ADD CONSTRAINT {table}_owner CHECK (
                  owner_ref LIKE 'user:%' AND (scope_ref NOT LIKE 'user:%' OR owner_ref = scope_ref));
            """),
            reverse_sql=_whole(f"""
                ALTER TABLE {table} DROP CONSTRAINT {table}_owner;
                DROP POLICY scope_owner ON {table};
            """),
        )


class ScopedTarget(RunSQL):
    """`UNIQUE (scope_ref, id)`: lets rows of the same scope refer to the table."""

    def __init__(self, table: str) -> None:
        super().__init__(
            sql=f"ALTER TABLE {table} ADD CONSTRAINT {table}_scope_id UNIQUE (scope_ref, id)",
            reverse_sql=f"ALTER TABLE {table} DROP CONSTRAINT {table}_scope_id",
        )


class SameScope(RunSQL):
    """A foreign key that cannot leave the scope: (`scope_ref`, column) → (`scope_ref`, `id`).

    A plain foreign key bypasses row-level security and would tell that a foreign row exists.
    """

    def __init__(self, table: str, column: str, target: str) -> None:
        name = f"{table}_{column}_same_scope"
        super().__init__(
            sql=f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (scope_ref, {column}) "
            f"REFERENCES {target} (scope_ref, id) DEFERRABLE INITIALLY DEFERRED",
            reverse_sql=f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
