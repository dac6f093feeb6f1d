"""What the application's role may do with each table; applied by the owner after migrating."""

from __future__ import annotations

from django.db import connections

from gedaechtnis.scoping.tables import APPEND_ONLY_TABLES, UNSCOPED_TABLES, scoped_models


def apply(alias: str = "owner") -> None:
    """Grant the application its listed privileges and nothing on partitions; let `backup` read all."""
    with connections[alias].cursor() as cursor:
        cursor.execute("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM gedaechtnis_app")
        for model in scoped_models():
            privileges = ", ".join(model.app_privileges)
            cursor.execute(f'GRANT {privileges} ON "{model._meta.db_table}" TO gedaechtnis_app')
        existing = set(connections[alias].introspection.table_names(cursor))
        for table in sorted(existing & set(UNSCOPED_TABLES)):
            cursor.execute(f'GRANT {_unscoped(table)} ON "{table}" TO gedaechtnis_app')
        cursor.execute("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO gedaechtnis_app")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO gedaechtnis_backup")
        cursor.execute("GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO gedaechtnis_backup")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO gedaechtnis_definer")


def _unscoped(table: str) -> str:
    if table == "django_migrations":
        return "SELECT"
    return "SELECT, INSERT" if table in APPEND_ONLY_TABLES else "SELECT, INSERT, UPDATE, DELETE"
