"""Which projections hold the words that are looked for: the best postings of each word, added up.

A posting's weight is its part of a BM25 score without the word's rarity, and the best stand first in an index that
also holds what the policies ask. Rare words are read whole and decide who is looked at; of common ones, which hardly
tell texts apart, the best are enough. What this finds is ranked exactly afterwards.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.selectors.recall.weights import LENGTH_SHARE, SATURATION
from gedaechtnis.scoping.context import current_scope

NOMINAL_LENGTH = 16
"""Words of an average text, as BM25 has it. Fixed, so that a posting stays right when others come."""
WEIGHT = (
    f"t.count * {SATURATION + 1} / (t.count + {SATURATION} * "
    f"({1 - LENGTH_SHARE} + {LENGTH_SHARE} * p.length / {NOMINAL_LENGTH}.0))"
)
"""What a word `t` of a projection `p` weighs in it, as SQL; a posting holds a thousand times that."""
WHOLE = 5_000
"""So many postings of rare words are read whole."""
BEST = 3_000
"""So many postings of common words are read, the best, shared among them; `FEWEST` of each at least."""
FEWEST = 50
WEIGHED = 5
"""Where only the best postings of a word were read, so many times `limit` are weighed by all words they hold."""


@dataclass(frozen=True, slots=True)
class WantedTerm:
    """A lexeme that is looked for, and how rare it is."""

    lexeme: str
    idf: float


def lexical(wanted: Sequence[WantedTerm], filters: Filters, limit: int) -> list[UUID]:
    """The projections of the open scope that hold most of what is wanted, the best first. Filters before the limit."""
    if not wanted or not filters.ticks or limit < 1 or current_scope() is None:
        return []
    rare, common = by_rarity(wanted, list(filters.ticks))
    if not rare and not common:
        return []
    sql, parameters = statement(rare, common, filters, limit)
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [id for (id,) in cursor.fetchall()]


def by_rarity(wanted: Sequence[WantedTerm], scopes: Sequence[str]) -> tuple[list[WantedTerm], list[WantedTerm]]:
    """The rarest of the words, as many as can be read whole, and the others; none that no projection in sight holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lexeme, sum(documents) FROM lexeme_counts "
            "WHERE scope_ref = ANY (%s) AND lexeme = ANY (%s) GROUP BY lexeme",
            [list(scopes), [term.lexeme for term in wanted]],
        )
        documents: dict[str, int] = dict(cursor.fetchall())
    known = sorted((term for term in wanted if term.lexeme in documents), key=lambda term: documents[term.lexeme])
    read = list(accumulate(documents[term.lexeme] for term in known))
    whole = bisect_right(read, WHOLE)
    return known[:whole], known[whole:]


def statement(
    rare: Sequence[WantedTerm], common: Sequence[WantedTerm], filters: Filters, limit: int
) -> tuple[str, list[Any]]:
    """The search as SQL, with its parameters."""
    parts, parameters = [], []
    for terms, each in ((rare, WHOLE), (common, max(FEWEST, BEST // max(1, len(common))))):
        if terms:
            part, values = _best(terms, filters, each)
            parts.append(part)
            parameters += values
    found = " UNION ALL ".join(parts)
    total = f"SELECT id, sum(score) AS score FROM ({found}) AS found GROUP BY id ORDER BY 2 DESC, 1"  # noqa: S608
    if not common:
        return f"SELECT id FROM ({total} LIMIT {limit:d}) AS best", parameters  # noqa: S608
    sql = _WEIGHED.format(found=total, weighed=WEIGHED * limit, weight=WEIGHT, limit=limit)
    return sql, [*parameters, *_columns([*rare, *common])]


def _best(terms: Sequence[WantedTerm], filters: Filters, each: int) -> tuple[str, list[Any]]:
    """The best `each` postings of every term: the same plan for each word, each scope, and each state of belief."""
    join, condition = "", "true"
    restrictions: list[Any] = []
    if filters.restricts or not filters.is_of_today:
        join = "JOIN memory_projections p ON p.id = t.id"
        condition, restrictions = filters.condition("p")
    return (
        f"SELECT best.id, best.weight * w.idf AS score FROM unnest(%s::text[], %s::float8[]) AS w (lexeme, idf) "  # noqa: S608 (numbers of ours)
        f"CROSS JOIN unnest(%s::text[]) AS s (scope_ref) CROSS JOIN unnest(%s::boolean[]) AS c (is_current) "
        f"CROSS JOIN LATERAL (SELECT t.id, t.weight FROM projection_terms t {join} "
        f"WHERE t.scope_ref = s.scope_ref AND t.lexeme = w.lexeme AND t.is_current = c.is_current AND {condition} "
        f"ORDER BY t.weight DESC, t.id LIMIT {each:d}) AS best"
    ), [
        *_columns(terms),
        list(filters.ticks),
        [True] if filters.is_of_today else [True, False],
        *restrictions,
    ]


def _columns(terms: Sequence[WantedTerm]) -> list[list[Any]]:
    return [[term.lexeme for term in terms], [term.idf for term in terms]]


_WEIGHED = """
WITH found AS MATERIALIZED ({found} LIMIT {weighed:d})
SELECT p.id FROM found JOIN memory_projections p ON p.id = found.id
CROSS JOIN LATERAL unnest(p.lexemes, p.counts) AS t (lexeme, count)
JOIN unnest(%s::text[], %s::float8[]) AS w (lexeme, idf) ON w.lexeme = t.lexeme
GROUP BY p.id ORDER BY sum(w.idf * {weight}) DESC, p.id LIMIT {limit:d}
"""
