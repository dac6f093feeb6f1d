"""Facts as they are found: each belief row by its statement, also when it is believed no longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Max

from gedaechtnis.memory.projecting import cards, marks, projections
from gedaechtnis.memory.projecting.access import Place
from gedaechtnis.memory.projecting.projections import Draft
from gedaechtnis.registry.catalogue import Catalogue, catalogue
from gedaechtnis.world.models import Entity, Fact, FactEvidence, Projection

_WRITTEN = marks.Stream("facts", "recorded_at", ("id",))
_CLOSED = marks.Stream("facts", "superseded_at", ("id",))

_CLOSE = """
UPDATE memory_projections p SET superseded_at = f.superseded_at FROM facts f
WHERE f.id = ANY (%s) AND f.scope_ref = %s AND p.superseded_at IS DISTINCT FROM f.superseded_at
  AND p.scope_ref = f.scope_ref AND p.source_kind = 'fact' AND p.source_id = f.id
RETURNING p.id
"""
_COUNTED = """
UPDATE memory_projections p SET recall_count = u.recalls FROM facts f JOIN fact_usage u ON u.fact_id = f.origin_fact_id
WHERE f.id = ANY (%s) AND f.id <> f.origin_fact_id
  AND p.scope_ref = %s AND p.source_kind = 'fact' AND p.source_id = f.id
"""


def project(place: Place, *, limit: int) -> int:
    """Make the projections of the next rows that were written or closed; returns how many rows were looked at.

    Cards of entities whose name they tell are renewed with them.
    """
    written = marks.read(_WRITTEN, place, limit=limit)
    closed = marks.read(_CLOSED, place, limit=limit)
    ids = [id for (id,) in written.rows]
    made = drafts(ids)
    projections.store(place, made)
    _count(place, ids)
    projections.forget(place, Projection.Source.FACT, set(ids) - {draft.source_id for draft in made})
    _close(place, [id for (id,) in closed.rows])
    named = Fact.objects.filter(pk__in=[*ids, *(id for (id,) in closed.rows)], predicate="name")
    cards.renew(place, set(named.values_list("subject_id", flat=True)))
    marks.move(_WRITTEN, place, written)
    marks.move(_CLOSED, place, closed)
    return len(written.rows) + len(closed.rows)


def drafts(ids: Sequence[UUID]) -> list[Draft]:
    """What those of the facts have to be found by that are found, the first recorded first."""
    rows = list(Fact.objects.filter(pk__in=ids).order_by("recorded_at", "pk"))
    known = catalogue()
    kinds = _kinds({row.subject_id for row in rows})
    found = [row for row in rows if _is_found(row, known, kinds)]
    return list(_drafts(found, kinds, _last_stated(found)))


def _kinds(subjects: set[UUID]) -> dict[UUID, str]:
    return dict(Entity.objects.filter(pk__in=subjects).values_list("pk", "kind"))


def _is_found(row: Fact, known: Catalogue, kinds: dict[UUID, str]) -> bool:
    """What the registry lets search find; of the two rows of a pair that say the same, the first."""
    predicate = known.predicates.get(row.predicate)
    kind = known.kinds.get(kinds.get(row.subject_id, ""))
    return row.mirror_of is None and (predicate is None or predicate.embed) and (kind is None or kind.rag)


def _last_stated(rows: Sequence[Fact]) -> dict[UUID, datetime]:
    """When each statement, by its origin, was stated for the last time; a piece of it may have been written later."""
    pieces = FactEvidence.objects.filter(fact_id__in={row.origin_fact_id for row in rows})
    return dict(pieces.values_list("fact_id").annotate(Max("recorded_at")))


def _drafts(rows: Sequence[Fact], kinds: dict[UUID, str], stated: dict[UUID, datetime]) -> Iterator[Draft]:
    for row in rows:
        named = (row.subject_id, row.object_entity_id, row.applies_to_id)
        yield Draft(
            source_kind=Projection.Source.FACT,
            source_id=row.pk,
            text=row.statement,
            ref=f"fact:{row.pk}",
            classification=row.classification,
            recorded_at=row.recorded_at,
            touched_at=stated.get(row.origin_fact_id, row.recorded_at),
            superseded_at=row.superseded_at,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            kind=kinds.get(row.subject_id, ""),
            predicate=row.predicate,
            memory_type=row.memory_type,
            entity_ids=tuple(id for id in named if id is not None),
        )


def _count(place: Place, ids: Sequence[UUID]) -> None:
    """A piece of a statement was told as often as the statement."""
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(_COUNTED, [list(ids), place.scope_ref])


def _close(place: Place, ids: Sequence[UUID]) -> None:
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(_CLOSE, [list(ids), place.scope_ref])
            projections.repost([id for (id,) in cursor.fetchall()])
