"""Roles, database and extensions: what a superuser prepares before the first migration.

On a PostgreSQL of one's own psql takes the same steps from `sql/external.sql`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from gedaechtnis.embedded.postgres import Postgres

DATABASE = "gedaechtnis"
OWNER, APP, BACKUP = "gedaechtnis_owner", "gedaechtnis_app", "gedaechtnis_backup"

_SQL = Path(__file__).parent / "sql"


def prepare(postgres: Postgres, passwords: Mapping[str, str], *, fresh: bool = False) -> None:
    """Bring roles and database to what the SQL files say; safe to repeat.

    `passwords` maps role to password. `fresh` drops every database of the server first.
    """
    with postgres.connect() as connection:
        connection.execute((_SQL / "roles.sql").read_bytes())
        for role, password in passwords.items():
            # Hashed here, so that no log and no statement ever holds the password itself.
            hashed = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), hashed))
        if fresh:
            _drop_databases(connection)
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} ENCODING 'UTF8' TEMPLATE template0").format(
                    sql.Identifier(DATABASE), sql.Identifier(OWNER)
                )
            )
    with postgres.connect(DATABASE) as connection:
        connection.execute((_SQL / "database.sql").read_bytes())
        connection.execute((_SQL / "leakproof.sql").read_bytes())


def _drop_databases(connection: psycopg.Connection) -> None:
    names = connection.execute("SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'")
    for (name,) in names.fetchall():
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
