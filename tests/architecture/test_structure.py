"""Rules about the code's shape that a reviewer would otherwise have to remember."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from gedaechtnis.config.celery import app as celery_app
from gedaechtnis.scoping.tables import UNSCOPED_TABLES, scoped_models

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("gedaechtnis", "curator", "integrations") for path in (ROOT / package).rglob("*.py")]
MAX_LINES = 400

OPEN_PAGES = {
    "login": "the way in",
    "openid_connect_login": "the way in by an identity provider",
    "openid_connect_callback": "the way back from one",
    "language": "choosing a language before signing in",
}
"""Pages that answer strangers, with the reason."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_stays_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_every_model_is_scoped_or_on_the_list_with_a_reason() -> None:
    scoped = {model._meta.db_table for model in scoped_models()}
    tables = {
        table
        for model in apps.get_models(include_auto_created=True)
        if (table := model._meta.db_table) and model._meta.can_migrate("default")
    }
    assert tables - scoped == set(UNSCOPED_TABLES) - {"django_migrations"}
    assert all(reason for reason in UNSCOPED_TABLES.values())


def test_every_sql_file_is_used_by_exactly_one_migration() -> None:
    migrations = "\n".join(
        path.read_text(encoding="utf-8") for path in ROOT.rglob("*/migrations/*.py") if ".venv" not in path.parts
    )
    for package in ("gedaechtnis/scoping", "gedaechtnis/world"):
        for path in (ROOT / package / "sql").glob("*.up.sql"):
            name = path.name.removesuffix(".up.sql")
            assert migrations.count(f'RunSQLFile(__file__, "{name}")') == 1, f"{path} needs one migration"
            assert path.with_name(f"{name}.down.sql").exists(), f"{path} needs a way back"


def test_celery_only_knows_the_tick() -> None:
    """Work goes through the work table; a task of its own would run without lease and scope."""
    celery_app.loader.import_default_modules()
    own = {name for name in celery_app.tasks if not name.startswith("celery.")}
    assert own == {"gedaechtnis.scoping.tasks.run_due_work"}


def test_facts_are_only_written_where_writing_is_at_home() -> None:
    writing = re.compile(
        r"\b(?:Fact|FactEvidence|WorldEvent|Proposal|EntityAlias)\.objects\.(?:create|bulk_create|update)"
    )
    allowed = {ROOT / "gedaechtnis" / "memory" / room for room in ("services", "transfer", "writing")}
    offenders = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if not allowed & set(path.parents) and writing.search(path.read_text(encoding="utf-8"))
    ]
    assert offenders == []


def test_the_settings_of_the_connection_are_set_in_one_place() -> None:
    users = [str(path.relative_to(ROOT)) for path in SOURCES if "set_config(" in path.read_text(encoding="utf-8")]
    assert users == ["gedaechtnis/scoping/context.py"]


def test_the_clock_is_read_through_one_door() -> None:
    reading = re.compile(r"datetime\.now\(|timezone\.now\(|datetime\.utcnow\(")
    users = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if "embedded" not in path.parts and reading.search(path.read_text(encoding="utf-8"))
    ]
    assert users == ["gedaechtnis/common/clock.py"]


def test_memberships_change_where_open_pages_are_told_of_it() -> None:
    """Elsewhere a membership would change without an entry in the security log and without a word to open pages."""
    writing = re.compile(r"(?:Group|Org)Membership\.objects\.\w*create|memberships?\b[\w.()]*\.(?:update|delete)\(")
    users = {
        path.relative_to(ROOT / "gedaechtnis/identity").as_posix()
        for path in SOURCES
        if writing.search(path.read_text(encoding="utf-8"))
    }
    assert users == {"groups.py", "orgs.py", "oidc/claims.py"}
    for name in users:
        assert "access.changed(" in (ROOT / "gedaechtnis/identity" / name).read_text(encoding="utf-8")


def _patterns(resolver: URLResolver, prefix: str = "") -> list[tuple[str, URLPattern]]:
    found: list[tuple[str, URLPattern]] = []
    for entry in resolver.url_patterns:
        path = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            if entry.app_name not in ("admin", "api"):
                found += _patterns(entry, path)
        else:
            found.append((path, entry))
    return found


@pytest.mark.usefixtures("database")
def test_every_page_but_the_listed_ones_sends_strangers_to_the_sign_in() -> None:
    client = Client()
    names = {pattern.name for _path, pattern in _patterns(get_resolver())}
    assert set(OPEN_PAGES) <= names, "an entry of the list is stale"
    for path, pattern in _patterns(get_resolver()):
        if path.startswith(("api/", "i18n/", "static/")) or pattern.name in OPEN_PAGES:
            continue
        url = "/" + re.sub(r"<(?:\w+:)?\w+>", "019ff000-0000-7000-8000-000000000001", path)
        for response in (client.get(url), client.post(url)):
            refused = response.status_code in (401, 403, 405)
            to_login = response.status_code == 302 and "/anmelden/" in response["Location"]
            assert refused or to_login, f"{url} answers a stranger with {response.status_code}"
