"""Statements that were written although others claimed the same instants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import ConflictsAnswer, ConflictView
from gedaechtnis.memory.references import as_uuid, not_found
from gedaechtnis.memory.selectors.proposals import waiting_contradictions
from gedaechtnis.memory.selectors.voices import voices
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import ConflictRecord, EntityMerge, Fact

PREDICATE = "statement"
"""Free text."""


def list_conflicts(
    *, principal: Principal, cursor: str | None = None, limit: int = 50, only_open: bool = False
) -> ConflictsAnswer:
    """The latest first; `only_open` leaves settled ones out of a page, which may then be shorter than `limit`.

    A conflict is open until a person settles it, and as long as something of the statement that went first is believed;
    of free texts as long as both are and hold; that of a merge only until the two are two again.

    Raises:
        Problem: `invalid_cursor`.
    """
    with scope(principal):
        rows = ConflictRecord.objects.order_by("-id")
        if cursor is not None:
            after = as_uuid(cursor)
            if after is None:
                raise Problem("invalid_cursor", _("This page marker cannot be read."), field="cursor")
            rows = rows.filter(pk__lt=after)
        if only_open:
            rows = rows.filter(settled_at=None)
        found = list(rows[: limit + 1])
        page = found[:limit]
        items = [view for view in _views(page) if view.is_open or not only_open]
    return ConflictsAnswer(
        items=tuple(items),
        cursor=str(page[-1].pk) if len(found) > limit else None,
        waiting=waiting_contradictions(principal=principal) if cursor is None else (),
    )


def get_conflict(*, principal: Principal, conflict_id: UUID) -> ConflictView:
    """Raises NotFound."""
    with scope(principal):
        views = _views(list(ConflictRecord.objects.filter(pk=conflict_id)))
    if not views:
        raise not_found(str(conflict_id))
    return views[0]


def brought_up_by(*, principal: Principal, origin_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Of each statement the agent that proposed what a person accepted, else who stated it."""
    with scope(principal):
        return voices(origin_ids)


def keeps_both(fact: Fact, other: Fact) -> bool:
    """Whether both were believed after the conflict: free texts, of which neither replaced the other."""
    return fact.predicate == other.predicate == PREDICATE and fact.polarity == other.polarity


def standing(origin_ids: Iterable[UUID]) -> dict[UUID, Fact]:
    """Of each statement that is believed and not over, its latest row, by origin."""
    lasting = Q(valid_to=None) | Q(valid_to__gt=clock.now())
    rows = Fact.objects.believed().filter(lasting, origin_fact_id__in=list(origin_ids))
    return {row.origin_fact_id: row for row in rows.order_by("valid_from")}


def _views(page: Sequence[ConflictRecord]) -> list[ConflictView]:
    facts = Fact.objects.in_bulk({id for row in page for id in (row.fact_id, row.other_fact_id)})
    origins = {fact.origin_fact_id for fact in facts.values()}
    held = set(Fact.objects.believed().filter(origin_fact_id__in=origins).values_list("origin_fact_id", flat=True))
    stands = set(standing(fact.origin_fact_id for fact in facts.values() if fact.predicate == PREDICATE))
    by = voices(origins)
    undone = set(
        EntityMerge.objects.filter(event_id__in=[row.event_id for row in page])
        .exclude(tick_to=None)
        .values_list("event_id", flat=True)
    )
    views = []
    for row in page:
        fact, other = facts.get(row.fact_id), facts.get(row.other_fact_id)
        if fact is not None and other is not None:
            both = {fact.origin_fact_id, other.origin_fact_id} <= stands
            contradicts = both if keeps_both(fact, other) else fact.origin_fact_id in held
            views.append(_view(row, fact, other, by=by, contradicts=contradicts and row.event_id not in undone))
    return views


def _view(row: ConflictRecord, fact: Fact, other: Fact, *, by: dict[UUID, str], contradicts: bool) -> ConflictView:
    return ConflictView(
        id=row.pk,
        kind=row.kind,
        fact_id=fact.pk,
        fact_statement=fact.statement,
        fact_acted_by=by.get(fact.origin_fact_id, fact.acted_by),
        fact_recorded_at=fact.recorded_at,
        other_fact_id=other.pk,
        other_statement=other.statement,
        other_acted_by=by.get(other.origin_fact_id, other.acted_by),
        other_recorded_at=other.recorded_at,
        domain=fact.domain,
        topic=fact.topic,
        is_open=row.settled_at is None and contradicts,
        settled_as=row.settled_as,
        settled_at=row.settled_at,
        settled_by=row.settled_by,
        recorded_at=row.recorded_at,
        event_id=row.event_id,
        scope_ref=row.scope_ref,
    )
