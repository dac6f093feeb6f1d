"""How facts are used: how often each was stated and told, and when last. Derived; never asked whether a fact is true.

What was stated once and never told has no row: it was touched when it was learned.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from pydantic_core import to_json

from gedaechtnis.memory.projecting import marks
from gedaechtnis.memory.projecting.access import Place, indexing
from gedaechtnis.memory.usage import RECALLED
from gedaechtnis.scoping import tallies, work
from gedaechtnis.scoping.models import ScopeClock
from gedaechtnis.scoping.tallies import Tally

_STATED = marks.Stream("fact_evidence", "recorded_at", ("fact_id",))

_RESTATE = """
WITH stated AS (
  SELECT fact_id, max(classification) AS level, count(*) FILTER (WHERE weight > 0) AS mentions,
         max(recorded_at) AS last FROM fact_evidence
  WHERE scope_ref = %(scope)s AND fact_id = ANY (%(facts)s) GROUP BY fact_id HAVING count(*) > 1
), kept AS (
  INSERT INTO fact_usage AS u (id, scope_ref, org_id, classification, fact_id, mentions, recalls, last_touched_at)
  SELECT gen_random_uuid(), %(scope)s, %(org)s, level, fact_id, mentions, 0, last FROM stated
  ON CONFLICT (scope_ref, fact_id) DO UPDATE
  SET mentions = EXCLUDED.mentions, last_touched_at = EXCLUDED.last_touched_at
  RETURNING fact_id, last_touched_at
)
UPDATE memory_projections p SET touched_at = k.last_touched_at
FROM kept k JOIN facts f ON f.origin_fact_id = k.fact_id
WHERE p.scope_ref = %(scope)s AND p.source_kind = 'fact' AND p.source_id = f.id AND p.touched_at <> k.last_touched_at
"""
_RECALL = """
WITH told AS (
  SELECT f.origin_fact_id AS fact_id, max(f.classification) AS level, sum(n.count) AS recalls, max(n.last) AS last,
    min(f.recorded_at) AS learned_at
  FROM jsonb_to_recordset(%(told)s) AS n (id uuid, count integer, last timestamptz) JOIN facts f ON f.id = n.id
  WHERE f.scope_ref = %(scope)s GROUP BY f.origin_fact_id
), kept AS (
  INSERT INTO fact_usage AS u
    (id, scope_ref, org_id, classification, fact_id, mentions, recalls, last_touched_at, last_recalled_at)
  SELECT gen_random_uuid(), %(scope)s, %(org)s, t.level, t.fact_id, greatest(e.mentions, 1), t.recalls,
    coalesce(e.last, t.learned_at), t.last
  FROM told t CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE weight > 0) AS mentions, max(recorded_at) AS last
    FROM fact_evidence WHERE fact_id = t.fact_id
  ) AS e
  ON CONFLICT (scope_ref, fact_id) DO UPDATE
  SET recalls = u.recalls + EXCLUDED.recalls, last_recalled_at = greatest(u.last_recalled_at, EXCLUDED.last_recalled_at)
  RETURNING fact_id, recalls
)
UPDATE memory_projections p SET recall_count = k.recalls FROM kept k JOIN facts f ON f.origin_fact_id = k.fact_id
WHERE p.scope_ref = %(scope)s AND p.source_kind = 'fact' AND p.source_id = f.id
"""


def follow(place: Place, *, limit: int) -> int:
    """Count the next statements that came, also of what was known already; returns how many were looked at."""
    stated = marks.read(_STATED, place, limit=limit)
    if stated.rows:
        facts = list({fact_id for (fact_id,) in stated.rows})
        with connection.cursor() as cursor:
            cursor.execute(_RESTATE, {"scope": place.scope_ref, "org": place.org_id, "facts": facts})
        marks.move(_STATED, place, stated)
    return len(stated.rows)


def count(scope_ref: str, noted: Sequence[Tally]) -> None:
    """Add up what was told. An id that is no fact of the scope counts for nothing."""
    told = to_json([{"id": one.id, "count": one.count, "last": one.last} for one in noted]).decode()
    with indexing(scope_ref) as place, connection.cursor() as cursor:
        cursor.execute(_RECALL, {"scope": place.scope_ref, "org": place.org_id, "told": told})


@work.handler(RECALLED)
def _run(item: work.WorkItem) -> None:
    """What was told of a scope that nobody may write is not counted."""
    noted = tallies.take(kind=RECALLED, scope_ref=item.scope_ref)
    if noted and ScopeClock.objects.filter(pk=item.scope_ref, state=ScopeClock.State.OPEN).exists():
        count(item.scope_ref, noted)
