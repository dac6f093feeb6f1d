"""Which projections hold the words that are looked for: the best postings of each word, added up.

A posting's weight is its part of a BM25 score without the word's rarity, and the best stand first in an index that
also holds what the policies ask. So the common words of a question cost no more than its rare ones. What this finds is
ranked exactly afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.scoping.context import current_scope

POSTINGS = 6_000
"""Most postings that one search reads, shared among its words."""
PER_WORD = 2_000


@dataclass(frozen=True, slots=True)
class WantedTerm:
    """A lexeme that is looked for, and how rare it is."""

    lexeme: str
    idf: float


def lexical(wanted: Sequence[WantedTerm], filters: Filters, limit: int) -> list[UUID]:
    """The projections of the open scope that hold most of what is wanted, the best first. Filters before the limit."""
    if not wanted or limit < 1 or current_scope() is None:
        return []
    sql, parameters = statement(wanted, filters, limit)
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [id for (id,) in cursor.fetchall()]


def statement(wanted: Sequence[WantedTerm], filters: Filters, limit: int) -> tuple[str, list[Any]]:
    """The search as SQL, with its parameters: the same plan for each word, each scope, and each state of belief."""
    join, condition = "", "true"
    parameters: list[Any] = []
    if filters.restricts or not filters.is_of_today:
        join = "JOIN memory_projections p ON p.id = t.id"
        condition, parameters = filters.condition("p")
    each = min(PER_WORD, max(limit, POSTINGS // len(wanted)))
    return (
        f"SELECT found.id FROM unnest(%s::text[], %s::float8[]) AS w (lexeme, idf) "  # noqa: S608 (numbers of ours)
        f"CROSS JOIN unnest(%s::text[]) AS s (scope_ref) CROSS JOIN unnest(%s::boolean[]) AS c (is_current) "
        f"CROSS JOIN LATERAL (SELECT t.id, t.weight FROM projection_terms t {join} "
        f"WHERE t.scope_ref = s.scope_ref AND t.lexeme = w.lexeme AND t.is_current = c.is_current AND {condition} "
        f"ORDER BY t.weight DESC, t.id LIMIT {each:d}) AS found "
        f"GROUP BY found.id ORDER BY sum(found.weight * w.idf) DESC, found.id LIMIT {limit:d}"
    ), [
        [term.lexeme for term in wanted],
        [term.idf for term in wanted],
        list(filters.ticks),
        [True] if filters.is_of_today else [True, False],
        *parameters,
    ]
