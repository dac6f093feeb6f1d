"""The persons a question names, by their names in the graph and by how they are called as speakers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall import query, weights
from gedaechtnis.scoping.context import current_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Whom a question names.

    `entity_ids`: entities it names, and the asker where it says "I". `by_key`: those with a name, by the key of that.
    `own`: the entity of the asker. `speakers`: folded names of speakers it names, with how much it is about them, up
    to 1. `speaker_words`: its words for them.
    """

    entity_ids: frozenset[UUID]
    by_key: Mapping[str, frozenset[UUID]]
    own: UUID | None
    speakers: Mapping[str, float]
    speaker_words: tuple[str, ...]

    @property
    def is_anybody(self) -> bool:
        return bool(self.entity_ids or self.speakers)


# Whoever has a key as the first of their names stands right behind it in the order of names.
_NAMED = """
SELECT e.id, e.canonical_name, e.name_key, e.is_self, false FROM entities e
WHERE e.scope_ref = ANY (%(scopes)s) AND e.name_key = ANY (%(keys)s) AND e.status = 'active'
UNION ALL
SELECT e.id, e.canonical_name, a.key, false, false FROM entity_aliases a JOIN entities e ON e.id = a.entity_id
WHERE a.scope_ref = ANY (%(scopes)s) AND a.namespace = 'name' AND a.key = ANY (%(keys)s)
  AND a.superseded_at IS NULL AND (a.valid_to IS NULL OR a.valid_to > now()) AND e.status = 'active'
UNION ALL
SELECT e.id, e.canonical_name, NULL, true, false FROM entities e WHERE e.scope_ref = %(own)s AND e.is_self
UNION ALL
SELECT e.id, e.canonical_name, k.key, false, true
FROM unnest(%(keys)s) AS k (key) CROSS JOIN unnest(%(scopes)s) AS s (scope_ref) CROSS JOIN LATERAL (
  SELECT id, canonical_name FROM entities
  WHERE scope_ref = s.scope_ref AND name_key >= k.key || ' ' AND name_key < k.key || '!'
    AND kind = 'person' AND status = 'active' AND NOT is_self
  ORDER BY name_key LIMIT 2) AS e
"""
_SPEAKERS = """
SELECT called.name FROM unnest(%s::text[]) AS called (name)
WHERE EXISTS (SELECT FROM memory_projections p
              WHERE p.scope_ref = ANY (%s) AND p.speaker = called.name AND p.source_kind = 'episode')
"""


def named_in(text: str, *, own_scope: str) -> People:
    """Whom a question names, in the open scope; two statements."""
    keys = query.name_keys(text)
    opened = current_scope()
    scopes = list(opened.read) if opened else []
    own: UUID | None = None
    by_key: dict[str, set[UUID]] = defaultdict(set)
    by_first_name: dict[str, dict[UUID, str]] = defaultdict(dict)
    called: dict[str, str] = {form: run for key, run in keys.items() for form in (key, key.title(), run)}
    with connection.cursor() as cursor:
        cursor.execute(_NAMED, {"scopes": scopes, "keys": list(keys), "own": own_scope})
        for id, name, key, is_self, is_first_name in cursor.fetchall():
            if is_self:
                own = id
            if is_first_name:
                by_first_name[key][id] = name
            elif key is not None:
                by_key[key].add(id)
                called[name] = keys[key]
        for key, bearers in by_first_name.items():
            # Of several who are called that, nobody is meant for sure.
            if len(bearers) == 1 and key not in by_key:
                by_key[key].update(bearers)
                called.update(dict.fromkeys(bearers.values(), keys[key]))
        cursor.execute(_SPEAKERS, [list(called), scopes])
        speakers = [name for (name,) in cursor.fetchall()]
    asker = {own} if own is not None and query.is_first_person(text) else set()
    words = {called[name] for name in speakers}
    first = query.foremost(text, words)
    return People(
        entity_ids=frozenset(asker.union(*by_key.values())),
        by_key={key: frozenset(ids) for key, ids in by_key.items()},
        own=own,
        speakers={name.lower(): 1.0 if called[name] in first else weights.NAMED_SECOND for name in speakers},
        speaker_words=tuple(sorted(words)),
    )
