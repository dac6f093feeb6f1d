"""Reading candidates: those that the voices found, the turns around them, and what was said at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall import weights
from gedaechtnis.memory.selectors.recall.filters import Filters

_COLUMNS = (
    "p.id, p.source_kind, p.source_id, p.ref, p.entity_ids, p.memory_type, p.speaker, p.role, p.chat_id, "
    "p.session_id, p.position, p.external_id, p.text, p.occurred_at, p.valid_from, p.valid_to, p.touched_at, "
    "p.lexemes, p.counts, p.length, p.scope_ref"
)
_WIDENED = """
WITH found AS (SELECT p.scope_ref, p.chat_id, p.session_id, p.position, p.id FROM memory_projections p
               WHERE p.id = ANY (%s)),
     wanted AS (SELECT id FROM found UNION
                SELECT near.id FROM found CROSS JOIN LATERAL (
                  SELECT n.id FROM memory_projections n
                  WHERE n.scope_ref = found.scope_ref AND n.session_id = found.session_id
                    AND n.position BETWEEN found.position - {around} AND found.position + {around}
                    AND n.chat_id = found.chat_id) near
                WHERE found.position IS NOT NULL)
SELECT {columns} FROM memory_projections p JOIN wanted USING (id) WHERE {condition}
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One projection as it was read."""

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
    touched_at: datetime
    lexemes: Sequence[str]
    counts: Sequence[int]
    length: int
    scope_ref: str

    @property
    def is_episode(self) -> bool:
        return self.source_kind == "episode"

    @property
    def session(self) -> tuple[UUID | None, str] | None:
        """Within which its neighbours are; None for what stands alone."""
        return (self.chat_id, self.session_id) if self.position is not None else None


def widened(ids: Collection[UUID], filters: Filters) -> dict[UUID, Record]:
    """The projections of these ids and the turns around them, as far as the filters let them."""
    if not ids:
        return {}
    condition, parameters = filters.condition("p")
    statement = _WIDENED.format(columns=_COLUMNS, around=weights.AROUND, condition=condition)
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(ids), *parameters])
        records = [Record(*row) for row in cursor.fetchall()]
    return {record.id: record for record in records}


def within(ranges: Sequence[tuple[datetime, datetime]], filters: Filters, limit: int) -> list[UUID]:
    """What was said or happened within any of the ranges, the earliest first."""
    if not ranges:
        return []
    condition, parameters = filters.condition("p")
    spans = " OR ".join(["(p.occurred_at >= %s AND p.occurred_at < %s)"] * len(ranges))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT p.id FROM memory_projections p WHERE p.scope_ref = ANY (%s) AND p.occurred_at IS NOT NULL "  # noqa: S608
            f"AND ({spans}) AND {condition} ORDER BY p.occurred_at, p.id LIMIT {limit:d}",
            [list(filters.ticks), *(bound for span in ranges for bound in span), *parameters],
        )
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
