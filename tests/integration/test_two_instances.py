"""Two instances on one machine: data, ports and sign-ins of their own."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from tests.servers import ROOT, bare_environment
from tests.stack import free_port

_START_SECONDS = 120.0


@contextmanager
def _instance(var: Path) -> Iterator[str]:
    """`run` with nothing configured but the directory, the port and the sample password; yields its address."""
    base = f"http://127.0.0.1:{free_port()}"
    output = var.with_suffix(".log")
    command = [sys.executable, "-m", "gedaechtnis.embedded", "run", "--var", str(var), "--port", base.split(":")[-1]]
    with output.open("w") as log:
        running = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**bare_environment(), "GEDAECHTNIS_SAMPLE_PASSWORD": var.name * 8},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while f"Open {base}/" not in output.read_text():
            assert running.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.2)
        yield base
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)


def _page(browser: OpenerDirector, url: str, form: dict[str, str] | None = None) -> str:
    with browser.open(url, None if form is None else urlencode(form).encode(), timeout=20) as response:
        return str(response.read().decode())


def _sign_in(browser: OpenerDirector, base: str, password: str) -> None:
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', _page(browser, f"{base}/anmelden/"))
    assert token
    form = {"csrfmiddlewaretoken": token[1], "username": "anna", "password": password}
    assert 'action="/abmelden/"' in _page(browser, f"{base}/anmelden/", form)


@pytest.mark.slow
def test_two_instances_share_a_machine_and_a_browser() -> None:
    directory = Path(tempfile.mkdtemp(prefix="gedaechtnis-two-"))
    directory.chmod(0o755)
    cookies = CookieJar()
    browser = build_opener(HTTPCookieProcessor(cookies))
    try:
        with ExitStack() as both:
            first = both.enter_context(_instance(directory / "first"))
            second = both.enter_context(_instance(directory / "second"))
            _sign_in(browser, first, "first" * 8)
            _sign_in(browser, second, "second" * 8)
            for base in (first, second, first):
                assert 'action="/abmelden/"' in _page(browser, f"{base}/einstellungen/"), (
                    "signing in to one signed out of the other"
                )
            logs = "".join((directory / f"{name}.log").read_text() for name in ("first", "second"))
            assert "Warning" not in logs
            assert len([cookie for cookie in cookies if "session" in cookie.name]) == 2
    finally:
        shutil.rmtree(directory)
