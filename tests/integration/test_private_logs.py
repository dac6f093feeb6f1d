"""What web and worker write about a failure says where and of which kind, never the words it failed on."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from celery import Celery

from gedaechtnis.config.logs import PrivateFormatter
from tests.servers import ROOT
from tests.stack import free_port

MARKER = "PRIVATMARKER-77"
_CELERY = ("celery", "--quiet", "--app", "gedaechtnis.config.celery:app")


@contextmanager
def _process(output: Path, module: str, *arguments: str) -> Iterator[Callable[[], str]]:
    """A server with the failing page and task; yields what reads its output."""
    with output.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.failing_settings", "PYTHONUNBUFFERED": "1"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield output.read_text
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _eventually(holds: Callable[[], bool], output: Callable[[], str]) -> None:
    deadline = time.monotonic() + 40
    while not holds():
        assert time.monotonic() < deadline, output()
        time.sleep(0.1)


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310 (our own server)
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return 0


def _says_enough(text: str) -> None:
    assert MARKER not in text
    assert "django.db.utils.IntegrityError" in text
    assert "sqlstate=23505 constraint=django_session_pkey" in text
    assert "builtins.ValueError" in text
    assert "builtins.RuntimeError" in text
    assert "in in_python" in text


def test_the_web_server_writes_nothing_private(database: None, tmp_path: Path) -> None:
    port = free_port()
    arguments = ("gedaechtnis.config.asgi:application", "--port", str(port), "--lifespan", "off", "--no-access-log")
    with _process(tmp_path / "web.log", "uvicorn", *arguments) as output:
        base = f"http://127.0.0.1:{port}"
        _eventually(lambda: _status(base) == 200, output)
        assert _status(f"{base}/failing/database/{MARKER}/") == 500
        assert _status(f"{base}/failing/python/{MARKER}/") == 500
        assert _status(f"{base}/{MARKER}") == 404
        _eventually(lambda: "Not Found" in output(), output)
    _says_enough(output())
    assert "Internal Server Error: GET failing/<str:kind>/<str:searched>/" in output()
    assert "Not Found: GET an unknown address" in output()


def test_the_worker_writes_nothing_private(database: None, tmp_path: Path) -> None:
    arguments = ("worker", "--concurrency", "1", "--queues", "failing", "--without-gossip", "--without-mingle")
    with (
        _process(tmp_path / "worker.log", *_CELERY, *arguments, "--loglevel", "INFO") as output,
        Celery(broker=os.environ["REDIS_URL"], set_as_current=False) as client,
    ):
        client.conf.broker_transport_options = {"global_keyprefix": "gedaechtnis.work."}
        for kind in ("database", "python"):
            client.send_task("tests.fail", [kind, MARKER], queue="failing")
        _eventually(lambda: output().count("tests.fail[") == 2 and "RuntimeError" in output(), output)
    _says_enough(output())


def test_asyncio_reports_a_lost_task_without_its_words() -> None:
    written: list[str] = []

    class Written(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(self.format(record))

    async def lose() -> None:
        async def fail() -> None:
            raise ValueError(MARKER)

        task = asyncio.ensure_future(fail())
        await asyncio.sleep(0)
        del task

    handler = Written()
    handler.setFormatter(PrivateFormatter("%(message)s"))
    logging.getLogger("asyncio").addHandler(handler)
    try:
        asyncio.run(lose())
    finally:
        logging.getLogger("asyncio").removeHandler(handler)
    (text,) = written
    assert text.startswith("Task exception was never retrieved\nTraceback")
    assert MARKER not in text
