"""Web, worker and beat under one supervisor, on the bundled services or on one's own."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gedaechtnis.embedded import backup, external, services
from gedaechtnis.embedded.console import say
from gedaechtnis.embedded.credentials import sample_password
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.ports import web_port
from gedaechtnis.embedded.supervisor import Supervisor

PROJECT = Path(__file__).resolve().parents[2]

_SETTINGS = "gedaechtnis.config.settings"
_OTHER_ROLES = {"DATABASE_OWNER_URL", "DATABASE_BACKUP_URL", "DATABASE_ADMIN_URL"}
_SAMPLE_MARK, _RESTORED = "sample-world", "restored from a backup"
_SLOW_START_SECONDS = 60.0


def run(var: Path, port: int | None) -> int:
    """Start everything and stay until Ctrl-C; returns the exit code.

    Services that the environment names are used instead of the bundled ones, and no sample world is made in them.
    Raises EmbeddedError if it does not name all of them, or one cannot be used.
    """
    if external.wanted():
        external.check()
    port = web_port(port)
    common = {"DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", f"{_SETTINGS}.dev")}
    web = ["--host", "127.0.0.1", "--port", str(port), "--no-proxy-headers"]
    if external.wanted():
        environment = {**os.environ, **common}
        _manage(environment, "setup")
        return _supervise(environment, web, var, f"Open http://127.0.0.1:{port}/", port)
    say("starting PostgreSQL and Valkey")
    with services.running(var) as bundled:
        environment = {**os.environ, **common, **bundled.environment()}
        owner_environment = {**environment, **bundled.owner_environment()}
        _manage(owner_environment, "setup")
        password = sample_password(bundled.state)
        mark = bundled.state / _SAMPLE_MARK
        if not mark.exists():
            _manage({**owner_environment, "GEDAECHTNIS_SAMPLE_PASSWORD": password}, "sample_world")
            mark.touch()
        greeting = f"Open http://127.0.0.1:{port}/"
        if mark.read_text() != _RESTORED:
            greeting += f" and sign in as anna with the password {password}"
        return _supervise(environment, web, var, greeting, port, missing=bundled.ended)


def serve(var: Path, host: str, port: int, workers: int, trusted_proxies: str) -> int:
    """Production settings behind a proxy, on external services; returns the exit code.

    Raises EmbeddedError if the environment does not name all services, or one cannot be used.
    """
    external.check()
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": f"{_SETTINGS}.prod"}
    _manage(environment, "collectstatic", "--noinput", "--verbosity", "0")
    _manage(environment, "setup")
    web = ["--host", host, "--port", str(port), "--workers", str(workers)]
    web += ["--proxy-headers", "--forwarded-allow-ips", trusted_proxies]
    return _supervise(environment, web, var, f"Serving on {host}:{port}", port)


def make_backup(var: Path, directory: Path | None) -> int:
    """Back up services of one's own, or the bundled ones, running or not; returns the exit code."""
    directory = directory or var / "backups"
    if external.wanted() or os.environ.get("DATABASE_BACKUP_URL"):
        backup.make(directory, dict(os.environ))
    elif shared := services.joined(var):
        backup.make(directory, shared.full_environment())
    else:
        with services.running(var) as bundled:
            backup.make(directory, bundled.full_environment())
    return 0


def restore_backup(var: Path, dump: Path) -> int:
    """Restore into an empty database, bring it up to date and check its guard; returns the exit code."""
    settings = {"DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", f"{_SETTINGS}.dev")}
    if external.wanted():
        external.check()
        environment = {**os.environ, **settings}
        backup.restore(dump, environment)
        _manage(environment, "setup")
        return 0
    with services.running(var) as bundled:
        environment = {**os.environ, **settings, **bundled.full_environment()}
        backup.restore(dump, environment)
        _manage(environment, "setup")
        # What was restored is somebody's memory: no sample people among them.
        (bundled.state / _SAMPLE_MARK).write_text(_RESTORED)
    return 0


def _manage(environment: Mapping[str, str], *arguments: str) -> None:
    say(f"manage.py {arguments[0]}")
    command = [sys.executable, "manage.py", *arguments]
    code = subprocess.run(command, check=False, cwd=PROJECT, env=environment).returncode
    if code:
        raise EmbeddedError(f"`manage.py {arguments[0]}` failed with exit code {code}; see above.")


def _supervise(
    environment: Mapping[str, str],
    web: list[str],
    var: Path,
    greeting: str,
    port: int,
    missing: Callable[[], str | None] = lambda: None,
) -> int:
    """Web, worker and beat as the application's role: none of them gets the address of another one."""
    var.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in environment.items() if name not in _OTHER_ROLES}
    celery = [sys.executable, "-m", "celery", "--quiet", "--app", "gedaechtnis.config.celery:app"]
    commands = {
        "web": [
            *(sys.executable, "-m", "uvicorn", "gedaechtnis.config.asgi:application"),
            # Addresses of pages hold what people look for, so there is no access log.
            *(
                "--ws",
                "websockets-sansio",
                "--lifespan",
                "on",
                "--no-access-log",
                "--timeout-graceful-shutdown",
                "5",
                *web,
            ),
        ],
        "worker": [
            *celery,
            "worker",
            "--concurrency",
            "2",
            "--loglevel",
            "INFO",
            "--without-gossip",
            "--without-mingle",
        ],
        "beat": [*celery, "beat", "--schedule", str(var.absolute() / "beat-schedule")],
    }
    threading.Thread(target=_greet, args=(port, greeting), daemon=True).start()
    return Supervisor(environment, PROJECT, missing).run(commands)


def _greet(port: int, greeting: str) -> None:
    """Say where the pages are as soon as they are there."""
    started = time.monotonic()
    warned = False
    while not _answers(port):
        if not warned and time.monotonic() - started > _SLOW_START_SECONDS:
            say(f"the pages have not answered for {_SLOW_START_SECONDS:.0f} s; still waiting")
            warned = True
        time.sleep(0.3)
    say(f"\n{greeting}\nCtrl-C stops everything.\n")


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
