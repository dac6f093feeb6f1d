"""Services of one's own: the set-up script on a PostgreSQL that is not ours, and the stack on top of it."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import psycopg
import pytest

from tests.servers import PASSWORD, ROOT, SETUP, Servers, bare_environment, manage, servers
from tests.stack import free_port

HOST = "memory.example"
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="gedaechtnis-theirs-"))
    root.chmod(0o755)
    yield root
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def theirs(directory: Path) -> Iterator[Servers]:
    """Servers of somebody else, prepared with the script."""
    state = directory / "own"
    state.mkdir()
    with servers(state, valkey=True) as started:
        done = started.psql("-f", SETUP)
        assert done.returncode == 0, done.stderr
        yield started


def _embedded(environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gedaechtnis.embedded", *map(str, arguments)],
        cwd=ROOT,
        env={**bare_environment(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", ["run", "serve"])
@pytest.mark.parametrize("given", ["DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"])
def test_half_a_configuration_is_told_what_is_missing(tmp_path: Path, command: str, given: str) -> None:
    all_of_them = {"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "GEDAECHTNIS_SECRET_KEY"}
    done = _embedded({given: "something"}, command, "--var", tmp_path / "var")
    assert done.returncode == 1
    assert f"  {given}:" not in done.stdout
    for name in all_of_them - {given}:
        assert f"  {name}: " in done.stdout
    assert not (tmp_path / "var").exists(), "a bundled service was started"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DATABASE_URL", "postgresql://gedaechtnis_app:geheim@127.0.0.1:1/gedaechtnis", "DATABASE_URL: connection"),
        ("DATABASE_URL", "postgresql://gedaechtnis_app:ge@heim@127.0.0.1/gedaechtnis", "write @ : / ? # % of a"),
        ("DATABASE_OWNER_URL", "geheim", "DATABASE_OWNER_URL is no address"),
        ("REDIS_URL", "redis://:geheim@127.0.0.1:1/0", "REDIS_URL: "),
        ("REDIS_URL", "geheim", "REDIS_URL: no address"),
    ],
)
def test_a_service_that_cannot_be_used_is_named_without_its_password(
    theirs: Servers, tmp_path: Path, name: str, value: str, told: str
) -> None:
    done = _embedded({**theirs.environment(), name: value}, "run", "--var", tmp_path / "var")
    assert done.returncode == 1
    assert told in done.stdout
    assert "geheim" not in done.stdout + done.stderr
    assert "heim@" not in done.stdout + done.stderr


def test_a_database_that_was_not_prepared_is_told_what_it_lacks(theirs: Servers, tmp_path: Path) -> None:
    theirs.psql("-c", "CREATE DATABASE unprepared OWNER gedaechtnis_owner; ")
    theirs.psql("-c", "GRANT CONNECT ON DATABASE unprepared TO gedaechtnis_app")
    done = _embedded(theirs.environment("unprepared"), "run", "--var", tmp_path / "var")
    assert done.returncode == 1
    assert "unprepared lacks the extensions: btree_gist, pg_trgm, unaccent, vector" in done.stdout


def test_the_script_may_run_again_and_puts_back_what_was_changed(theirs: Servers) -> None:
    theirs.psql("-c", "ALTER ROLE gedaechtnis_app SUPERUSER BYPASSRLS CREATEDB")
    again = theirs.psql("-f", SETUP)
    assert again.returncode == 0, again.stderr
    with psycopg.connect(theirs.url("postgres", "postgres")) as connection:
        attributes = connection.execute(
            "SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreatedb FROM pg_roles"
            " WHERE rolname LIKE 'gedaechtnis%' ORDER BY rolname"
        ).fetchall()
    assert attributes == [
        ("gedaechtnis_app", True, False, False, False),
        ("gedaechtnis_backup", True, False, True, False),
        ("gedaechtnis_definer", False, False, False, False),
        ("gedaechtnis_owner", True, False, False, False),
    ]
    with psycopg.connect(theirs.url("postgres")) as connection:
        marked = connection.execute("SELECT proleakproof FROM pg_proc WHERE proname = 'similarity_op'").fetchone()
    assert marked == (True,)
    for role in ("owner", "app", "backup"):
        psycopg.connect(theirs.url(f"gedaechtnis_{role}")).close()


def test_the_script_keeps_passwords_out_of_the_log(theirs: Servers, directory: Path) -> None:
    theirs.psql("-c", "ALTER SYSTEM SET log_statement = 'all'", "-c", "SELECT pg_reload_conf()")
    assert theirs.psql("-f", SETUP).returncode == 0
    theirs.psql("-c", "ALTER SYSTEM RESET log_statement", "-c", "SELECT pg_reload_conf()")
    log = (directory / "own" / "postgresql.log").read_text()
    assert "CREATE EXTENSION" in log
    assert PASSWORD not in log


def test_a_managed_server_gives_what_it_can(directory: Path) -> None:
    """No superuser: a role that makes roles and databases, and a provider that makes the one untrusted extension."""
    state = directory / "managed"
    state.mkdir()
    with servers(state) as managed:
        managed.psql("-c", f"CREATE ROLE master LOGIN CREATEROLE CREATEDB PASSWORD '{PASSWORD}'")
        first = managed.psql("-f", SETUP, user="master")
        assert first.returncode != 0
        assert 'permission denied to create extension "vector"' in first.stderr
        managed.psql("-d", "gedaechtnis", "-c", "CREATE EXTENSION vector")
        second = managed.psql("-f", SETUP, user="master")
        assert second.returncode == 0, second.stderr
        assert "gedaechtnis_backup cannot be given BYPASSRLS here" in second.stderr
        environment = managed.environment()
        assert "The database is ready." in manage(environment, "setup")
        manage(environment, "check_scopes")
        with psycopg.connect(managed.url("master", "postgres")) as master:
            assert master.execute("SELECT pg_has_role('gedaechtnis_owner', 'SET')").fetchone() == (False,)


@pytest.mark.slow
def test_the_whole_stack_runs_on_them_and_starts_no_service(theirs: Servers, directory: Path) -> None:
    var = directory / "var"
    environment = {**theirs.environment(), "GEDAECHTNIS_CURATOR_IDLE_SECONDS": "1"}
    with _running(environment, var) as base:
        shell = ("exec", "--join", "--var", var, "--", sys.executable, "manage.py")
        assert _embedded(environment, *shell, "user", "create", "jonas").returncode == 0
        token = _embedded(environment, *shell, "token", "create", "jonas", "--name", "test").stdout.split()[-1]
        _call(f"{base}/api/chats/main/messages", token, {"text": "Ich wohne in Nürnberg."})
        _eventually(lambda: "Nürnberg" in str(_call(f"{base}/api/world/entities/me/facts", token)["items"]))
    assert not list(var.rglob("postgresql*"))
    assert not list(var.rglob("valkey*"))
    assert not (var / "credentials.json").exists()


@pytest.mark.slow
def test_serving_in_production_is_as_safe_as_its_settings_say(theirs: Servers, directory: Path) -> None:
    environment = {**theirs.environment(), "GEDAECHTNIS_HOSTS": HOST}
    with _running(environment, directory / "served", "serve", "--workers", "1") as base:
        shell = ("exec", "--join", "--var", directory / "served", "--", sys.executable, "manage.py")
        made = _embedded(environment, *shell, "user", "create", "marta")
        assert made.returncode == 0, made.stderr
        browser = Browser(base)

        # Without TLS one is sent to it, under a wrong name nowhere.
        plain = browser.ask("/anmelden/", tls=False)
        assert (plain.status, plain.headers["Location"]) == (301, f"https://{HOST}/anmelden/")
        foreign = browser.ask("/api/world/kinds", headers={"Host": "evil.example"})
        assert (foreign.status, foreign.headers["Content-Type"]) == (400, "application/problem+json")

        page = browser.ask("/anmelden/")
        assert page.status == 200
        assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.headers["Referrer-Policy"] == page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy

        # Files bear their content in their name, so that they may be kept for ever.
        files = re.findall(r'(?:href|src)="(/static/[^"#]+)', page.text)
        assert files
        for address in files:
            assert re.search(r"\.[0-9a-f]{12}\.\w+$", address), f"{address} has no hash"
            file = browser.ask(address)
            assert file.status == 200
            assert "immutable" in file.headers["Cache-Control"]
        style = next(address for address in files if address.endswith(".css"))
        assert browser.ask(style, headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"

        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token is not None
        form = {"username": "marta", "password": made.stdout.split()[-1], "csrfmiddlewaretoken": token[1]}
        assert browser.ask("/anmelden/", form, headers={"Origin": "https://evil.example"}).status == 403
        signed_in = browser.ask("/anmelden/", form, headers={"Origin": f"https://{HOST}"})
        assert (signed_in.status, signed_in.headers["Location"]) == (302, "/")
        for morsel in browser.cookies.values():
            assert morsel.key.startswith("__Host-")
            assert morsel["secure"]
            assert morsel["httponly"]
            assert (morsel["path"], morsel["domain"], morsel["samesite"]) == ("/", "", "Lax")
        home = browser.ask("/")
        assert home.status == 200
        assert "marta" in home.text
        assert home.headers["Cache-Control"] == "no-store"

        # Live notices pass the proxy, for pages that came through it.
        for origin, status in ((f"https://{HOST}", 101), (f"http://{HOST}", 403), ("https://evil.example", 403)):
            assert browser.ask("/ws/", headers={**HANDSHAKE, "Origin": origin}).status == status


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Message
    text: str


class Browser:
    """Behind the proxy that ends TLS; keeps cookies as they are given."""

    def __init__(self, base: str) -> None:
        self._port = urlsplit(base).port
        self.cookies = SimpleCookie()

    def ask(
        self, path: str, form: dict[str, str] | None = None, *, tls: bool = True, headers: dict[str, str] | None = None
    ) -> Answer:
        """GET, or POST with a form; redirects are not followed."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        given = {
            "Host": HOST,
            "X-Forwarded-Proto": "https" if tls else "http",
            "Cookie": "; ".join(f"{name}={morsel.value}" for name, morsel in self.cookies.items()),
            "Content-Type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        connection.request("POST" if form else "GET", path, urlencode(form) if form else None, given)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        connection.close()
        for cookie in response.headers.get_all("Set-Cookie", []):
            self.cookies.load(cookie)
        return Answer(response.status, response.headers, text)


@contextmanager
def _running(environment: dict[str, str], var: Path, command: str = "run", *options: str) -> Iterator[str]:
    """`run` or `serve` as a process until the end of the block; yields the address it answers at."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    output = var.with_suffix(".log")
    with output.open("w") as log:
        words = [command, "--port", str(port), "--var", str(var), *options]
        stack = subprocess.Popen(
            [sys.executable, "-m", "gedaechtnis.embedded", *words],
            cwd=ROOT,
            env={**bare_environment(), **environment},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _eventually(lambda: f"127.0.0.1:{port}" in output.read_text() or stack.poll() is not None)
            assert stack.poll() is None, output.read_text()
            yield base
        finally:
            stack.send_signal(signal.SIGINT)
            stack.wait(40)


def _call(url: str, token: str, body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(  # noqa: S310 (our own server)
        url,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310 (our own server)
            return json.load(response)
    except urllib.error.HTTPError as error:
        pytest.fail(f"{url}: {error.code} {error.read().decode()}")


def _eventually(holds: Callable[[], Any], seconds: float = 60.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.2)
    return found
