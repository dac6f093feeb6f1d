"""Why something is believed: its evidence, and every belief that stood in its place."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors import moments, views
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`chain`: all rows of the slot, believed or not, by when they were recorded."""

    fact: FactView
    chain: tuple[FactView, ...]
    closed_by: FactView | None


def explain_fact(*, principal: Principal, fact_id: UUID) -> Explanation:
    """Raises NotFound: missing and foreign alike."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        row = Fact.objects.filter(pk=fact_id).first()
        if row is None:
            raise references.not_found(str(fact_id))
        slot = Fact.objects.filter(scope_ref=row.scope_ref, slot=row.slot)
        rows = slot.select_related("subject", "object_entity", "applies_to").order_by("recorded_at", "valid_from")
        chain = views.fact_views(rows, moment)
    by_id = {view.id: view for view in chain}
    fact = by_id[fact_id]
    return Explanation(
        fact=fact,
        chain=chain,
        closed_by=by_id.get(fact.closed_by_fact_id) if fact.closed_by_fact_id else None,
    )


def get_facts(*, principal: Principal, fact_ids: list[UUID]) -> tuple[FactView, ...]:
    """Facts by id, believed or not; unreadable ones are left out."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        rows = Fact.objects.filter(pk__in=fact_ids).select_related("subject", "object_entity", "applies_to")
        return views.fact_views(rows.order_by("recorded_at", "id"), moment)
