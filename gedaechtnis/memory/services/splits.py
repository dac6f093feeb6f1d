"""Taking a merge back: each gets its own again, and what was learned meanwhile stays where it was learned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.common.text import name_key
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.schemas import Source
from gedaechtnis.memory.services import merges
from gedaechtnis.memory.writing import assertions, repointing, restoring
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityMerge, Fact, FactEvidence, WorldEvent

ENTITY_SPLIT = "entity.split"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A fact learned about the merged one, and whose it seems to be: what it rests on names the source."""

    fact_id: UUID
    statement: str
    belongs_to: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """`learned_since` is for a person to look through; `not_restored` names rows whose place is taken by now."""

    already_reversed: bool
    source_id: UUID
    target_id: UUID
    event_id: UUID | None = None
    learned_since: tuple[Learned, ...] = ()
    not_restored: tuple[UUID, ...] = ()


def split_entity(
    *,
    principal: Principal,
    source_id: UUID,
    move: Collection[UUID] = (),
    reason: str = "",
    merge_event_id: UUID | None = None,
) -> SplitResult:
    """Undo the last merge of `source`, or the one of `merge_event_id`: it and what it was merged into are two again.

    Facts learned about the merged one stay with it, but those in `move` go to the source. Asked again, the answer
    says that it was reversed before, and nothing changes.

    Raises:
        NotFound: no such entity, or a fact in `move` that is not one of those learned since.
        Problem: `never_merged` (409); `merged_further` (409, naming the entity to split first) if the target has
            itself been merged since; `person_required`, `scope_denied`.
    """
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can decide this."), 403)
    with scope(principal):
        source = Entity.objects.filter(pk=source_id, scope_ref__in=principal.read_scopes).first()
    if source is None:
        raise references.not_found(str(source_id))
    with scope(principal, write=source.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened, run_id=f"split-{uuid7()}")
        merge = latest_merge(session, source.pk, merge_event_id)
        if merge is None:
            raise Problem("never_merged", _("This was never merged into something else."), 409)
        if merge.tick_to is not None:
            return SplitResult(
                already_reversed=True,
                source_id=source.pk,
                target_id=merge.target_id,
                event_id=merge.undone_by_event_id,
            )
        check_innermost(merge)
        result = take_back(session=session, merge=merge, move=frozenset(move), reason=reason)
        Entity.objects.filter(pk=source.pk).update(status=Entity.Status.ACTIVE, merged_into_id=None)
        session.finish()
        merges.follow_elsewhere(source.pk)
    return result


def latest_merge(session: WriteSession, source_id: UUID, event_id: UUID | None = None) -> EntityMerge | None:
    """The last time that an entity was merged in the session's scope, or the time that an event tells of."""
    merged = EntityMerge.objects.filter(scope_ref=session.scope_ref, source_id=source_id)
    if event_id is not None:
        merged = merged.filter(event_id=event_id)
    return merged.order_by("-tick_from").first()


def check_innermost(merge: EntityMerge) -> None:
    """Raises Problem `merged_further` if the target is itself part of something else by now."""
    target = Entity.objects.filter(pk=merge.target_id).first()
    if target is not None and target.status == Entity.Status.MERGED:
        raise Problem(
            "merged_further",
            _("“%(name)s” was itself merged since. Split that first.") % {"name": target.canonical_name},
            409,
            extra={"split_first": str(target.pk)},
        )


def take_back(*, session: WriteSession, merge: EntityMerge, move: frozenset[UUID], reason: str) -> SplitResult:
    """The split within the session's scope."""
    tick, event_id = session.ticks[0], uuid7()
    session.level = merge.classification
    payload = WorldEvent.objects.get(pk=merge.event_id).payload
    closed = list(Fact.objects.filter(pk__in=payload["closed_fact_ids"], scope_ref=session.scope_ref))
    away = [row for row in closed if merge.source_id in (row.subject_id, row.object_entity_id, row.applies_to_id)]
    origins = {row.origin_fact_id for row in away}
    learned = _learned_since(session, merge, origins)
    if not move <= {row.pk for row in learned}:
        raise NotFound(_("One of these facts was not learned since."), field="move")
    done = restoring.Restored()
    here = [row for row in repointing.naming(session, merge.target_id) if row.origin_fact_id in origins]
    cut = [row for row in closed if row not in away]
    remainders = Fact.objects.believed().filter(
        pk__in=payload["fact_ids"], scope_ref=session.scope_ref, origin_fact_id__in={row.origin_fact_id for row in cut}
    )
    withdrawn = {row.pk: row for row in (*here, *remainders)}
    restoring.withdraw(session, withdrawn.values(), done, tick=tick, why=reason or None)
    move |= {end for row in learned if row.pk in move for end in _other_end(row, learned)}
    moved = _give(session, merge, [row for row in learned if row.pk in move], tick=tick, event_id=event_id)
    again = [_as_named_now(session, row, but=merge.source_id) for row in (*away, *cut)]
    restoring.write_again(
        session, [row for row in again if row.subject_id != row.object_entity_id], done, tick=tick, event_id=event_id
    )
    restoring.withdraw_aliases(session, payload["alias_ids"], done, tick=tick)
    restoring.write_aliases_again(session, payload["closed_alias_ids"], done, tick=tick)
    EntityMerge.objects.filter(pk=merge.pk).update(tick_to=tick, undone_by_event_id=event_id)
    done.fact_ids += moved.fact_ids
    done.closed_fact_ids += moved.closed_fact_ids
    session.add_event(
        id=event_id,
        event_type=ENTITY_SPLIT,
        tick=tick,
        source=Source.USER_ASSERTION if session.principal.is_person else Source.SYSTEM_RULE,
        target_entity_id=merge.source_id,
        caused_by_event_id=merge.event_id,
        payload={
            "source_id": str(merge.source_id),
            "target_id": str(merge.target_id),
            **done.as_payload(),
        },
    )
    session.touched.update((merge.source_id, merge.target_id))
    return SplitResult(
        already_reversed=False,
        source_id=merge.source_id,
        target_id=merge.target_id,
        event_id=event_id,
        learned_since=_sorted_out(session, merge, learned, move),
        not_restored=tuple(done.short),
    )


def _learned_since(session: WriteSession, merge: EntityMerge, moved_origins: set[UUID]) -> list[Fact]:
    """Believed statements about the target whose first row is younger than the merge."""
    about = Q(subject_id=merge.target_id) | Q(object_entity_id=merge.target_id)
    since = Fact.objects.believed().filter(about, scope_ref=session.scope_ref, recorded_at__gt=merge.tick_from)
    young = Fact.objects.filter(
        pk__in=since.values("origin_fact_id"), scope_ref=session.scope_ref, recorded_at__gt=merge.tick_from
    ).values_list("pk", flat=True)
    origins = set(young) - moved_origins
    return [row for row in since.order_by("recorded_at", "id") if row.origin_fact_id in origins]


def _as_named_now(session: WriteSession, row: Fact, *, but: UUID) -> Fact:
    """A closed row as it reads after other merges, and after others were taken back, since it was closed."""
    first = Fact.objects.get(pk=row.origin_fact_id)
    origins = {id for id in (first.subject_id, first.object_entity_id, first.applies_to_id) if id}
    for id in {id for id in (row.subject_id, row.object_entity_id, row.applies_to_id) if id} - {but}:
        parted = EntityMerge.objects.filter(scope_ref=session.scope_ref, source_id__in=origins - {but}, target_id=id)
        owner = None if id in origins else parted.exclude(tick_to=None).values_list("source_id", flat=True).first()
        now = assertions.standing_for(session, owner or id)
        ends = [session.directory.by_id(end) for end in (id, now)]
        if now != id and ends[0] is not None and ends[1] is not None:
            row = repointing.about(session, row, ends[0], ends[1])
    return row


def _other_end(row: Fact, among: Sequence[Fact]) -> Iterator[UUID]:
    """The row that says the same from the other end, if it holds both ways."""
    return (other.pk for other in among if row.mirror_of == other.pk or other.mirror_of == row.pk)


def _give(
    session: WriteSession, merge: EntityMerge, rows: Sequence[Fact], *, tick: datetime, event_id: UUID
) -> repointing.Repointed:
    """Facts that a person says belong to the source."""
    ends = {entity.pk: entity for entity in Entity.objects.filter(pk__in=(merge.source_id, merge.target_id))}
    return repointing.repoint(
        session=session,
        rows=rows,
        source=ends[merge.target_id],
        target=ends[merge.source_id],
        tick=tick,
        event_id=event_id,
    )


def _sorted_out(
    session: WriteSession, merge: EntityMerge, learned: Sequence[Fact], move: frozenset[UUID]
) -> tuple[Learned, ...]:
    """Whose each fact is or seems to be: the source's if its evidence names it and not the target."""
    ends = {entity.pk: entity for entity in Entity.objects.filter(pk__in=(merge.source_id, merge.target_id))}
    source, target = ends[merge.source_id].name_key, ends[merge.target_id].name_key
    texts: dict[UUID, str] = {}
    evidence = FactEvidence.objects.filter(
        scope_ref=session.scope_ref, fact_id__in=[row.origin_fact_id for row in learned]
    )
    for piece in evidence:
        texts[piece.fact_id] = f"{texts.get(piece.fact_id, '')} {name_key(piece.text)} "
    return tuple(
        Learned(
            fact_id=row.pk,
            statement=row.statement,
            belongs_to=merge.source_id
            if row.pk in move or _names(texts.get(row.origin_fact_id, ""), source, target)
            else merge.target_id,
        )
        for row in learned
    )


def _names(text: str, source: str, target: str) -> bool:
    return f" {source} " in text and (f" {target} " not in text or target in source)
