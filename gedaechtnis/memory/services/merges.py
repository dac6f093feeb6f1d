"""Two entities were one all along: merging them, as exact and as reversible as everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, PrincipalKind
from gedaechtnis.memory import references
from gedaechtnis.memory.planner.moves import Clash
from gedaechtnis.memory.schemas import Source
from gedaechtnis.memory.writing import proposals, repointing
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityMerge, WorldEvent

ENTITY_MERGED = "entity.merged"
MERGE_CONFLICT = "merge"
"""Kind of the conflicts between facts of two that became one; settled when they are two again."""
_MAY_MERGE = frozenset({PrincipalKind.PERSON, PrincipalKind.INTEGRATION, PrincipalKind.SYSTEM})


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What a merge did in the source's scope; other scopes that name the source follow by themselves.

    `clashes`: rows of both that claimed the same instants. `self_loops`: relations between the two, now closed.
    """

    event_id: UUID
    source_id: UUID
    target_id: UUID
    target_ref: str
    moved: int
    clashes: tuple[Clash, ...]
    self_loops: tuple[UUID, ...]


def merge_entities(
    *,
    principal: Principal,
    source_id: UUID,
    target_id: UUID,
    force: bool = False,
    based_on_event_id: UUID | None = None,
    reason: str = "",
) -> MergeResult:
    """Take `source` for `target` from now on. What was known before stays as it was, under either of them.

    Entities that were merged before stand for those they were merged into.

    Raises:
        NotFound: one of them is missing or unreadable.
        Problem: `merge_into_self` (422); `kinds_differ` (409) without `force`; `target_too_narrow` (422) if not
            every reader of the source reads the target; `merge_self` (422) for the entity of the person themselves;
            `keyed_name` (422) for domains;
            `stale` (409) if something happened to either since `based_on_event_id`; `person_required`, `scope_denied`.
    """
    if principal.kind not in _MAY_MERGE:
        raise Problem("person_required", _("Only a person can decide this."), 403)
    with scope(principal, clearance=MAX_CLEARANCE if principal.is_person else None):
        source, target = (_survivor(principal, id) for id in (source_id, target_id))
    with scope(principal, write=source.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened, run_id=f"merge-{uuid7()}")
        source, target = (_survivor(principal, id) for id in (source.pk, target.pk))
        _check(session, source, target, force=force)
        if based_on_event_id is not None:
            _check_fresh(source, target, based_on_event_id)
        tick, event_id = session.ticks[0], uuid7()
        session.level = max(source.classification, target.classification)
        done = take_over(session=session, source=source, target=target, tick=tick, event_id=event_id, reason=reason)
        source.status, source.merged_into_id = Entity.Status.MERGED, target.pk
        source.save(update_fields=["status", "merged_into_id"])
        proposals.answer_merge(session, source=source, target=target)
        session.finish()
        follow_elsewhere(source.pk)
    return MergeResult(
        event_id=event_id,
        source_id=source.pk,
        target_id=target.pk,
        target_ref=target.ref,
        moved=len(done.fact_ids),
        clashes=tuple(done.clashes),
        self_loops=tuple(done.self_loops),
    )


def take_over(
    *, session: WriteSession, source: Entity, target: Entity, tick: datetime, event_id: UUID, reason: str
) -> repointing.Repointed:
    """The merge within the session's scope: rows, names, the record of it and its event."""
    done = repointing.repoint(
        session=session,
        rows=repointing.naming(session, source.pk),
        source=source,
        target=target,
        tick=tick,
        event_id=event_id,
        reason=reason or None,
    )
    repointing.repoint_names(session=session, source=source, target=target, tick=tick, done=done)
    for clash in done.clashes:
        session.add_conflict(
            kind=MERGE_CONFLICT, fact_id=clash.kept, others=[clash.yielded], tick=tick, event_id=event_id
        )
    EntityMerge.objects.create(
        id=uuid7(),
        **session.ownership,
        classification=session.level,
        source_id=source.pk,
        target_id=target.pk,
        tick_from=tick,
        event_id=event_id,
        acted_by=session.principal.acted_by,
    )
    session.add_event(
        id=event_id,
        event_type=ENTITY_MERGED,
        tick=tick,
        source=Source.USER_ASSERTION if session.principal.is_person else Source.SYSTEM_RULE,
        target_entity_id=target.pk,
        payload={"source_id": str(source.pk), "target_id": str(target.pk), **done.as_payload()},
        summary=f"{source.canonical_name} → {target.canonical_name}",
    )
    return done


def follow_elsewhere(source_id: UUID) -> None:
    """Let every other scope that names the entity do the same for itself, without telling which ones there are."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT world_follow_merge(%s)", [source_id])


def _survivor(principal: Principal, id: UUID) -> Entity:
    return references.find(str(id), scopes=principal.read_scopes)


def _check(session: WriteSession, source: Entity, target: Entity, *, force: bool) -> None:
    if source.pk == target.pk:
        raise Problem("merge_into_self", _("These are one and the same already."))
    if source.is_self:
        raise Problem("merge_self", _("You cannot be merged into somebody else. Merge the other one into yourself."))
    if source.kind != target.kind and not force:
        raise Problem(
            "kinds_differ",
            _("One is a “%(source)s”, the other a “%(target)s”.")
            % {
                "source": session.catalogue.kind_label(source.kind),
                "target": session.catalogue.kind_label(target.kind),
            },
            409,
        )
    if references.KEYED & {source.kind, target.kind}:
        raise Problem("keyed_name", references.keyed())
    if target.scope_ref not in session.directory.scopes:
        raise Problem("target_too_narrow", _("Not everybody who knows the one may know the other."))


def _check_fresh(source: Entity, target: Entity, based_on: UUID) -> None:
    """Raises Problem `stale` if either has a later event than the one the caller saw."""
    latest = latest_event((source.pk, target.pk))
    if latest is not None and latest != based_on:
        raise Problem(
            "stale", _("Something about these two has changed since."), 409, extra={"latest_event_id": str(latest)}
        )


def latest_event(entity_ids: Sequence[UUID]) -> UUID | None:
    """The last recorded event of any of the entities, as far as the open scope reads."""
    events = WorldEvent.objects.filter(target_entity_id__in=entity_ids).order_by("-recorded_at", "-id")
    return events.values_list("id", flat=True).first()
