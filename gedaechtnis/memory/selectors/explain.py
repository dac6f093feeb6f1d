"""Why something is believed: its evidence, and every belief that stood in its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Max

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors import moments, views
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import INTERNAL
from gedaechtnis.world.models import Fact, FactUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`chain`: all rows of the slot, believed or not, by when they were recorded. `closed_by` took the fact's place;
    `instead_of` is what it took the place of, if that stands in another slot, as with free text.
    """

    fact: FactView
    chain: tuple[FactView, ...]
    closed_by: FactView | None
    instead_of: FactView | None = None


def explain_fact(*, principal: Principal, fact_id: UUID) -> Explanation:
    """Raises NotFound: missing and foreign alike."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        row = Fact.objects.filter(pk=fact_id).first()
        if row is None:
            raise references.not_found(str(fact_id))
        # A slot has one subject, by whose index its rows are found.
        slot = Fact.objects.filter(scope_ref=row.scope_ref, subject_id=row.subject_id, slot=row.slot)
        rows = slot.order_by("recorded_at", "valid_from")
        chain = views.fact_views(rows, moment)
        fact = next((view for view in chain if view.id == fact_id), None)
        if fact is None:  # its subject can no longer be read
            raise references.not_found(str(fact_id))
        # "Not in Paris" ends "in Paris" from a slot of its own, so what closed a row may stand elsewhere.
        beside = [id for id in (fact.closed_by_fact_id, fact.supersedes_fact_id) if id]
        around = {view.id: view for view in views.fact_views(Fact.objects.filter(pk__in=beside), moment)}
        closed_by = around.get(fact.closed_by_fact_id) if fact.closed_by_fact_id else None
        before = around.get(fact.supersedes_fact_id) if fact.supersedes_fact_id else None
        instead_of = before if before and all(link.id != before.id for link in chain) else None
        fact = _with_recalls(fact)
    return Explanation(fact=fact, chain=chain, closed_by=closed_by, instead_of=instead_of)


def highest_classification(*, principal: Principal, fact_ids: Iterable[UUID]) -> int:
    """What a text that tells these facts must be classified as, at least."""
    with scope(principal):
        found = Fact.objects.filter(pk__in=list(fact_ids)).aggregate(level=Max("classification"))
    return max(found["level"] or INTERNAL, INTERNAL)


def get_fact(*, principal: Principal, fact_id: UUID) -> FactView:
    """One fact, believed or not, with how often it was told.

    Raises:
        NotFound: missing and foreign alike.
    """
    with scope(principal):
        moment = moments.settle(principal=principal)
        found = views.fact_views(Fact.objects.filter(pk=fact_id), moment)
        if not found:
            raise references.not_found(str(fact_id))
        return _with_recalls(found[0])


def _with_recalls(fact: FactView) -> FactView:
    used = FactUsage.objects.filter(scope_ref=fact.scope_ref, fact_id=fact.origin_fact_id).first()
    return replace(fact, recalls=used.recalls, last_recalled_at=used.last_recalled_at) if used else fact


def get_facts(*, principal: Principal, fact_ids: list[UUID]) -> tuple[FactView, ...]:
    """Facts by id, believed or not; unreadable ones are left out."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        rows = Fact.objects.filter(pk__in=fact_ids)
        return views.fact_views(rows.order_by("recorded_at", "id"), moment)
