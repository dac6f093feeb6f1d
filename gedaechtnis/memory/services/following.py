"""Merges and splits in the other scopes that name the entity: each follows with a write of its own."""

from __future__ import annotations

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
    reader = item.person() if item.acting_sub is not None else system(item.scope_ref, FOLLOW_MERGE)
    with scope(reader, write=item.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened, run_id=f"follow-{uuid7()}")
        source = Entity.objects.filter(pk=item.object_id).first() if item.object_id else None
        if source is None or source.scope_ref == session.scope_ref:
            return
        merge = EntityMerge.objects.filter(scope_ref=session.scope_ref, source_id=source.pk, tick_to=None).first()
        if merge is not None and merge.target_id != source.merged_into_id:
            splits.take_back(session=session, merge=merge, move=frozenset(), reason="")
        elif merge is None and source.merged_into_id is not None and _is_named(session, source):
            target = Entity.objects.filter(pk=source.merged_into_id).first()
            if target is not None:
                session.level = max(source.classification, target.classification)
                merges.take_over(
                    session=session, source=source, target=target, tick=session.ticks[0], event_id=uuid7(), reason=""
                )
        session.finish()


def _is_named(session: WriteSession, source: Entity) -> bool:
    aliases = EntityAlias.objects.filter(scope_ref=session.scope_ref, entity_id=source.pk, superseded_at=None)
    return bool(repointing.naming(session, source.pk)) or aliases.exists()
