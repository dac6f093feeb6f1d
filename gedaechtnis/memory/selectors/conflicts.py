"""Statements that were written although others claimed the same instants."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import ConflictView, Page
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import ConflictRecord, EntityMerge, Fact


def list_conflicts(*, principal: Principal, cursor: str | None = None, limit: int = 50) -> Page[ConflictView]:
    """The latest first. A conflict is open as long as something of the statement that went first is believed; that
    of a merge, also only until the two are two again.

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
        found = list(rows[: limit + 1])
        page = found[:limit]
        facts = Fact.objects.in_bulk({id for row in page for id in (row.fact_id, row.other_fact_id)})
        origins = {fact.origin_fact_id for fact in facts.values()}
        held = set(Fact.objects.believed().filter(origin_fact_id__in=origins).values_list("origin_fact_id", flat=True))
        undone = set(
            EntityMerge.objects.filter(event_id__in=[row.event_id for row in page])
            .exclude(tick_to=None)
            .values_list("event_id", flat=True)
        )
        items = tuple(
            _view(row, facts, held, undone) for row in page if row.fact_id in facts and row.other_fact_id in facts
        )
        return Page(items=items, cursor=str(page[-1].pk) if len(found) > limit else None)


def _view(row: ConflictRecord, facts: dict[UUID, Fact], held: set[UUID], undone: set[UUID]) -> ConflictView:
    fact, other = facts[row.fact_id], facts[row.other_fact_id]
    return ConflictView(
        id=row.pk,
        kind=row.kind,
        fact_id=fact.pk,
        fact_statement=fact.statement,
        other_fact_id=other.pk,
        other_statement=other.statement,
        is_open=fact.origin_fact_id in held and row.event_id not in undone,
        recorded_at=row.recorded_at,
        event_id=row.event_id,
        scope_ref=row.scope_ref,
    )
