"""Names are found by an index under the policies, and with the same result where that is not possible."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from gedaechtnis import world
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import name_key, search_keys
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.selectors import names
from gedaechtnis.memory.selectors.entities import search_entities
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias
from tests.rows import columns, insert

Admin = psycopg.Connection[Any]

NAMES = (
    "Jonas Weber",
    "Jonathan Weber",
    "Anna Jonas",
    "Nürnberg",
    "Nuernberg Hafen",
    "Nurnberger Hof",
    "Müller",
    "Hannover Messe",
    "🎉",
    "Wu",
    "A_b%c",
)
QUERIES = (
    "Jonas", "Jonas Weber", "Jonas Webr", "Nürnberg", "nuernberg", "Nurnberg", "rnber", "Annas", "Muller", "mueller",
    "Hannover", "annov", "nno", "Jo", "w", "Wu", "🎉", "%", "_", "A_b%c", "Papa", "gibt es nicht", "weber jonas",
)  # fmt: skip
MARK = "ALTER FUNCTION {}(text, text) {}"


def named(admin: Admin, scope_ref: str, name: str, alias: str = "", classification: int = 1) -> None:
    ids = {"entities": uuid7(), "entity_aliases": uuid7()}
    insert(
        admin,
        Entity,
        columns(Entity, scope_ref, ids)
        | {"slug": ids["entities"].hex, "canonical_name": name, "name_key": name_key(name), "is_self": False}
        | {"status": "active", "kind": "person", "classification": classification},
    )
    if alias:
        row = columns(EntityAlias, scope_ref, ids) | {"alias": alias, "key": name_key(alias)}
        insert(admin, EntityAlias, row | {"classification": classification})


@pytest.fixture(params=[True, False], ids=["under the policies", "as definer"])
def either_way(request: pytest.FixtureRequest, admin_connection: Admin) -> Iterator[None]:
    """Each test runs with the operators leakproof, and without."""
    _mark(admin_connection, leakproof=request.param)
    assert names.is_index_usable() is request.param
    yield
    _mark(admin_connection, leakproof=True)


def _mark(admin: Admin, *, leakproof: bool) -> None:
    for function in ("similarity_op", "word_similarity_commutator_op"):
        admin.execute(MARK.format(function, "LEAKPROOF" if leakproof else "NOT LEAKPROOF"))


def found(principal: Principal, q: str, **options: Any) -> list[str]:
    return [entity.name for entity in search_entities(principal=principal, q=q, **options).items]


@pytest.mark.usefixtures("database")
def test_the_set_up_makes_the_operators_leakproof() -> None:
    assert names.is_index_usable()


@pytest.mark.usefixtures("either_way")
def test_a_name_is_found_however_it_is_typed_and_the_best_comes_first(
    as_anna: Principal, admin_connection: Admin
) -> None:
    for name in NAMES:
        named(admin_connection, as_anna.default_scope, name)
    named(admin_connection, as_anna.default_scope, "Karl Beck", alias="Papa")
    assert found(as_anna, "Jonas") == ["Jonas Weber", "Jonathan Weber", "Anna Jonas"]
    assert found(as_anna, "jonas webre")[0] == "Jonas Weber"
    for spelling in ("Nürnberg", "nuernberg", "NURNBERG"):
        assert set(found(as_anna, spelling)) >= {"Nürnberg", "Nurnberger Hof"}
    assert found(as_anna, "Nürnberg")[0] == "Nürnberg"
    assert "Nuernberg Hafen" in found(as_anna, "Nürnberg")
    assert found(as_anna, "Müllers") == found(as_anna, "Mueller") == found(as_anna, "Muller") == ["Müller"]
    assert found(as_anna, "annov") == found(as_anna, "nno") == ["Hannover Messe"]
    assert found(as_anna, "Me") == ["Hannover Messe"], "two letters begin a word"
    assert found(as_anna, "🎉") == ["🎉"]
    assert found(as_anna, "papa") == ["Karl Beck"]
    assert found(as_anna, "A_b%c") == ["A_b%c"]
    assert found(as_anna, "gibt es nicht") == found(as_anna, "%") == []


@pytest.mark.usefixtures("either_way")
def test_nobody_finds_what_they_may_not_read(anna: User, clara: User, admin_connection: Admin) -> None:
    named(admin_connection, person(anna).default_scope, "Geheimer Garten", alias="Refugium")
    named(admin_connection, person(anna).default_scope, "Geheimes Konto", classification=3)
    assert found(person(clara), "Geheim") == found(person(clara), "Refugium") == []
    with scope(person(anna), clearance=2):
        assert names.find(("geheimes konto",), status="active", limit=5) == []
        assert len(names.find(("refugium",), status="active", limit=5)) == 1
    assert names.find(("refugium",), status="active", limit=5) == []


@pytest.mark.usefixtures("either_way")
def test_pages_of_a_search_hold_each_name_once_and_in_order(as_anna: Principal, admin_connection: Admin) -> None:
    for number in range(7):
        named(admin_connection, as_anna.default_scope, f"Weber {number}", alias=f"Herr Weber {number}")
        named(admin_connection, as_anna.default_scope, f"Karl Weber {number}", alias="Weber")
    whole = found(as_anna, "Weber")
    assert len(whole) == len(set(whole)) == 14
    pages, cursor = [], None
    while True:
        page = search_entities(principal=as_anna, q="Weber", limit=3, cursor=cursor)
        pages += [entity.name for entity in page.items]
        if (cursor := page.cursor) is None:
            break
    assert pages == whole
    marker = search_entities(principal=as_anna, limit=1).cursor
    with pytest.raises(Problem) as refused:
        search_entities(principal=as_anna, q="Weber", cursor=marker)
    assert refused.value.code == "invalid_cursor"


@pytest.mark.usefixtures("either_way")
def test_the_first_page_is_the_beginning_of_the_whole_search(
    as_anna: Principal, clara: User, admin_connection: Admin
) -> None:
    """What begins with the text is read from another index, where many aliases of one entity may crowd out others."""
    for number in range(12):
        named(admin_connection, as_anna.default_scope, f"Müller {number % 5}")
        named(admin_connection, "global", f"Mueller {number % 3}", alias=f"Mu {number % 2}")
        named(admin_connection, as_anna.default_scope, f"Karl Muller {number}", alias="Mü" if number % 2 else "")
        named(admin_connection, as_anna.default_scope, f"Mutter {number}", classification=number % 4)
        named(admin_connection, person(clara).default_scope, f"Mu {number}")
    crowds = admin_connection.execute("SELECT id FROM entities WHERE canonical_name IN ('Mutter 5', 'Mutter 7')")
    for (crowd,) in crowds.fetchall():
        for number in range(40):
            row = columns(EntityAlias, as_anna.default_scope, {"entities": crowd, "entity_aliases": uuid7()})
            insert(admin_connection, EntityAlias, row | {"alias": f"Mu {number}", "key": f"mu {number:02}"})
    with scope(as_anna, clearance=2):
        for q in ("M", "Mu", "Mü", "mue", "Muell", "Müller 1", "mutter 7", "mu 3", "ller"):
            whole = names.find(search_keys(q), status="active", limit=1000)
            assert len({place.id for place in whole}) == len(whole) > 0, q
            assert sorted(whole) == whole, q
            for limit in (1, 2, 3, 5, 8, 13, 21, 34, 55):
                assert names.find(search_keys(q), status="active", limit=limit) == whole[:limit], (q, limit)
        assert not names.find(search_keys("Mu"), status="archived", limit=1)
        assert not names.find(search_keys("Mu"), status="active", kind="place", limit=1)


HUNDRED_THOUSAND = """
INSERT INTO entities (id, scope_ref, classification, kind, slug, canonical_name, name_key, description, status,
  is_self, metadata, pinned, recorded_at, acted_by)
SELECT md5(i::text)::uuid, %s, 1, 'person', i::text, name, lower(name), '', 'active', false, '{}', false, now(), 'x'
FROM (SELECT i, translate(substr(md5(i::text), 1, 8) || ' ' || substr(md5(i::text), 9, 9),
        '0123456789', 'ghiklmnopq') AS name FROM generate_series(1, 100000) AS i) AS n
"""


@pytest.mark.slow
def test_a_hundred_thousand_names_are_searched_by_index_and_both_ways_agree(
    as_anna: Principal, clara: User, admin_connection: Admin
) -> None:
    admin_connection.execute(HUNDRED_THOUSAND, [as_anna.default_scope])
    for name in NAMES:
        named(admin_connection, as_anna.default_scope, name)
    named(admin_connection, person(clara).default_scope, "Jonas Weber", alias="Papa")
    named(admin_connection, as_anna.default_scope, "Karl Beck", alias="Papa")
    admin_connection.execute("ANALYZE entities, entity_aliases")
    some = admin_connection.execute("SELECT canonical_name FROM entities ORDER BY id LIMIT 10").fetchall()
    queries = [*QUERIES, *(name for (name,) in some), *(name[2:7] for (name,) in some)]
    under_policies = {q: _ids(as_anna, q) for q in queries}
    assert "entities_search" in _plan(as_anna)
    _mark(admin_connection, leakproof=False)
    try:
        assert "entities_search" not in _plan(as_anna), "a plan outlived the change"
        assert {q: _ids(as_anna, q) for q in queries} == under_policies
    finally:
        _mark(admin_connection, leakproof=True)
    for q, ids in under_policies.items():
        if len(key := name_key(q)) >= 3:
            with scope(as_anna):
                holding = Entity.objects.filter(name_key__contains=key).values_list("id", flat=True)
                assert {place.id for place in ids} >= set(holding[:200]), q


def _ids(principal: Principal, q: str) -> list[names.Place]:
    with scope(principal):
        return names.find(search_keys(q), status="active", limit=1000)


def _plan(principal: Principal) -> str:
    """How the condition of the search is planned for the application under its policies."""
    with scope(principal), connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN SELECT id FROM entities WHERE search_key %% ANY (%s) OR search_key %%> ANY (%s) "
            "OR name_key = ANY (%s)",
            [["jonas weber"]] * 3,
        )
        return "\n".join(row[0] for row in cursor.fetchall())


def test_only_the_application_may_ask_the_definer(admin_connection: Admin) -> None:
    (acl,) = admin_connection.execute(
        "SELECT proacl::text FROM pg_proc WHERE proname = 'world_find_names_as_definer'"
    ).fetchone() or ("",)
    assert "gedaechtnis_app=X" in acl
    assert "{=X" not in acl
    assert ",=X" not in acl


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["0004_reads.down.sql", "0004_reads.up.sql"])
def test_an_existing_database_is_migrated_in_a_session_that_has_not_met_trigrams(name: str) -> None:
    """Before the library is loaded only a superuser may name its settings; a new database loads it by an index."""
    text = (Path(world.__file__).parent / "sql" / name).read_bytes()
    functions = text[text.index(b"DO $install$") :]
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
        owner.execute("SET LOCAL lock_timeout = '5s'")
        owner.execute("DROP FUNCTION world_find_names, world_find_names_as_definer")
        owner.execute(functions)
        owner.rollback()
