"""A backup is whole or there is none, and what is restored from it answers as before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections

from gedaechtnis.common import clock
from gedaechtnis.embedded import backup
from gedaechtnis.embedded.census import Census, row_differences, rows_of_dump
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.postgres import client_program
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import checks
from tests.servers import ROOT, SETUP, Servers, bare_environment, servers

_TIMES = [datetime(year, 6, 1, tzinfo=UTC) for year in (2020, 2023, 2025)]
_KNOWN = [datetime(2026, 1, 15, tzinfo=UTC), datetime(2026, 2, 15, tzinfo=UTC), None]


@pytest.fixture(scope="module")
def empty_servers() -> Iterator[Servers]:
    """A second PostgreSQL, prepared and empty."""
    state = Path(tempfile.mkdtemp(prefix="gedaechtnis-restore-"))
    state.chmod(0o755)
    with servers(state) as started:
        yield started
    shutil.rmtree(state)


@pytest.fixture
def target(empty_servers: Servers) -> dict[str, str]:
    """The addresses of an empty database there."""
    dropped = empty_servers.psql("-c", "DROP DATABASE IF EXISTS gedaechtnis")
    assert dropped.returncode == 0, dropped.stderr
    prepared = empty_servers.psql("-f", SETUP)
    assert prepared.returncode == 0, prepared.stderr
    return {**empty_servers.environment(), "REDIS_URL": os.environ["REDIS_URL"]}


def _say(principal: Principal, month: int, *operations: dict[str, Any]) -> None:
    with clock.frozen(datetime(2026, month, 1, tzinfo=UTC)):
        commit_proposal(
            principal=principal, proposal=MemoryMutationProposal.model_validate({"operations": list(operations)})
        )


def _lives_in(place: str, since: str, **more: Any) -> dict[str, Any]:
    fact = {"op": "assert_fact", "subject_ref": "person:elin", "predicate": "address", "object_value": place}
    return {**fact, "valid_from": since, **more}


_ELIN = {"op": "upsert_entity", "id_hint": "person:elin", "kind": "person", "canonical_name": "Elin"}


@pytest.fixture
def two_memories(anna: User, ben: User) -> list[Principal]:
    """Anna and Ben know different things of an Elin of their own, and Anna has changed her mind."""
    groups.create_group(user=anna, name="Chor")
    _say(person(anna), 1, _ELIN, _lives_in("Berlin", "2019"))
    _say(person(ben), 1, _ELIN, _lives_in("Graz; DROP\tTABLE\\.", "2021"))
    _say(person(anna), 2, _lives_in("Ulm", "2024"))
    _say(person(anna), 3, _lives_in("Bonn", "2018", correction=True))
    return [person(anna), person(ben)]


def _answers(principals: list[Principal]) -> list[Any]:
    answers = []
    for principal in principals:
        elin = entities.get_entity(principal=principal, ref="person:elin").id
        for valid_at in _TIMES:
            for known_at in _KNOWN:
                found = asof.entity_facts(principal=principal, entity_id=elin, valid_at=valid_at, known_at=known_at)
                answers.append(found.facts)
    return answers


@contextmanager
def _instead(environment: dict[str, str]) -> Iterator[None]:
    """The application's connection leads to another database."""
    settings = connections["default"].settings_dict
    before = {**settings}
    connections["default"].close()
    parameters = psycopg.conninfo.conninfo_to_dict(environment["DATABASE_URL"])
    settings.update({"PORT": str(parameters["port"]), "PASSWORD": str(parameters["password"])})
    try:
        yield
    finally:
        connections["default"].close()
        settings.update(before)


def _make(directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gedaechtnis.embedded", "backup", "--to", str(directory)],
        cwd=ROOT,
        env={**bare_environment(), "DATABASE_BACKUP_URL": os.environ["DATABASE_BACKUP_URL"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _restore(dump: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gedaechtnis.embedded", "restore", str(dump)],
        cwd=ROOT,
        env={**bare_environment(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_case_c105_the_restored_memory_is_whole_guarded_and_answers_as_before(
    two_memories: list[Principal], target: dict[str, str], tmp_path: Path
) -> None:
    before = _answers(two_memories)
    assert len({repr(answer) for answer in before}) > 3
    made = _make(tmp_path / "backups")
    assert made.returncode == 0, made.stdout + made.stderr
    (dump,) = (tmp_path / "backups").glob("*.dump")
    manifest = dump.with_suffix(".json")
    assert [path.stat().st_mode & 0o777 for path in (dump, manifest, dump.parent)] == [0o600, 0o600, 0o700]
    facts = json.loads(manifest.read_text())["census"]["rows"]["facts"]
    assert {principal.default_scope for principal in two_memories} <= set(facts)

    restored = _restore(dump, target)
    assert restored.returncode == 0, restored.stdout + restored.stderr
    with _instead(target):
        assert _answers(two_memories) == before
        assert checks.problems() == []
    with psycopg.connect(target["DATABASE_OWNER_URL"]) as owner:
        open_tables = owner.execute(
            "SELECT relname FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND NOT (relrowsecurity AND relforcerowsecurity) AND 2 = (SELECT count(*) FROM pg_attribute"
            " WHERE attrelid = c.oid AND attname IN ('scope_ref', 'classification'))"
        ).fetchall()
        assert open_tables == []
        assert owner.execute("SELECT count(*) FROM pg_class WHERE relispartition").fetchone() != (0,)
        assert owner.execute("SELECT count(*) FROM facts").fetchone() == (0,), "the owner stays blind"


@pytest.mark.parametrize("role", ["DATABASE_URL", "DATABASE_OWNER_URL"])
def test_case_c105_a_role_that_policies_limit_makes_no_backup(
    two_memories: list[Principal], tmp_path: Path, role: str
) -> None:
    made = _make(tmp_path / "backups", DATABASE_BACKUP_URL=os.environ[role])
    assert made.returncode == 1
    assert "limited by row-level security" in made.stdout
    assert list((tmp_path / "backups").iterdir()) == []


def test_case_c105_a_dump_under_row_level_security_is_told_from_a_whole_one(
    two_memories: list[Principal], tmp_path: Path
) -> None:
    anna, ben = two_memories
    dump = tmp_path / "as-ben.dump"
    command = [client_program("pg_dump"), "-Fc", "--enable-row-security", "-t", "facts", "-f", dump]
    subprocess.run(
        [*command, "-d", os.environ["DATABASE_URL"]],
        check=True,
        env={**os.environ, "PGOPTIONS": f"-c gedaechtnis.read_scopes={ben.default_scope} -c gedaechtnis.clearance=3"},
    )
    with psycopg.connect(os.environ["DATABASE_BACKUP_URL"]) as connection:
        census = Census.take(connection)
    in_file = rows_of_dump(dump)
    assert set(in_file["facts"]) == {ben.default_scope}
    missing = row_differences({"facts": census.rows["facts"]}, in_file)
    assert missing == [
        f"table facts, {anna.default_scope}: 0 rows instead of {census.rows['facts'][anna.default_scope]}"
    ]


def test_a_dump_that_lacks_rows_is_not_kept(
    two_memories: list[Principal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "rows_of_dump", lambda dump: {**rows_of_dump(dump), "facts": {}})
    with pytest.raises(EmbeddedError, match=r"table facts, user:.* 0 rows instead of"):
        backup.make(tmp_path / "backups", dict(os.environ))
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_backup_without_an_address_names_the_variable(tmp_path: Path) -> None:
    made = _make(tmp_path / "backups", DATABASE_URL="postgresql://a:b@127.0.0.1/c", DATABASE_BACKUP_URL="")
    assert made.returncode == 1
    assert "DATABASE_BACKUP_URL is required" in made.stdout


def test_a_damaged_or_unknown_file_is_not_restored(
    two_memories: list[Principal], target: dict[str, str], tmp_path: Path
) -> None:
    dump = backup.make(tmp_path / "backups", dict(os.environ))
    with dump.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(EmbeddedError, match="damaged or changed"):
        backup.restore(dump, target)
    with pytest.raises(EmbeddedError, match=r"There is no .*other\.dump"):
        backup.restore(dump.with_stem("other"), target)


def test_a_database_that_holds_something_is_not_restored_into(two_memories: list[Principal], tmp_path: Path) -> None:
    dump = backup.make(tmp_path / "backups", dict(os.environ))
    with pytest.raises(EmbeddedError, match="is not empty"):
        backup.restore(dump, dict(os.environ))


def test_a_restored_database_that_differs_is_told(
    two_memories: list[Principal], target: dict[str, str], tmp_path: Path
) -> None:
    dump = backup.make(tmp_path / "backups", dict(os.environ))
    manifest = dump.with_suffix(".json")
    content = json.loads(manifest.read_text())
    content["census"]["guards"]["facts"]["policies"].pop()
    content["census"]["rows"]["facts"][two_memories[0].default_scope] += 1
    manifest.write_text(json.dumps(content))
    with pytest.raises(EmbeddedError, match=r"(?s)instead of .*table facts: guarded differently"):
        backup.restore(dump, target)
