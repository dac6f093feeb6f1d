"""Entities as they are found: a card with the names, the kind in both languages, and the description."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from gedaechtnis.memory.projecting import marks, projections
from gedaechtnis.memory.projecting.access import Place
from gedaechtnis.memory.projecting.projections import Draft
from gedaechtnis.memory.selectors import views
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.world.models import Entity, EntityAlias, EntityMerge, Projection

_STREAMS = (
    marks.Stream("entities", "recorded_at", ("id",)),
    marks.Stream("entity_aliases", "recorded_at", ("entity_id",)),
    marks.Stream("entity_aliases", "superseded_at", ("entity_id",)),
    marks.Stream("entity_merges", "tick_from", ("source_id", "target_id")),
    marks.Stream("entity_merges", "tick_to", ("source_id", "target_id")),
)


def project(place: Place, *, limit: int) -> int:
    """Make the cards of the next entities that were met, named, merged or split; returns how many rows told so."""
    seen = 0
    for stream in _STREAMS:
        batch = marks.read(stream, place, limit=limit)
        renew(place, {id for row in batch.rows for id in row})
        marks.move(stream, place, batch)
        seen += len(batch.rows)
    return seen


def renew(place: Place, ids: Collection[UUID]) -> None:
    """Make the cards of these entities, as far as they are the scope's own, as they are now."""
    if ids:
        made = drafts(place, ids)
        projections.store(place, made)
        projections.forget(place, Projection.Source.ENTITY, set(ids) - {draft.source_id for draft in made})


def drafts(place: Place, ids: Collection[UUID]) -> list[Draft]:
    """The cards of those of the entities that are the scope's own, and found."""
    known = catalogue()
    entities = [
        entity
        for entity in Entity.objects.filter(pk__in=ids, scope_ref=place.scope_ref)
        if entity.kind in known.kinds and known.kinds[entity.kind].rag
    ]
    names = _names(place, entities)
    gone = _left(place, entities)
    return [
        Draft(
            source_kind=Projection.Source.ENTITY,
            source_id=entity.pk,
            text=views.card(entity, name=entity.canonical_name, aliases=names[entity.pk]),
            ref=entity.ref,
            classification=entity.classification,
            recorded_at=entity.recorded_at,
            touched_at=entity.recorded_at,
            superseded_at=gone.get(entity.pk),
            kind=entity.kind,
            entity_ids=(entity.pk,),
        )
        for entity in entities
    ]


def _names(place: Place, entities: Collection[Entity]) -> dict[UUID, list[str]]:
    """The further names of each that are no more sensitive than the entity itself."""
    levels = {entity.pk: entity.classification for entity in entities}
    found: dict[UUID, list[str]] = defaultdict(list)
    aliases = EntityAlias.objects.filter(scope_ref=place.scope_ref, entity_id__in=levels, superseded_at=None)
    for alias in aliases.order_by("recorded_at", "pk"):
        if alias.classification <= levels[alias.entity_id] and alias.alias not in found[alias.entity_id]:
            found[alias.entity_id].append(alias.alias)
    return found


def _left(place: Place, entities: Collection[Entity]) -> dict[UUID, datetime]:
    """Since when those that are no entities of their own any more are not: their merge, or ever for other reasons."""
    left = {e.pk: e.recorded_at for e in entities if e.status != Entity.Status.ACTIVE}
    merges = EntityMerge.objects.filter(scope_ref=place.scope_ref, source_id__in=left, tick_to=None)
    return left | dict(merges.values_list("source_id", "tick_from"))
