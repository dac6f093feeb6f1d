"""Facts in time: what holds now, what held then, what was known when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db.models import Q

from gedaechtnis.common.instants import UNKNOWN_START, Precision
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import ChangePoint, FactsAnswer, FactView, Timeline
from gedaechtnis.memory.selectors import identity, moments, views
from gedaechtnis.memory.selectors.conditions import Beliefs, Conditions
from gedaechtnis.memory.selectors.moments import Basis
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact


def entity_facts(
    *,
    principal: Principal,
    entity_id: UUID,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
    predicate: str | None = None,
    applies_to: UUID | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    clamped: bool = False,
    beliefs: Beliefs = "believed",
) -> FactsAnswer:
    """Attributes and outgoing relationships of an entity.

    With `valid_from` and `valid_to` the rows that touch `[valid_from, valid_to)`; `clamped` trims
    their bounds to it. `beliefs="all"` adds rows that are no longer believed. `applies_to` leaves what
    holds in that context: what is said of it, and what is said without one.
    """
    return _answer(
        principal,
        "subject_id",
        entity_id,
        valid_at=valid_at,
        known_at=known_at,
        predicate=predicate,
        applies_to=applies_to,
        between=(valid_from, valid_to) if valid_from and valid_to else None,
        clamped=clamped,
        beliefs=beliefs,
    )


def inbound_facts(
    *,
    principal: Principal,
    entity_id: UUID,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
    predicate: str | None = None,
) -> FactsAnswer:
    """Relationships that point to an entity."""
    return _answer(
        principal,
        "object_entity_id",
        entity_id,
        valid_at=valid_at,
        known_at=known_at,
        predicate=predicate,
    )


def facts_of(*, principal: Principal, entity_ids: Sequence[UUID]) -> tuple[FactView, ...]:
    """What holds now of several entities at once, each under its id of today: attributes, outgoing relationships."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        asked = Conditions().naming("subject_id", list(entity_ids)).known_at(moment).valid_at(moment.valid_at)
        return views.fact_views(asked.facts(), moment)


def matching_facts(
    *,
    principal: Principal,
    predicate: str,
    object_entity_id: UUID | None = None,
    object_key: UUID | None = None,
    applies_to: UUID | None = None,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
) -> FactsAnswer:
    """Facts of one predicate, optionally with one object: "who lives in Nürnberg?"."""
    asked = Conditions()
    if object_key is not None:
        asked.that("object_key = %s", object_key)
    return _answer(
        principal,
        "object_entity_id",
        object_entity_id,
        asked,
        valid_at=valid_at,
        known_at=known_at,
        predicate=predicate,
        applies_to=applies_to,
    )


def history(
    *, principal: Principal, entity_id: UUID, predicate: str | None = None, beliefs: Beliefs = "believed"
) -> tuple[FactView, ...]:
    """All valid time: believed rows by `valid_from`; `beliefs="all"` adds closed ones, in order of belief."""
    with scope(principal):
        moment = moments.settle(principal=principal)
        asked = Conditions().naming("subject_id", identity.ids_of(entity_id, moment)).known_at(moment, beliefs)
        if predicate:
            asked.that("predicate = %s", predicate)
        return views.fact_views(asked.facts(), moment)


def timeline(*, principal: Principal, entity_id: UUID) -> Timeline:
    """Every instant at which something about an entity changed, on either axis."""
    with scope(principal):
        ids = identity.ids_of(entity_id, moments.settle(principal=principal))
        rows = Fact.objects.filter(Q(subject_id__in=ids) | Q(object_entity_id__in=ids)).values_list(
            "valid_from", "valid_to", "recorded_at", "superseded_at"
        )
        valid: Counter[datetime] = Counter()
        known: Counter[datetime] = Counter()
        for valid_from, valid_to, recorded_at, superseded_at in rows:
            known.update(instant for instant in (recorded_at, superseded_at) if instant)
            if superseded_at is None:
                valid.update(instant for instant in (valid_from, valid_to) if instant and instant != UNKNOWN_START)
    return Timeline(valid=_points(valid), known=_points(known))


def _points(counted: Counter[datetime]) -> tuple[ChangePoint, ...]:
    return tuple(ChangePoint(at=instant, changes=counted[instant]) for instant in sorted(counted))


def _answer(
    principal: Principal,
    place: Literal["subject_id", "object_entity_id"],
    entity_id: UUID | None,
    asked: Conditions | None = None,
    *,
    valid_at: datetime | None,
    known_at: datetime | Basis | None,
    predicate: str | None,
    applies_to: UUID | None = None,
    between: tuple[datetime, datetime] | None = None,
    clamped: bool = False,
    beliefs: Beliefs = "believed",
) -> FactsAnswer:
    with scope(principal):
        moment = moments.settle(principal=principal, valid_at=valid_at, known_at=known_at)
        asked = asked or Conditions()
        if entity_id is not None:
            asked.naming(place, identity.ids_of(entity_id, moment))
        asked.known_at(moment, beliefs)
        if between:
            asked.touching(*between)
        else:
            asked.valid_at(moment.valid_at)
        if predicate:
            asked.that("predicate = %s", predicate)
        if applies_to:
            asked.that("applies_to_id = ANY(%s) OR applies_to_id IS NULL", identity.ids_of(applies_to, moment))
        facts = views.fact_views(asked.facts(), moment)
        if between and clamped:
            facts = tuple(_clamp(fact, *between) for fact in facts)
        return FactsAnswer(
            facts=facts,
            valid_at=moment.valid_at,
            known_at=moment.known_at,
            basis=moment.basis,
        )


def _clamp(fact: FactView, start: datetime, end: datetime) -> FactView:
    """A fact trimmed to a range: an edge that the range sets is exact, and nobody stated it."""
    if fact.valid_from is None or fact.valid_from < start:
        fact = replace(fact, valid_from=start, valid_from_precision=Precision.INSTANT, valid_from_stated=False)
    if fact.valid_to is None or fact.valid_to > end:
        fact = replace(fact, valid_to=end, valid_to_precision=Precision.INSTANT, valid_to_stated=False)
    return fact
