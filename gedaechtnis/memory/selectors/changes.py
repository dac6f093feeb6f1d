"""What happened to beliefs: when each about an entity came and went, and what one run or event brought about."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from uuid import UUID

from django.db.models import Q

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import Change, EventView
from gedaechtnis.memory.selectors import identity, moments, views
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, WorldEvent

_MAX_EVENTS = 1000


def changes(*, principal: Principal, entity_id: UUID) -> tuple[Change, ...]:
    """Every belief about an entity that came or went, in either place, the latest first."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        ids = identity.ids_of(entity_id, moment)
        rows = Fact.objects.filter(Q(subject_id__in=ids) | Q(object_entity_id__in=ids))
        found: list[Change] = []
        for fact in views.fact_views(rows, moment):
            found.append(Change(id=f"{fact.id}+", at=fact.recorded_at, kind="believed", fact=fact))
            if fact.superseded_at is not None:
                found.append(Change(id=f"{fact.id}-", at=fact.superseded_at, kind="closed", fact=fact))
    return tuple(sorted(found, key=attrgetter("at", "kind", "id"), reverse=True))


def effects_of_run(*, principal: Principal, run_id: str) -> tuple[EventView, ...]:
    """What happened in a run, and because of it, in order."""
    with scope(principal):
        return _with_effects(WorldEvent.objects.filter(correlation_id=run_id))


def effects_of_event(*, principal: Principal, event_id: UUID) -> tuple[EventView, ...]:
    """An event and all that happened because of it, in order.

    Raises:
        NotFound: missing and foreign alike.
    """
    with scope(principal):
        found = _with_effects(WorldEvent.objects.filter(pk=event_id))
    if not found:
        raise references.not_found(str(event_id))
    return found


def _with_effects(causes: Iterable[WorldEvent]) -> tuple[EventView, ...]:
    events = {event.pk: event for event in causes}
    new = set(events)
    while new and len(events) < _MAX_EVENTS:
        caused = WorldEvent.objects.filter(caused_by_event_id__in=new).exclude(pk__in=list(events))
        new = {event.pk for event in caused}
        events.update({event.pk: event for event in caused})
    named = {id for event in events.values() for name in ("fact_ids", "closed_fact_ids") for id in _ids(event, name)}
    readable = set(Fact.objects.filter(pk__in=named).values_list("pk", flat=True))
    order = sorted(events.values(), key=lambda event: (event.recorded_at, event.pk))
    return tuple(_view(event, readable) for event in order)


def _ids(event: WorldEvent, name: str) -> list[UUID]:
    """What the committer noted in its events; those that callers record may hold anything."""
    found = event.payload.get(name) if isinstance(event.payload, dict) else None
    ids = [references.as_uuid(str(id)) for id in found] if isinstance(found, list) else []
    return [id for id in ids if id is not None]


def _view(event: WorldEvent, readable: set[UUID]) -> EventView:
    return EventView(
        id=event.pk,
        event_type=event.event_type,
        summary=event.summary,
        occurred_at=event.occurred_at,
        recorded_at=event.recorded_at,
        acted_by=event.acted_by,
        scope_ref=event.scope_ref,
        run_id=event.run_id or None,
        target_entity_id=event.target_entity_id,
        caused_by_event_id=event.caused_by_event_id,
        fact_ids=tuple(id for id in _ids(event, "fact_ids") if id in readable),
        closed_fact_ids=tuple(id for id in _ids(event, "closed_fact_ids") if id in readable),
    )
