"""Reading candidates: those that the voices found, the turns around them, and what was said at a time.

Hundreds are read for a question and a handful is told, so a row holds what ranking needs and what telling needs of its
kind of source, and is a tuple as it comes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from gedaechtnis.memory.selectors.recall import weights
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.selectors.recall.meaning import Asked
from gedaechtnis.memory.spaces import as_text, literal

_COLUMNS = (
    "p.id, p.source_kind, p.source_id, p.ref, p.entity_ids, p.memory_type, p.speaker, p.role, p.chat_id, "
    "p.session_id, p.position, p.external_id, p.text, p.occurred_at, p.valid_from, p.valid_to, "
    "CASE WHEN p.source_kind = 'fact' THEN p.touched_at END, p.lexemes, p.counts, p.length, p.scope_ref"
)
_READ = "SELECT {columns} FROM memory_projections p {vectors} WHERE p.id = ANY (%s::uuid[]) AND {condition}"
# OFFSET 0 keeps the turns around each apart: as one join, the planner would rather walk through all conversations.
_AROUND = """
SELECT DISTINCT ON (p.id) {columns}
FROM unnest(%s::text[], %s::uuid[], %s::text[], %s::bigint[]) AS found (scope_ref, chat_id, session_id, position)
CROSS JOIN LATERAL (
  SELECT * FROM memory_projections n
  WHERE n.scope_ref = found.scope_ref AND n.session_id = found.session_id AND n.chat_id = found.chat_id
    AND n.position BETWEEN found.position - {around} AND found.position + {around} AND n.id <> ALL (%s::uuid[])
  OFFSET 0) p
{vectors} WHERE {condition}
"""


class Record(NamedTuple):
    """One projection as it was read. `touched_at`: of a fact; `similarity`: to the question, where there is any."""

    id: UUID
    source_kind: str
    source_id: UUID
    ref: str
    entity_ids: Sequence[UUID]
    memory_type: str
    speaker: str
    role: str
    chat_id: UUID | None
    session_id: str
    position: int | None
    external_id: str | None
    text: str
    occurred_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    touched_at: datetime | None
    lexemes: Sequence[str]
    counts: Sequence[int]
    length: int
    scope_ref: str
    similarity: float | None

    @property
    def is_episode(self) -> bool:
        return self.source_kind == "episode"

    @property
    def session(self) -> tuple[int, str] | None:
        """Within which its neighbours are; None for what stands alone."""
        return (self.chat_id.int, self.session_id) if self.chat_id and self.position is not None else None


def read(ids: Collection[UUID], filters: Filters, asked: Asked) -> list[Record]:
    """The projections of these ids, as far as the filters let them."""
    return _records(_READ, [_listed(ids)], filters, asked) if ids else []


def around(found: Sequence[Record], known: Collection[UUID], filters: Filters, asked: Asked) -> list[Record]:
    """The turns around each of these, as far as the filters let them and none is known yet."""
    turns = [record for record in found if record.session]
    if not turns:
        return []
    places: list[list[Any]] = [
        [record.scope_ref for record in turns],
        [record.chat_id for record in turns],
        [record.session_id for record in turns],
        [record.position for record in turns],
    ]
    return _records(_AROUND, [*places, _listed(known)], filters, asked)


def _listed(ids: Collection[UUID]) -> str:
    """Hundreds of ids as PostgreSQL reads them: one by one, the driver takes ten times as long to write them."""
    return "{" + ",".join([id.hex for id in ids]) + "}"


def _records(statement: str, which: Sequence[Any], filters: Filters, asked: Asked) -> list[Record]:
    condition, restrictions = filters.condition("p")
    similarity, vectors, question = "NULL", "", []
    if asked.vector is not None:
        similarity, question = "1 - (v.vector <=> %s::halfvec)", [as_text(asked.vector)]
        vectors = f"LEFT JOIN projection_vectors v ON v.id = p.id AND v.model = {literal(asked.model)}"
    sql = statement.format(
        columns=f"{_COLUMNS}, {similarity}", vectors=vectors, condition=condition, around=weights.AROUND
    )
    with connection.cursor() as cursor:
        # To read times and lists as text takes longer than to find them.
        cursor.cursor.format = Format.BINARY
        cursor.execute(sql, [*question, *which, *restrictions])
        return list(map(Record._make, cursor.fetchall()))


_BEGAN = """
(SELECT p.id FROM memory_projections p WHERE p.scope_ref = ANY (%s) AND {dated} AND {condition}
 ORDER BY {at}, p.id LIMIT {limit:d})
"""
_DATED = {
    "p.occurred_at": "p.occurred_at >= %s AND p.occurred_at < %s",
    "p.valid_from": "p.source_kind = 'fact' AND p.valid_from >= %s AND p.valid_from < %s",
}


def within(ranges: Sequence[tuple[datetime, datetime]], filters: Filters, limit: int) -> list[UUID]:
    """What was said or happened within any of the ranges, and the facts that began then; the earliest of each."""
    if not ranges:
        return []
    condition, restrictions = filters.condition("p")
    parts, parameters = [], []
    for span in ranges:
        for at, dated in _DATED.items():
            parts.append(_BEGAN.format(at=at, dated=dated, condition=condition, limit=limit))
            parameters += [list(filters.ticks), *span, *restrictions]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), parameters)
        return [id for (id,) in cursor.fetchall()]


_OF_SOURCES = """
SELECT p.id, p.source_id FROM memory_projections p
WHERE p.source_kind IN ('fact', 'entity') AND p.scope_ref = ANY (%s) AND p.source_id = ANY (%s) AND {}
"""


def of_sources(nearness: Mapping[UUID, float], filters: Filters) -> dict[UUID, float]:
    """The projections of facts and entities, each with the nearness of what it shows."""
    if not nearness:
        return {}
    condition, parameters = filters.condition("p")
    with connection.cursor() as cursor:
        cursor.execute(_OF_SOURCES.format(condition), [list(filters.ticks), list(nearness), *parameters])
        return {id: nearness[source_id] for id, source_id in cursor.fetchall()}
