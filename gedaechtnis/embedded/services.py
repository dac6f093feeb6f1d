"""Both services as one thing that is started, described to programs, and stopped."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from gedaechtnis.embedded import roles
from gedaechtnis.embedded.account import Account, state_directory
from gedaechtnis.embedded.credentials import Credentials
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.ports import known_ports, service_port
from gedaechtnis.embedded.postgres import Postgres
from gedaechtnis.embedded.valkey import Valkey


@dataclass(frozen=True)
class Services:
    """Running services: where they are and how to sign in."""

    state: Path
    credentials: Credentials
    postgres_port: int
    valkey_port: int
    servers: Mapping[str, Postgres | Valkey] = field(default_factory=dict, compare=False)
    """Those that this process started, by name."""

    def ended(self) -> str | None:
        """The name of a server that is gone, of those this process started."""
        return next((name for name, server in self.servers.items() if not server.is_running()), None)

    def environment(self) -> dict[str, str]:
        """What web, worker and beat need: the application's role only."""
        return {
            "DATABASE_URL": self._database_url(roles.APP, self.credentials.app),
            "REDIS_URL": f"redis://:{quote(self.credentials.valkey)}@127.0.0.1:{self.valkey_port}/0",
            "GEDAECHTNIS_SECRET_KEY": self.credentials.secret_key,
        }

    def owner_environment(self) -> dict[str, str]:
        """What migrations need in addition."""
        return self.environment() | {"DATABASE_OWNER_URL": self._database_url(roles.OWNER, self.credentials.owner)}

    def full_environment(self) -> dict[str, str]:
        """Every role, the superuser's among them: for tests, backups and shells."""
        return self.owner_environment() | {
            "DATABASE_ADMIN_URL": self._database_url("postgres", self.credentials.superuser),
            "DATABASE_BACKUP_URL": self._database_url(roles.BACKUP, self.credentials.backup),
        }

    def _database_url(self, role: str, password: str) -> str:
        return f"postgresql://{role}:{quote(password)}@127.0.0.1:{self.postgres_port}/{roles.DATABASE}"


@contextmanager
def running(var: Path, *, fresh: bool = False) -> Iterator[Services]:
    """Start both services with their data in `var`, and stop them at the end of the block.

    `fresh` empties them first and gives up durability: for tests.
    Raises EmbeddedError if another process uses `var`, or a service does not start.
    """
    account = Account.choose()
    state = state_directory(var.absolute(), account)
    with ExitStack() as stack:
        stack.enter_context(_locked(state))
        Postgres.end_stale(state)
        Valkey.end_stale(state)
        credentials = Credentials.load(state)
        postgres = Postgres(state, account, service_port(state, "postgresql"), credentials.superuser, throwaway=fresh)
        valkey = Valkey(state, account, service_port(state, "valkey"), credentials.valkey)
        stack.callback(postgres.stop)
        postgres.start()
        stack.callback(valkey.stop)
        valkey.start()
        passwords = {roles.OWNER: credentials.owner, roles.APP: credentials.app, roles.BACKUP: credentials.backup}
        roles.prepare(postgres, passwords, fresh=fresh)
        if fresh:
            valkey.empty()
        servers: dict[str, Postgres | Valkey] = {"PostgreSQL": postgres, "Valkey": valkey}
        yield Services(state, credentials, postgres.port, valkey.port, servers)


def joined(var: Path) -> Services | None:
    """The services another process runs in `var`, or None if there are none."""
    state = state_directory(var.absolute(), Account.choose())
    try:
        with _locked(state):
            return None
    except InUse:
        ports = known_ports(state)
        return Services(state, Credentials.load(state), ports["postgresql"], ports["valkey"])


class InUse(EmbeddedError):
    """Another process has the services of this directory in hand."""


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    """Hold the directory; the kernel releases it with the process, however that ends."""
    descriptor = os.open(state / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = file.read().strip() or "unknown"
            raise InUse(
                f"{state} is in use by process {holder}: stop that one first, choose another directory with --var,"
                " or, for a command beside it, use its services: `exec --join -- COMMAND`."
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
