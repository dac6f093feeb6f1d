"""The persons a question names, by their names in the graph and by how they are called as speakers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall import query
from gedaechtnis.scoping.context import current_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Whom a question is about.

    `entity_ids`: entities it names, and the asker where it says "I". `own`: the entity of the asker. `speakers`: folded
    names of speakers it names. `speaker_words`: its words for them, to be cut.
    """

    entity_ids: frozenset[UUID]
    own: UUID | None
    speakers: frozenset[str]
    speaker_words: tuple[str, ...]

    @property
    def is_anybody(self) -> bool:
        return bool(self.entity_ids or self.speakers)


_NAMED = """
SELECT e.id, e.name_key, e.is_self FROM entities e
WHERE e.scope_ref = ANY (%(scopes)s) AND e.name_key = ANY (%(keys)s) AND e.status = 'active'
UNION ALL
SELECT a.entity_id, a.key, false FROM entity_aliases a
WHERE a.scope_ref = ANY (%(scopes)s) AND a.namespace = 'name' AND a.key = ANY (%(keys)s)
  AND a.superseded_at IS NULL AND (a.valid_to IS NULL OR a.valid_to > now())
UNION ALL
SELECT e.id, NULL, true FROM entities e WHERE e.scope_ref = %(own)s AND e.is_self
"""
_SPEAKERS = """
SELECT DISTINCT speaker, CASE WHEN cardinality(entity_ids) > 0 THEN entity_ids[1] END FROM memory_projections
WHERE scope_ref = ANY (%s) AND source_kind = 'episode' AND (lower(speaker) = ANY (%s) OR entity_ids[1] = ANY (%s))
"""


def named_in(text: str, *, own_scope: str) -> People:
    """Whom a question names, in the open scope; two statements."""
    keys = query.name_keys(text)
    opened = current_scope()
    scopes = list(opened.read) if opened else []
    own: UUID | None = None
    named: dict[UUID, str] = {}
    with connection.cursor() as cursor:
        cursor.execute(_NAMED, {"scopes": scopes, "keys": list(keys), "own": own_scope})
        for id, key, is_self in cursor.fetchall():
            if is_self:
                own = id
            if key is not None:
                named[id] = keys[key]
    speakers, words = _speakers(scopes, keys, named)
    about = set(named)
    if own is not None and query.is_first_person(text):
        about.add(own)
    return People(entity_ids=frozenset(about), own=own, speakers=speakers, speaker_words=words)


def _speakers(
    scopes: list[str], keys: Mapping[str, str], named: Mapping[UUID, str]
) -> tuple[frozenset[str], tuple[str, ...]]:
    if not keys:
        return frozenset(), ()
    with connection.cursor() as cursor:
        cursor.execute(_SPEAKERS, [scopes, list(keys), list(named)])
        rows = cursor.fetchall()
    words = {keys[speaker.lower()] if speaker.lower() in keys else named[id] for speaker, id in rows}
    return frozenset(speaker.lower() for speaker, _id in rows), tuple(sorted(words))
