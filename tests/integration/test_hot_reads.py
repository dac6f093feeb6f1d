"""How the reads of every page are planned for the application under its policies: no joins, and the right index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.scoping.context import scope

Admin = psycopg.Connection[Any]

FIVE_THOUSAND = """
INSERT INTO entities (id, scope_ref, classification, kind, slug, canonical_name, name_key, description, status,
  is_self, metadata, pinned, recorded_at, acted_by)
SELECT md5(i::text)::uuid, %(scope)s, 1, CASE WHEN i %% 5 = 0 THEN 'place' ELSE 'person' END, i::text,
  'Name ' || md5(i::text), 'name ' || md5(i::text), '', 'active', false, '{}', false, now(), 'test'
FROM generate_series(1, 5000) AS i;
INSERT INTO entity_aliases (id, scope_ref, classification, entity_id, alias, key, namespace, valid_from, recorded_at,
  source, rank, acted_by)
SELECT md5('alias' || id)::uuid, scope_ref, 1, id, slug, slug, 'name', now(), now(), 'user_stated', 3, 'test'
FROM entities WHERE scope_ref = %(scope)s AND NOT is_self;
INSERT INTO facts (id, scope_ref, classification, subject_id, predicate, polarity, object_value, object_key, slot,
  valid_from, valid_from_precision, valid_to_precision, valid_from_stated, valid_to_stated, recorded_at, made_at,
  origin_fact_id, statement, confidence, source, source_trust_tier, memory_type, rank, acted_by, domain, topic,
  event_id)
SELECT md5('fact' || id)::uuid, scope_ref, 1, id, 'hobby', true, '"x"', md5('x')::uuid, md5('slot' || id)::uuid,
  '2020-01-01', 'day', 'day', true, true, '2020-01-01', '2020-01-01', md5('fact' || id)::uuid, 's', 1, 'user_stated',
  'trusted', 'semantic', 3, 'test', '', '', md5('event')::uuid
FROM entities WHERE scope_ref = %(scope)s AND NOT is_self;
INSERT INTO scopes (scope_ref, tick, revision, state) VALUES (%(scope)s, now(), 1, 'open')
ON CONFLICT (scope_ref) DO UPDATE SET tick = now();
ANALYZE entities, entity_aliases, facts;
"""


@pytest.fixture
def planned(as_anna: Principal, admin_connection: Admin) -> Callable[[Callable[[], Any]], dict[str, str]]:
    """`planned(ask)`: the statements that a read of Anna's sends, each with its plan, among five thousand things."""
    with psycopg.ClientCursor(admin_connection) as cursor:
        cursor.execute(FIVE_THOUSAND, {"scope": as_anna.default_scope})

    def plans(ask: Callable[[], Any]) -> dict[str, str]:
        with CaptureQueriesContext(connection) as captured:
            assert ask(), "a read that finds nothing proves nothing"
        sent = [query["sql"] for query in captured if "set_config" not in query["sql"]]
        with scope(as_anna), connection.cursor() as cursor:
            found = {}
            for sql in sent:
                if sql.lstrip("(").startswith("SELECT"):
                    cursor.execute("EXPLAIN " + sql)
                    found[sql] = "\n".join(row[0] for row in cursor.fetchall())
        return found

    return plans


def test_facts_of_an_entity_are_read_without_joins(
    as_anna: Principal, planned: Callable[[Callable[[], Any]], dict[str, str]]
) -> None:
    """Each table brings its policies along: joined tables cost more to plan than separate ones to ask for."""
    some = entities.search_entities(principal=as_anna, kind="place", limit=1).items[0]
    plans = planned(lambda: asof.entity_facts(principal=as_anna, entity_id=some.id).facts)
    assert len(plans) >= 4
    assert not [sql for sql in plans if " JOIN " in sql]
    (facts,) = (plan for sql, plan in plans.items() if '"statement"' in sql and 'FROM "facts"' in sql)
    assert "facts_subject" in facts


@pytest.mark.parametrize(("kind", "index"), [(None, "entities_by_name"), ("place", "entities_by_kind")])
def test_a_page_of_the_list_is_read_in_order(
    as_anna: Principal,
    planned: Callable[[Callable[[], Any]], dict[str, str]],
    kind: str | None,
    index: str,
) -> None:
    plans = planned(lambda: entities.search_entities(principal=as_anna, kind=kind, limit=20).items)
    (listed,) = (plan for sql, plan in plans.items() if 'FROM "entities"' in sql)
    assert f"Index Scan using {index}" in listed, listed


@pytest.mark.parametrize("ref", ["place:100", "person:101"])
def test_aliases_are_read_by_their_entity(
    as_anna: Principal, planned: Callable[[Callable[[], Any]], dict[str, str]], ref: str
) -> None:
    """The index that forbids overlaps would be read whole for one of its later columns, which plans do not count."""
    plans = planned(lambda: entities.get_entity(principal=as_anna, ref=ref))
    (aliases,) = (plan for sql, plan in plans.items() if 'FROM "entity_aliases"' in sql)
    assert "using entity_aliases_entity" in aliases, aliases


def test_names_that_begin_with_a_text_are_read_in_order_without_leakproof_operators(
    as_anna: Principal, planned: object
) -> None:
    """`planned` fills the tables."""
    with scope(as_anna), connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN SELECT id FROM entities WHERE scope_ref = %s AND search_key >= 'nam' AND search_key < 'nan' "
            "ORDER BY search_key, id LIMIT 10",
            [as_anna.default_scope],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Only Scan using entities_beginning" in plan or "Index Scan using entities_beginning" in plan
    (condition,) = (line for line in plan.splitlines() if "Index Cond" in line)
    assert "search_key >= 'nam'" in condition
    assert "Sort" not in plan
