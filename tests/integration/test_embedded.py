"""The bundled services: start, survive being killed, refuse a second user, leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from gedaechtnis.embedded import ports, services
from gedaechtnis.embedded.account import Account, state_directory
from gedaechtnis.embedded.supervisor import Supervisor


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    """A data directory that survives from test to test, as a real one does."""
    # pytest's own directories are closed to other accounts.
    root = Path(tempfile.mkdtemp(prefix="gedaechtnis-test-"))
    root.chmod(0o755)
    yield root / "var"
    shutil.rmtree(root)


def _embedded(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "gedaechtnis.embedded", *map(str, arguments)]


def _server_pids(var: Path) -> list[int]:
    """Processes that work in a data directory; zombies do not count."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            working_directory = (entry / "cwd").readlink()
        except OSError:
            continue
        if working_directory.is_relative_to(var):
            pids.append(int(entry.name))
    return pids


def _wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def _remember(running: services.Services, value: str) -> None:
    environment = running.owner_environment()
    with psycopg.connect(environment["DATABASE_OWNER_URL"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (value text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [value])
    with redis.Redis.from_url(environment["REDIS_URL"]) as client:
        client.sadd("kept", value)
        time.sleep(1.1)  # the append-only file reaches the disk once a second


def _remembered(running: services.Services) -> tuple[set[str], set[str]]:
    environment = running.owner_environment()
    with psycopg.connect(environment["DATABASE_OWNER_URL"]) as connection:
        rows = {value for (value,) in connection.execute("SELECT value FROM kept")}
    with redis.Redis.from_url(environment["REDIS_URL"], decode_responses=True) as client:
        return rows, set(client.smembers("kept"))


def test_it_prepares_roles_and_extensions(var: Path) -> None:
    with services.running(var) as running:
        environment = running.full_environment()
        with psycopg.connect(environment["DATABASE_ADMIN_URL"]) as connection:
            roles = connection.execute(
                "SELECT rolname, rolcanlogin, rolsuper, rolbypassrls FROM pg_roles"
                " WHERE rolname LIKE 'gedaechtnis%' ORDER BY rolname"
            ).fetchall()
            extensions = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
        assert roles == [
            ("gedaechtnis_app", True, False, False),
            ("gedaechtnis_backup", True, False, True),
            ("gedaechtnis_definer", False, False, False),
            ("gedaechtnis_owner", True, False, False),
        ]
        assert {"vector", "pg_trgm", "btree_gist", "unaccent"} <= extensions
        with (
            psycopg.connect(environment["DATABASE_URL"]) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("CREATE TABLE intruder ()")
        with (
            psycopg.connect(environment["DATABASE_OWNER_URL"]) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("CREATE ROLE intruder")
        with (
            psycopg.connect(environment["DATABASE_BACKUP_URL"]) as connection,
            pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
        ):
            connection.execute("CREATE TABLE intruder ()")
        without_password = redis.Redis(port=running.valkey_port)
        with without_password, pytest.raises(redis.exceptions.AuthenticationError):
            without_password.ping()
    assert _server_pids(var) == []


def test_it_lets_the_owner_hand_functions_to_the_definer_and_stay_blind(var: Path) -> None:
    with services.running(var) as running, psycopg.connect(running.owner_environment()["DATABASE_OWNER_URL"]) as owner:
        owner.execute("CREATE TABLE guarded AS SELECT 1 AS id")
        owner.execute("ALTER TABLE guarded ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        owner.execute("CREATE POLICY definer ON guarded TO gedaechtnis_definer USING (true)")
        owner.execute("GRANT SELECT ON guarded TO gedaechtnis_definer")
        owner.execute(
            "CREATE FUNCTION guarded_count() RETURNS bigint LANGUAGE sql SECURITY DEFINER"
            " SET search_path = public, pg_temp AS 'SELECT count(*) FROM guarded'"
        )
        owner.execute("ALTER FUNCTION guarded_count() OWNER TO gedaechtnis_definer")
        assert owner.execute("SELECT count(*) FROM guarded").fetchone() == (0,)
        assert owner.execute("SELECT guarded_count()").fetchone() == (1,)
        owner.rollback()


def test_it_keeps_secrets_to_itself(var: Path) -> None:
    with services.running(var) as running:
        secrets = running.credentials
        assert (running.state / "credentials.json").stat().st_mode & 0o777 == 0o600
    for log in running.state.glob("*.log"):
        text = log.read_text()
        assert not any(secret in text for secret in vars(secrets).values())


def test_it_loses_nothing_when_the_services_are_killed(var: Path) -> None:
    with services.running(var) as running:
        _remember(running, "before the services were killed")
        pids = _server_pids(var)
        assert pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    with services.running(var) as running:
        rows, members = _remembered(running)
    assert "before the services were killed" in rows & members


def test_it_leaves_no_orphan_when_the_supervisor_is_killed(var: Path, tmp_path: Path) -> None:
    mark = tmp_path / "command-runs"
    command = _embedded("exec", "--var", var, "--", sys.executable, "-c", _MARK_AND_WAIT, mark)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as supervisor:
        _wait_until(mark.exists)
        supervisor.kill()
    child = int(mark.read_text())
    _wait_until(lambda: not _server_pids(var))
    _wait_until(lambda: not _is_alive(child))
    with services.running(var) as running:
        assert running.postgres_port


def test_it_refuses_a_second_user_of_the_same_directory(var: Path) -> None:
    with services.running(var) as running:
        second = subprocess.run(
            _embedded("exec", "--var", var, "--", "true"), capture_output=True, text=True, check=False
        )
        joined = services.joined(var)
    assert second.returncode == 1
    assert f"in use by process {os.getpid()}" in second.stdout
    assert "exec --join" in second.stdout
    assert joined == running
    assert services.joined(var) is None


def test_it_moves_to_another_port_when_its_own_is_taken(var: Path) -> None:
    with services.running(var) as running:
        former = running.valkey_port
    with services.running(var) as running:
        assert running.valkey_port == former
    with socket.create_server(("127.0.0.1", former)), services.running(var) as running:
        assert running.valkey_port != former
    assert ports.known_ports(running.state)["valkey"] == running.valkey_port


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_it_passes_signals_on_and_stops_cleanly(var: Path, tmp_path: Path, signum: signal.Signals) -> None:
    mark = tmp_path / "command-runs"
    command = _embedded("exec", "--var", var, "--", sys.executable, "-c", _MARK_AND_WAIT, mark)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as runner:
        _wait_until(mark.exists)
        runner.send_signal(signum)
        code = runner.wait(20)
    assert code == 128 + signum
    assert _server_pids(var) == []


def test_it_answers_with_the_exit_code_of_the_command_on_fresh_data(var: Path) -> None:
    with services.running(var) as running:
        _remember(running, "to be dropped")
    check = (
        "import os, psycopg, redis, sys;"
        "c = psycopg.connect(os.environ['DATABASE_ADMIN_URL']);"
        "gone = c.execute(\"SELECT to_regclass('kept') IS NULL\").fetchone()[0];"
        "c.close();"
        "sys.exit(42 if gone and not redis.Redis.from_url(os.environ['REDIS_URL']).dbsize() else 1)"
    )
    result = subprocess.run(_embedded("exec", "--fresh", "--var", var, "--", sys.executable, "-c", check), check=False)
    assert result.returncode == 42


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the services as somebody else")
def test_it_finds_a_place_when_the_project_is_closed_to_the_account(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    var = closed / "var"
    state = state_directory(var, Account.choose())
    try:
        assert Account.choose().reaches(state)
        assert state_directory(var, Account.choose()) == state
    finally:
        shutil.rmtree(state)


@pytest.fixture
def signals_kept() -> Iterator[None]:
    """The supervisor takes signals over; the test run wants them back."""
    before = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


def test_the_supervisor_takes_all_down_with_one(
    signals_kept: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "runs"
    code = Supervisor(os.environ, tmp_path).run(
        {
            "long": [sys.executable, "-c", _MARK_AND_WAIT, str(mark)],
            "short": [sys.executable, "-c", "print('a line'); print('the last', end=''); raise SystemExit(3)"],
        }
    )
    output = capfd.readouterr().out
    assert code == 1
    assert "short   | a line" in output
    assert "short   | the last" in output
    assert "short ended unexpectedly (exit code 3)" in output
    assert not mark.exists() or not _is_alive(int(mark.read_text()))


@pytest.mark.parametrize("server", ["PostgreSQL", "Valkey"])
def test_the_supervisor_takes_all_down_with_a_service(
    signals_kept: None, var: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], server: str
) -> None:
    mark = tmp_path / "runs"

    def ended() -> str | None:
        """Kills the server once the command runs, then looks."""
        if mark.exists() and running.servers[server].is_running():
            os.kill(_main_pid(var, server), signal.SIGKILL)
        return running.ended()

    with services.running(var) as running:
        assert running.ended() is None
        long = {"long": [sys.executable, "-c", _MARK_AND_WAIT, str(mark)]}
        assert Supervisor(os.environ, tmp_path, ended).run(long) == 1
    assert f"{server} ended unexpectedly" in capfd.readouterr().out
    assert not _is_alive(int(mark.read_text()))


def _main_pid(var: Path, server: str) -> int:
    pid_file = {"PostgreSQL": "postgresql/postmaster.pid", "Valkey": "valkey/valkey.pid"}[server]
    return int((var / pid_file).read_text().split()[0])


def _is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


_MARK_AND_WAIT = (
    "import os, pathlib, sys, time;"
    "path = pathlib.Path(sys.argv[1]);"
    "path.with_suffix('.partial').write_text(str(os.getpid()));"
    "path.with_suffix('.partial').rename(path);"
    "time.sleep(60)"
)
