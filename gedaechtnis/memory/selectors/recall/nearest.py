"""Which projections are near in meaning: among all vectors where they are few, by the index where they are many.

PostgreSQL's planner takes every scope for equally large, and looks through the index for a scope of which it holds
next to nothing. So we look how much there is to see and choose (docs/adr/0020-embeddings.md has the measurements).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.spaces import as_text, index_name, literal
from gedaechtnis.scoping.context import current_scope, planned

FEW = 5_000
"""So many rows are compared one by one faster than anything could be looked up."""
_ROWS_PER_STEP = 30
"""A step in the index costs as much as comparing twenty rows, and finds less: who compares finds everything."""

_MOST = 0.5
_COUNTED = 100_000

_INDEX = {"enable_sort": "off", "hnsw__ef_search": "100", "hnsw__iterative_scan": "relaxed_order"}


def nearest(
    vector: Sequence[float] | None, model: str, filters: Filters | None, limit: int
) -> list[tuple[UUID, float]]:
    """The visible projections nearest to a vector of a model, with their similarity (-1 to 1), the nearest first.

    In an open scope. `filters` hold before the limit. Nothing where there is no vector.
    """
    if vector is None or limit < 1:
        return []
    amount = _amount(model, filters)
    if amount.is_small(limit):
        return exact(vector, model, filters, limit)
    # Among many rows of others the index loses some on its way: what is to be found is a part of what is asked for.
    found = by_index(vector, model, filters, limit if amount.share > _MOST else 2 * limit)[:limit]
    if len(found) < limit:
        # The index gives up among rows that nobody asked for: then there are few that were.
        return exact(vector, model, filters, limit)
    return found


@dataclass(frozen=True, slots=True)
class _Amount:
    """How many rows a reader sees, restricted as far as that is told quickly, and how many the index holds in all."""

    rows: int
    indexed: float

    @property
    def share(self) -> float:
        return min(1.0, self.rows / max(self.indexed, 1.0))

    def is_small(self, limit: int) -> bool:
        """Whether comparing all rows is faster than walking through the index, past the rows of others."""
        return self.rows <= FEW or self.indexed <= 0 or self.rows < _ROWS_PER_STEP * limit / self.share


def _amount(model: str, filters: Filters | None) -> _Amount:
    kinds = list(filters.source_kinds) if filters and filters.source_kinds else None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(projections), 0), (SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)) "
            "FROM projection_counts WHERE %s::text[] IS NULL OR source_kind = ANY (%s::text[])",
            [index_name(model), kinds, kinds],
        )
        rows, indexed = cursor.fetchone()
        if rows > FEW and filters and (filters.chat_id or filters.time_range):
            condition, parameters = filters.condition("p")
            cursor.execute(
                f"SELECT count(*) FROM (SELECT FROM memory_projections p WHERE p.scope_ref IN ({_scopes()}) "  # noqa: S608
                f"AND {condition} LIMIT {_COUNTED:d}) AS taken",
                parameters,
            )
            rows = cursor.fetchone()[0]
    return _Amount(int(rows), indexed or 0.0)


def exact(vector: Sequence[float], model: str, filters: Filters | None, limit: int) -> list[tuple[UUID, float]]:
    """As `nearest`, comparing all vectors. The index is on another expression, so the planner cannot take it."""
    if filters is None:
        return _run(*_statement("v.vector", "halfvec", vector, model, None, limit))
    if not _is_narrow(filters):
        # Nearly everything passes: to look at the nearest, one after the other, takes half the time of looking at all.
        statement, parameters = _statement("v.vector", "halfvec", vector, model, None, 3 * limit)
        condition, values = filters.condition("p")
        found = _run(
            f"SELECT n.id, n.distance FROM ({statement}) AS n "  # noqa: S608
            f"WHERE (SELECT true FROM memory_projections p WHERE p.id = n.id AND {condition}) "
            f"ORDER BY n.distance, n.id LIMIT {limit:d}",
            [*parameters, *values],
        )
        if len(found) == limit:
            return found
    return _run(*_statement("v.vector", "halfvec", vector, model, filters, limit))


def by_index(vector: Sequence[float], model: str, filters: Filters | None, limit: int) -> list[tuple[UUID, float]]:
    """As `nearest`, by the index: nearly the nearest, and fewer than `limit` where the index gives up."""
    form = f"halfvec({len(vector):d})"
    with planned(**_INDEX):
        return _run(*_statement(f"v.vector::{form}", form, vector, model, filters, limit))


def _statement(
    column: str, form: str, vector: Sequence[float], model: str, filters: Filters | None, limit: int
) -> tuple[str, list[Any]]:
    """What the planner decides by stands in the statement itself: model, scopes and limit."""
    where, parameters = f"v.model = {literal(model)} AND v.scope_ref IN ({_scopes()})", [as_text(vector)]
    if filters is not None:
        condition, values = filters.condition("p")
        where += f" AND EXISTS (SELECT FROM memory_projections p WHERE p.id = v.id AND {condition})"
        parameters += values
    return (
        f"SELECT v.id, {column} <=> %s::{form} AS distance FROM projection_vectors v "  # noqa: S608
        f"WHERE {where} ORDER BY 2 LIMIT {limit:d}"
    ), parameters


def _run(statement: str, parameters: Sequence[Any]) -> list[tuple[UUID, float]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return _ranked(cursor.fetchall())


def _ranked(found: Sequence[tuple[UUID, float]]) -> list[tuple[UUID, float]]:
    """By similarity instead of distance; the index hands them out only nearly in order."""
    return [(id, 1 - distance) for id, distance in sorted(found, key=lambda row: (row[1], row[0]))]


def _is_narrow(filters: Filters) -> bool:
    """Whether they ask for more than what is believed."""
    return bool(
        filters.source_kinds
        or filters.kinds
        or filters.predicate
        or filters.chat_id
        or filters.valid_at
        or filters.said_until
        or filters.time_range
    )


def _scopes() -> str:
    opened = current_scope()
    return ", ".join(literal(ref) for ref in opened.read) if opened and opened.read else "NULL"
