"""Undoing an event: what it closed is believed again, what it wrote no longer; unless something moved since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.schemas import Source
from gedaechtnis.memory.services import merges, splits
from gedaechtnis.memory.writing import assertions, restoring
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias, Fact, WorldEvent

EVENT_UNDONE = "event.undone"
_NAMED = ("fact_ids", "closed_fact_ids", "alias_ids", "closed_alias_ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """The event of the undoing (undo that one to redo), and the rows that are believed again."""

    event_id: UUID
    fact_ids: tuple[UUID, ...]
    closed_fact_ids: tuple[UUID, ...]


def undo_event(*, principal: Principal, event_id: UUID, reason: str = "") -> UndoResult:
    """Write again what an event closed, on the same intervals, with rank and origin; close what it wrote.

    Undoing a merge is a split, and undoing what a proposal's acceptance wrote is undoing that.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `person_required` (403); `nothing_to_undo` (409) for an event that changed no belief;
            `moved_since` (409, naming the facts) if any of it changed since.
    """
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can decide this."), 403)
    with scope(principal):
        event = WorldEvent.objects.filter(pk=event_id).first()
    if event is None:
        raise references.not_found(str(event_id))
    if event.event_type == merges.ENTITY_MERGED:
        return _split(principal, event, reason)
    with scope(principal, write=event.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened, run_id=f"undo-{event.pk}")
        return _undo(session, event, reason)


def restore_fact(*, principal: Principal, fact_id: UUID, reason: str = "") -> UndoResult:
    """Believe a closed fact again by undoing the event that closed it.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `still_believed` (409), `nothing_to_undo` (409) where no event tells what closed it, or what
            `undo_event` raises.
    """
    with scope(principal):
        row = Fact.objects.filter(pk=fact_id).first()
        if row is None:
            raise references.not_found(str(fact_id))
        if row.superseded_at is None:
            raise Problem("still_believed", _("This is still believed."), 409)
        closing = WorldEvent.objects.filter(
            scope_ref=row.scope_ref,
            recorded_at=row.superseded_at,
            payload__closed_fact_ids__contains=[str(fact_id)],
        ).first()
    if closing is None:
        raise Problem("nothing_to_undo", _("Nothing is believed because of this event."), 409)
    return undo_event(principal=principal, event_id=closing.pk, reason=reason)


def _split(principal: Principal, event: WorldEvent, reason: str) -> UndoResult:
    source_id = UUID(event.payload["source_id"])
    split = splits.split_entity(principal=principal, source_id=source_id, reason=reason, merge_event_id=event.pk)
    if split.already_reversed or split.event_id is None:
        raise Problem("moved_since", _("This was undone before."), 409)
    return UndoResult(event_id=split.event_id, fact_ids=(), closed_fact_ids=())


def _undo(session: WriteSession, event: WorldEvent, reason: str) -> UndoResult:
    tick, undoing = session.ticks[0], uuid7()
    session.level = event.classification
    ids = {name: [UUID(id) for id in event.payload.get(name, ())] for name in _NAMED}
    if not any(ids.values()) or event.event_type == splits.ENTITY_SPLIT:
        raise Problem("nothing_to_undo", _("Nothing is believed because of this event."), 409)
    written = list(Fact.objects.filter(pk__in=ids["fact_ids"], scope_ref=session.scope_ref))
    closed = list(Fact.objects.filter(pk__in=ids["closed_fact_ids"], scope_ref=session.scope_ref))
    moved = [row.pk for row in written if row.superseded_at is not None] + _of_merged(closed)
    if moved or len(written) != len(ids["fact_ids"]) or len(closed) != len(ids["closed_fact_ids"]):
        raise _moved(moved)
    renamed = EntityAlias.objects.filter(
        Q(pk__in=ids["alias_ids"]) & ~Q(superseded_at=None)
        | Q(pk__in=ids["closed_alias_ids"], entity__status=Entity.Status.MERGED)
    )
    if renamed.exists():
        raise _moved([])
    done = restoring.Restored()
    restoring.withdraw(session, written, done, tick=tick, why=reason or None)
    restoring.write_again(session, closed, done, tick=tick, event_id=undoing)
    session.check_quota()
    restoring.withdraw_aliases(session, ids["alias_ids"], done, tick=tick)
    restoring.write_aliases_again(session, ids["closed_alias_ids"], done, tick=tick)
    if done.short or done.short_aliases:
        raise _moved(done.short)
    payload: dict[str, Any] = {"undone_event_id": str(event.pk), **done.as_payload()}
    session.add_event(
        id=undoing,
        event_type=EVENT_UNDONE,
        tick=tick,
        source=Source.USER_ASSERTION,
        target_entity_id=event.target_entity_id,
        caused_by_event_id=event.pk,
        payload=payload,
        summary=event.summary,
    )
    for entity in Entity.objects.filter(
        pk__in={row.subject_id for row in (*written, *closed) if row.predicate == "name"}
    ):
        assertions.refresh_name(session, entity, tick)
    session.finish()
    return UndoResult(event_id=undoing, fact_ids=tuple(done.fact_ids), closed_fact_ids=tuple(done.closed_fact_ids))


def _of_merged(rows: Iterable[Fact]) -> list[UUID]:
    """The rows that name an entity which stands for another by now: nothing is believed about it any more."""
    named = {row.pk: {row.subject_id, row.object_entity_id, row.applies_to_id} for row in rows}
    merged = Entity.objects.filter(pk__in=set().union(*named.values()), status=Entity.Status.MERGED)
    gone = set(merged.values_list("pk", flat=True))
    return [id for id, entities in named.items() if entities & gone]


def _moved(ids: list[UUID]) -> Problem:
    return Problem(
        "moved_since",
        _("What this event did has changed since, so it cannot simply be taken back."),
        409,
        extra={"fact_ids": [str(id) for id in ids]},
    )
