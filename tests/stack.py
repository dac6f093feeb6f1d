"""Web, worker and beat as real processes on the test services."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from gedaechtnis.embedded.ports import is_free

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "test-results"
LOGS = RESULTS / os.environ.get("PYTEST_XDIST_WORKER", "")
_START_SECONDS = 60.0


def free_port() -> int:
    """A port for a server; the kernel gives none of this range to a connection before the server takes it."""
    return next(port for port in random.sample(range(10_000, 20_000), 100) if is_free(port))


class Stack:
    """Web, worker and beat as processes, as the application's role."""

    def __init__(self, **environment: str) -> None:
        """`environment` is what differs from that of all tests."""
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DATABASE_OWNER")},
            "DJANGO_SETTINGS_MODULE": "gedaechtnis.config.settings.test",
            "GEDAECHTNIS_CURATOR_IDLE_SECONDS": "1",
            "GEDAECHTNIS_WORK_LEASE_SECONDS": "3",
            "PYTHONUNBUFFERED": "1",
            **environment,
        }
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        LOGS.mkdir(parents=True, exist_ok=True)

    def start(self) -> None:
        self.start_worker()
        self.start_web()

    def start_web(self) -> None:
        """Pages and API; returns when they answer."""
        self._run("web", "uvicorn", "gedaechtnis.config.asgi:application", "--port", str(self.port), "--lifespan", "on")
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"the server does not answer: {(LOGS / 'web.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def start_worker(self) -> None:
        celery = ("celery", "--quiet", "--app", "gedaechtnis.config.celery:app")
        self._run("worker", *celery, "worker", "--concurrency", "1", "--without-gossip", "--without-mingle")
        self._run("beat", *celery, "beat", "--schedule", str(LOGS / "beat-schedule"))

    def kill_worker(self) -> None:
        """As `kill -9` would, children included."""
        for name in ("worker", "beat"):
            child = self._children.pop(name)
            os.killpg(child.pid, 9)
            child.wait()

    def stop(self) -> None:
        for child in self._children.values():
            os.killpg(child.pid, 15)
        for child in self._children.values():
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                child.wait()

    def _run(self, name: str, module: str, *arguments: str) -> None:
        with (LOGS / f"{name}.log").open("ab") as log:
            self._children[name] = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/anmelden/", timeout=5) as response:  # noqa: S310 (our own server)
                return bool(response.status == 200)
        except (urllib.error.URLError, ConnectionError):
            return False
