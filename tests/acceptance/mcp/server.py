"""A real server in the test's own process: one or two workers of it on one address."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from tests.stack import LOGS, ROOT, free_port

_SECONDS = 60.0


class Web:
    """uvicorn as a process; `workers` of them share the address."""

    def __init__(self, environment: dict[str, str], *, workers: int = 1, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        LOGS.mkdir(parents=True, exist_ok=True)
        arguments = ["--port", str(self.port), "--workers", str(workers), "--lifespan", "on", "--no-access-log"]
        with (LOGS / "mcp-web.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", "gedaechtnis.config.asgi:application", *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + _SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, (LOGS / "mcp-web.log").read_text()[-2000:]
            time.sleep(0.2)

    def stop(self) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/anmelden/", timeout=5) as response:  # noqa: S310 (our own server)
                return bool(response.status == 200)
        except (urllib.error.URLError, ConnectionError):
            return False
