"""Which of a person's agents keep anything in a workspace, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge.agents import keeper_of
from gedaechtnis.scoping.context import scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What an agent keeps; `agent` "" is the person themself. `last` is when any of it changed."""

    agent: str
    hot: int
    observations: int
    last: datetime


def list_keepers(*, principal: Principal, scope_ref: str | None = None) -> tuple[Kept, ...]:
    """The person's agents that keep anything in a workspace, the person themself first, then by role.

    Raises:
        Problem: `scope_denied`, `person_required` (403).
    """
    keeper = keeper_of(principal, scope_ref)
    with scope(principal), connection.cursor() as cursor:
        cursor.execute(_KEPT, {"scope": keeper.scope_ref, "owner": keeper.owner_ref})
        rows = cursor.fetchall()
    return tuple(
        Kept(agent=agent, hot=hot, observations=observations, last=last) for agent, hot, observations, last in rows
    )


_KEPT = """
SELECT agent, sum(hot)::int, sum(observations)::int, max(last) FROM (
  SELECT agent, 0 AS hot, 0 AS observations, updated_at AS last FROM working_memories
  WHERE scope_ref = %(scope)s AND owner_ref = %(owner)s AND version > 0
  UNION ALL
  SELECT agent, count(*) FILTER (WHERE state = 'hot'), 0, max(recorded_at) FROM hot_entries
  WHERE scope_ref = %(scope)s AND owner_ref = %(owner)s GROUP BY agent
  UNION ALL
  SELECT agent, 0, count(*), max(recorded_at) FROM observations
  WHERE scope_ref = %(scope)s AND owner_ref = %(owner)s GROUP BY agent
) AS kept GROUP BY agent ORDER BY agent
"""
