"""Who an entity was at a moment: merges hold over system time like beliefs do."""

from __future__ import annotations

from uuid import UUID

from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.scoping.rows import select
from gedaechtnis.world.models import EntityMerge


def ids_of(entity_id: UUID, moment: Moment) -> list[UUID]:
    """The entity under which its facts stand at the moment, and those that were taken for it by then.

    The latter matter while other scopes still follow a merge, and for facts that never moved.
    """
    merges = _around({entity_id}, moment)
    if not merges:
        return [entity_id]
    into = {merge.source_id: merge.target_id for merge in merges}
    survivor = entity_id
    while survivor in into:
        survivor = into[survivor]
    ids = [survivor]
    for id in ids:
        ids += [source for source, target in into.items() if target == id and source not in ids]
    return ids


def _around(ids: set[UUID], moment: Moment) -> list[EntityMerge]:
    """All merges at the moment that touch the entities, directly or through others."""
    found: dict[UUID, EntityMerge] = {}
    while True:
        touching = select(EntityMerge, "source_id = ANY(%s) OR target_id = ANY(%s)", [list(ids), list(ids)])
        new = [merge for merge in touching if merge.pk not in found and _holds(merge, moment)]
        if not new:
            return list(found.values())
        found.update({merge.pk: merge for merge in new})
        ids = {id for merge in new for id in (merge.source_id, merge.target_id)}


def _holds(merge: EntityMerge, moment: Moment) -> bool:
    tick = moment.ticks.get(merge.scope_ref)
    return tick is not None and merge.tick_from <= tick and (merge.tick_to is None or tick < merge.tick_to)
