"""Backups that are whole, and databases made of them again.

A role that row-level security limits dumps what it sees, which looks like success and is empty.
So a dump is kept only when a role that sees everything made it, and every row that this role
counted in the same snapshot is in the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import psycopg

from gedaechtnis.embedded import external
from gedaechtnis.embedded.census import Census, row_differences, rows_of_dump, sees_everything
from gedaechtnis.embedded.console import say
from gedaechtnis.embedded.credentials import write_private
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.postgres import client_program

_ROLES = ("gedaechtnis_app", "gedaechtnis_backup", "gedaechtnis_definer", "gedaechtnis_owner")


def make(directory: Path, environment: dict[str, str]) -> Path:
    """Dump the database of DATABASE_BACKUP_URL into a new file of `directory`, mode 0600, with a manifest beside it.

    Raises EmbeddedError, and leaves no file, if the role does not see every row or the dump is not whole.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    dump = directory / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.dump"
    partial = dump.with_suffix(".partial")
    if dump.exists():
        raise EmbeddedError(f"{dump} is there already.")
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with _connection("DATABASE_BACKUP_URL", environment) as connection:
            if not sees_everything(connection):
                raise EmbeddedError(
                    f"The role {connection.info.user} is limited by row-level security, so its dump would lack rows;"
                    " DATABASE_BACKUP_URL must name gedaechtnis_backup, which needs BYPASSRLS. No backup was made."
                )
            census = _dump(connection, partial, environment)
        if lacking := row_differences(census.rows, rows_of_dump(partial)):
            raise EmbeddedError("\n".join(["The dump is not whole, no backup was made:", *lacking]))
        manifest = {"sha256": _digest(partial), "made_at": datetime.now(UTC).isoformat(), "census": census.to_json()}
        write_private(_manifest_path(dump), json.dumps(manifest, indent=1, sort_keys=True))
        partial.rename(dump)
    finally:
        partial.unlink(missing_ok=True)
    say(f"{_total(census)} rows of {len(census.guards)} tables are in {dump}")
    return dump


def restore(dump: Path, environment: dict[str, str]) -> None:
    """Bring a dump into the empty database of DATABASE_OWNER_URL, whose roles and extensions are prepared.

    What is there afterwards is compared with the manifest, as the role of DATABASE_BACKUP_URL.
    Raises EmbeddedError if the dump was changed, the database is not empty, or anything differs; a
    restore that fails half-way leaves the database empty.
    """
    expected = _read_manifest(dump)
    with _connection("DATABASE_OWNER_URL", environment) as owner:
        _check_target(owner)
    with _connection("DATABASE_BACKUP_URL", environment) as connection:
        if not sees_everything(connection):
            raise EmbeddedError("DATABASE_BACKUP_URL must name a role that sees every row: gedaechtnis_backup.")
    _load(dump, environment)
    with _connection("DATABASE_OWNER_URL", environment) as owner:
        owner.execute("ANALYZE")
    with _connection("DATABASE_BACKUP_URL", environment) as connection:
        if found := expected.differences(Census.take(connection)):
            raise EmbeddedError("\n".join(["The restored database is not what was backed up:", *found]))
    say(f"{_total(expected)} rows of {len(expected.guards)} tables are back, guarded as before")


def _dump(connection: psycopg.Connection[Any], target: Path, environment: dict[str, str]) -> Census:
    """Dump and count one and the same snapshot: that of the connection's transaction."""
    row = connection.execute("SELECT pg_export_snapshot()").fetchone()
    options = ["--format=custom", f"--snapshot={row[0] if row else ''}", "--lock-wait-timeout=60s", f"--file={target}"]
    # Extensions belong to the superuser, and the target has them already.
    _run("pg_dump", [*options, "--exclude-extension=*"], "DATABASE_BACKUP_URL", environment)
    return Census.take(connection)


def _check_target(owner: psycopg.Connection[Any]) -> None:
    missing = sorted(set(_ROLES) - {name for (name,) in owner.execute("SELECT rolname FROM pg_roles")})
    if missing:
        raise EmbeddedError(f"The roles {', '.join(missing)} are missing; see docs/howto/external-postgres.md.")
    present = {name for (name,) in owner.execute("SELECT extname FROM pg_extension")}
    if lacking := sorted(set(external.EXTENSIONS) - present):
        raise EmbeddedError(f"The extensions {', '.join(lacking)} are missing; see docs/howto/external-postgres.md.")
    if Census.take(owner).guards:
        raise EmbeddedError(f"The database {owner.info.dbname} is not empty; a backup is restored into an empty one.")


def _load(dump: Path, environment: dict[str, str]) -> None:
    """Write the dump into the owner's database in one transaction."""
    # Functions that set a parameter of pg_trgm are refused to all but superusers until a session has loaded it.
    load_library = "--command=SELECT similarity('', '')"
    options = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", load_library, "--file=-"]
    with subprocess.Popen([client_program("pg_restore"), "--file=-", dump], stdout=subprocess.PIPE) as reader:
        _run("psql", options, "DATABASE_OWNER_URL", environment, reader.stdout)
    if reader.returncode:
        raise EmbeddedError(f"pg_restore failed with exit code {reader.returncode}: what was restored is not whole.")


def _run(
    program: str, options: list[str], name: str, environment: dict[str, str], source: IO[bytes] | None = None
) -> None:
    """Run a client program on a database; its password is in no argument, where others could read it."""
    parameters = external.database_parameters(name, environment)
    password = parameters.pop("password", "")
    address = psycopg.conninfo.make_conninfo("", **parameters)
    done = subprocess.run(
        [client_program(program), "--no-password", f"--dbname={address}", *options],
        check=False,
        env={**os.environ, "PGPASSWORD": password, "LC_ALL": "C.UTF-8"},
        stdin=source or subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        # What went wrong is told; details and context, which quote rows, are not.
        errors = [line for line in done.stderr.splitlines() if "error:" in line.lower()]
        raise EmbeddedError("\n".join([f"{program} failed with exit code {done.returncode}.", *errors]))


@contextmanager
def _connection(name: str, environment: dict[str, str]) -> Iterator[psycopg.Connection[Any]]:
    if not environment.get(name):
        raise EmbeddedError(f"{name} is required, as postgresql://role:password@host:port/database.")
    parameters = {"connect_timeout": "5", **external.database_parameters(name, environment)}
    try:
        connection = psycopg.connect(psycopg.conninfo.make_conninfo("", **parameters))
    except psycopg.OperationalError as error:
        raise EmbeddedError(f"{name}: {str(error).splitlines()[0]}") from None
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with connection:
        yield connection


def _read_manifest(dump: Path) -> Census:
    path = _manifest_path(dump)
    for file in (dump, path):
        if not file.exists():
            raise EmbeddedError(f"There is no {file}; a backup is a .dump and the .json beside it.")
    manifest = json.loads(path.read_text())
    if manifest["sha256"] != _digest(dump):
        raise EmbeddedError(f"{dump} is not the file that {path.name} describes: it was damaged or changed.")
    return Census.from_json(manifest["census"])


def _manifest_path(dump: Path) -> Path:
    return dump.with_suffix(".json")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _total(census: Census) -> int:
    return sum(sum(scopes.values()) for scopes in census.rows.values())
