"""Somebody else's PostgreSQL and Valkey: nothing of ours is in them yet."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gedaechtnis.embedded.account import Account
from gedaechtnis.embedded.ports import service_port
from gedaechtnis.embedded.postgres import Postgres, client_program
from gedaechtnis.embedded.valkey import Valkey

ROOT = Path(__file__).parents[1]
PASSWORD = "their-password"
SETUP = ROOT / "gedaechtnis/embedded/sql/external.sql"
_OURS = ("DATABASE_", "REDIS_URL", "GEDAECHTNIS_", "PG", "DJANGO_SETTINGS_MODULE")


def bare_environment() -> dict[str, str]:
    """The environment of a person who has configured nothing."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


@dataclass(frozen=True)
class Servers:
    """Running servers that are not ours."""

    postgres: Postgres
    valkey: Valkey | None = None

    def url(self, role: str, database: str = "gedaechtnis", password: str = PASSWORD) -> str:
        return f"postgresql://{role}:{password}@127.0.0.1:{self.postgres.port}/{database}"

    def environment(self, database: str = "gedaechtnis") -> dict[str, str]:
        """What the guide tells a person to set."""
        return {
            "DATABASE_URL": self.url("gedaechtnis_app", database),
            "DATABASE_OWNER_URL": self.url("gedaechtnis_owner", database),
            "DATABASE_BACKUP_URL": self.url("gedaechtnis_backup", database),
            "REDIS_URL": f"redis://:{PASSWORD}@127.0.0.1:{self.valkey.port if self.valkey else 1}/0",
            "GEDAECHTNIS_SECRET_KEY": "a key of their own",
        }

    def psql(self, *arguments: str | Path, user: str = "postgres") -> subprocess.CompletedProcess[str]:
        """Run psql as a role of these servers, with the passwords the set-up script is to set."""
        return subprocess.run(
            [client_program("psql"), "-X", "-q", *arguments],
            check=False,
            capture_output=True,
            text=True,
            env={
                **bare_environment(),
                **{"PGHOST": "127.0.0.1", "PGPORT": str(self.postgres.port), "PGDATABASE": "postgres"},
                **{"PGUSER": user, "PGPASSWORD": PASSWORD},
                **{f"{role}_PASSWORD": PASSWORD for role in ("OWNER", "APP", "BACKUP")},
            },
        )


@contextmanager
def servers(state: Path, *, valkey: bool = False) -> Iterator[Servers]:
    """Start bare servers with their data in `state`, which must be open to other accounts."""
    account = Account.choose()
    with ExitStack() as stack:
        postgres = Postgres(state, account, service_port(state, "postgresql"), PASSWORD, throwaway=True)
        postgres.start()
        stack.callback(postgres.stop)
        broker = Valkey(state, account, service_port(state, "valkey"), PASSWORD) if valkey else None
        if broker:
            broker.start()
            stack.callback(broker.stop)
        yield Servers(postgres, broker)


def manage(environment: Mapping[str, str], *arguments: str) -> str:
    """Run a management command on these services; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**bare_environment(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
