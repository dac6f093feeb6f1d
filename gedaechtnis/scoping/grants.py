"""What the application's role may do with each table; applied by the owner after migrating."""

from __future__ import annotations

from django.db import connections
from django.db.backends.utils import CursorWrapper

from gedaechtnis.scoping.tables import (
    APPEND_ONLY_TABLES,
    CALLED_BY_THE_APPLICATION,
    DEFINER_FUNCTIONS,
    UNSCOPED_TABLES,
    scoped_models,
)

_CLASSIFIED_LATER = ("facts", "fact_evidence", "world_events", "proposals", "fact_usage")
"""Tables in which `world_classify` changes who may see a statement."""

_FOLLOWING = ("memory_projections", "lexeme_counts", "projection_counts")
"""Tables in which `world_follow_classification` keeps up with that."""


def of_application() -> list[tuple[str, frozenset[str]]]:
    """Each table with what the application may do there, the scoped ones first."""
    scoped = [(model._meta.db_table, frozenset(model.app_privileges)) for model in scoped_models()]
    return scoped + [(table, _unscoped(table)) for table in sorted(UNSCOPED_TABLES)]


def apply(alias: str = "owner") -> None:
    """Grant the application its listed privileges and nothing on partitions; let `backup` read all."""
    with connections[alias].cursor() as cursor:
        cursor.execute("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM gedaechtnis_app")
        existing = set(connections[alias].introspection.table_names(cursor))
        for table, privileges in of_application():
            if table in existing:
                cursor.execute(f'GRANT {", ".join(sorted(privileges))} ON "{table}" TO gedaechtnis_app')
        cursor.execute("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO gedaechtnis_app")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO gedaechtnis_backup")
        cursor.execute("GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO gedaechtnis_backup")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO gedaechtnis_definer")
        _definer(cursor)
        for table in _CLASSIFIED_LATER:
            cursor.execute(f"GRANT UPDATE (classification) ON {table} TO gedaechtnis_definer")
        for table in _FOLLOWING:
            cursor.execute(f"GRANT UPDATE ON {table} TO gedaechtnis_definer")
        _functions(cursor)


def _definer(cursor: CursorWrapper) -> None:
    """What `scoping_erase` needs beyond reading, and `world_follow_merge` to leave work behind."""
    for model in scoped_models():
        cursor.execute(f'GRANT DELETE ON "{model._meta.db_table}" TO gedaechtnis_definer')
    cursor.execute("GRANT INSERT, UPDATE ON scopes TO gedaechtnis_definer")
    cursor.execute("GRANT INSERT, UPDATE, DELETE ON work TO gedaechtnis_definer")
    cursor.execute("GRANT USAGE ON SEQUENCE work_id_seq TO gedaechtnis_definer")


def _functions(cursor: CursorWrapper) -> None:
    """Functions that run as their owner are closed to everybody else, also where a restore opened them.

    Only its owner can withdraw what PUBLIC may do with a function.
    """
    cursor.execute(
        "SELECT oid::regprocedure::text, proname, proowner::regrole::text FROM pg_proc "
        "WHERE pronamespace = 'public'::regnamespace AND proname = ANY (%s)",
        [list(DEFINER_FUNCTIONS)],
    )
    for signature, name, owner in cursor.fetchall():
        cursor.execute(f"SET ROLE {owner}")
        cursor.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")
        if name in CALLED_BY_THE_APPLICATION:
            cursor.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO gedaechtnis_app")
        cursor.execute("RESET ROLE")


def _unscoped(table: str) -> frozenset[str]:
    if table == "django_migrations":
        return frozenset({"SELECT"})
    added = frozenset({"SELECT", "INSERT"})
    return added if table in APPEND_ONLY_TABLES else added | {"UPDATE", "DELETE"}
