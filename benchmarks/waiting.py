"""How long a process and the server's process for its connection waited for a processor, as Linux counts it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from django.db import connection


class Waiting:
    """Milliseconds since the last reading in which one of the two could have run and was not let."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (server,) = cursor.fetchone()
        self._files = [Path("/proc", str(pid), "schedstat") for pid in (os.getpid(), server)]
        self._last = self._read()

    def read(self) -> float:
        """Nothing where the system does not tell."""
        now = self._read()
        waited, self._last = now - self._last, now
        return waited / 1_000_000

    def _read(self) -> int:
        with suppress(OSError):
            return sum(int(file.read_text().split()[1]) for file in self._files)
        return 0
