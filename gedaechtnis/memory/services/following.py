"""Merges and splits in the other scopes that name the entity: each follows with a write of its own."""

from __future__ import annotations

from uuid import UUID

from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.principals import MAX_CLEARANCE, system
from gedaechtnis.memory.services import merges, splits
from gedaechtnis.memory.writing import repointing
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias, EntityMerge

FOLLOW_MERGE = "follow_merge"
"""Kind of the work that a merge or split leaves in other scopes (`world_follow_merge` in SQL)."""


@work.handler(FOLLOW_MERGE)
def follow_merge(item: work.WorkItem) -> None:
    """Bring a scope's rows to where the entity stands today: merged into another, or itself again."""
    waiting = [item.object_id] if item.object_id else []
    while waiting:
        waiting += _step(item, waiting.pop())


def _step(item: work.WorkItem, source_id: UUID) -> list[UUID]:
    """Take one merge over or back, as a write of its own; returns the entities to look at next, the last one first.

    Merges are taken back innermost first, also one that is still true elsewhere: it is taken over again afterwards.
    """
    reader = item.person() if item.acting_sub is not None else system(item.scope_ref, FOLLOW_MERGE)
    with scope(reader, write=item.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened, run_id=f"follow-{uuid7()}")
        source = Entity.objects.filter(pk=source_id).first()
        if source is None or source.scope_ref == session.scope_ref:
            return []
        target = Entity.objects.filter(pk=source.merged_into_id).first() if source.merged_into_id else None
        merge = _standing(session, source.pk)
        if merge is not None and merge.target_id != source.merged_into_id:
            while inner := _standing(session, merge.target_id):
                merge = inner
            splits.take_back(session=session, merge=merge, move=frozenset(), reason="")
            after = [merge.source_id, source.pk]
        elif merge is None and target is not None and _is_named(session, source):
            session.level = max(source.classification, target.classification)
            merges.take_over(
                session=session, source=source, target=target, tick=session.ticks[0], event_id=uuid7(), reason=""
            )
            after = [target.pk]
        else:
            after = []
        session.finish()
        return after


def _standing(session: WriteSession, source_id: UUID) -> EntityMerge | None:
    """The merge of an entity that this scope has followed and not taken back."""
    return EntityMerge.objects.filter(scope_ref=session.scope_ref, source_id=source_id, tick_to=None).first()


def _is_named(session: WriteSession, source: Entity) -> bool:
    aliases = EntityAlias.objects.filter(scope_ref=session.scope_ref, entity_id=source.pk, superseded_at=None)
    return bool(repointing.naming(session, source.pk)) or aliases.exists()
