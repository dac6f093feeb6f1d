"""The facts that share words with a text: one statement, no model asked, read from the graph at the moment asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.memory import decay
from gedaechtnis.memory.selectors.context.facts import COLUMNS, HOLDS, LABELLED, NOW, ContextFact, fact_of
from gedaechtnis.memory.selectors.recall import query

_WHOLE = 400
"""So many postings of the rarest words are read whole; of each other word the best `_BEST`."""
_BEST = 50
_LOOKED_AT = 120
"""Of the projections found, which may be of anything, so many are looked at."""
_CHECKED = 40
"""So many facts among them are read from the graph, which takes longest."""
_READ = 12
"""Facts read with all that is told of them, in order: the answer."""

# A posting's weight is its part of a BM25 score but for the rarity of the word, which is reckoned here.
_FACTS = f"""
WITH {NOW}, size AS (
  SELECT coalesce(sum(projections), 0) AS documents FROM projection_counts WHERE scope_ref = ANY(%(scopes)s)
), counted AS (
  SELECT lexeme, sum(documents) AS documents FROM lexeme_counts
  WHERE scope_ref = ANY(%(scopes)s) AND lexeme = ANY(%(words)s) GROUP BY lexeme
), wanted AS MATERIALIZED (
  SELECT c.lexeme,
    ln(1 + (greatest(n.documents, c.documents) - c.documents + 0.5) / (c.documents + 0.5))::float8 AS idf,
    CASE WHEN sum(c.documents) OVER (ORDER BY c.documents, c.lexeme) <= {_WHOLE} THEN {_WHOLE} ELSE {_BEST} END AS most
  FROM counted c CROSS JOIN size n
), found AS MATERIALIZED (
  SELECT best.id, sum(best.weight * w.idf) AS score
  FROM wanted w CROSS JOIN unnest(%(scopes)s) AS s (scope_ref) CROSS JOIN LATERAL (
    SELECT t.id, t.weight FROM projection_terms t
    WHERE t.scope_ref = s.scope_ref AND t.lexeme = w.lexeme AND t.is_current
    ORDER BY t.weight DESC, t.id LIMIT w.most
  ) AS best GROUP BY best.id ORDER BY score DESC, best.id LIMIT {_LOOKED_AT}
), shelves AS MATERIALIZED (
  SELECT id FROM entities
  WHERE scope_ref = ANY(%(scopes)s) AND kind = 'domain' AND starts_with(canonical_name, %(first)s)
), named AS MATERIALIZED (
  SELECT p.source_id AS id, found.score FROM found JOIN memory_projections p ON p.id = found.id
  WHERE p.source_kind = 'fact'
  ORDER BY p.entity_ids[1] IN (SELECT id FROM shelves) DESC, found.score DESC, p.id LIMIT {_CHECKED}
), f AS MATERIALIZED (
  SELECT b.*, named.score, starts_with(b.domain, %(first)s) AS is_first
  FROM named JOIN facts b ON b.id = named.id
  WHERE b.scope_ref = ANY(%(scopes)s) AND {HOLDS} AND b.predicate <> ALL(%(but)s) AND b.id <> ALL(%(known)s)
  ORDER BY is_first DESC, named.score DESC, b.id LIMIT {_READ}
)
SELECT {COLUMNS}, f.is_first, f.score {LABELLED}
"""  # noqa: S608 (all parts are ours)


def facts(
    *,
    text: str,
    scopes: Sequence[str],
    at: datetime,
    first: str = "",
    but: Collection[str] = (),
    known: Collection[UUID] = (),
) -> tuple[ContextFact, ...]:
    """Believed facts of these scopes that hold at `at`, the best first, within the open scope; at most twelve.

    Those in domains that begin with `first` come before all others. `but`: predicates that are not wanted; `known`:
    facts that are told already. Of a long text its end is looked up, as by search.
    """
    words = query.terms(query.keep(text).text) if text.strip() else ()
    if not words:
        return ()
    parameters: dict[str, Any] = {
        "scopes": list(scopes),
        "words": list(words),
        "at": at,
        "first": first or _NOWHERE,
        "but": list(but),
        "known": list(known),
    }
    with connection.cursor() as cursor:
        cursor.execute(_FACTS, parameters)
        rows = [(fact_of(row[:-2]), row[-2], row[-1]) for row in cursor.fetchall()]
    ranked = sorted(rows, key=lambda row: (not row[1], -row[2] * _weight(row[0], at), row[0].id))
    return tuple(fact for fact, _first, _score in ranked)


_NOWHERE = "\N{REPLACEMENT CHARACTER}"
"""What no key of a domain begins with."""


def _weight(fact: ContextFact, at: datetime) -> float:
    return fact.confidence * decay.left(fact.memory_type, at - fact.touched_at)
