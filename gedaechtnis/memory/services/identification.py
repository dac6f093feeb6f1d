"""Whether something new is somebody known: certain twins are merged, likely ones suggested. Never on the write itself.

A write binds exact names only. What it met or learned a handle of is looked at afterwards, by a work item: two entities
are better than one false merge, and no write waits for a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from uuid import UUID

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import parse_instant
from gedaechtnis.identity.principals import Principal, PrincipalKind, system
from gedaechtnis.memory import references
from gedaechtnis.memory.resolution import alike, plausibility
from gedaechtnis.memory.services import merges
from gedaechtnis.memory.writing import proposals, suppressions
from gedaechtnis.memory.writing.assertions import HANDLES
from gedaechtnis.memory.writing.session import IDENTIFY, WriteSession
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias, EntityMerge, Fact, Proposal

CERTAIN = frozenset({"email", "identifier"})
"""Handles that one holds: shared by two of compatible names, these are one. A phone only suggests it."""
_SHARED, _ALIKE = "shared", "alike"


@dataclass(frozen=True, slots=True)
class Twin:
    """Another entity that may be the same; `why` is None where it certainly is."""

    entity: Entity
    why: str | None


@work.handler(IDENTIFY)
def identify(item: work.WorkItem) -> None:
    """Look at what one write met or learned a handle of. Its key names the ticks of that write."""
    reader = _reader(item)
    first, last = (parse_instant(text, zone=reader.zone, field="dedupe_key") for text in item.dedupe_key.split(".."))
    for id in _new(reader, item.scope_ref, first, last):
        _consider(reader, item.scope_ref, id)


def _reader(item: work.WorkItem) -> Principal:
    """The server, seeing what every reader of the scope sees: what comes of it is shown to all of them.

    Of a person's own scope that is all they read themselves.
    """
    if item.acting_sub is not None:
        person = item.person()
        if item.scope_ref in person.write_scopes:
            seen = references.reach(item.scope_ref, org_id=item.org_id, readable=person.read_scopes)
            return replace(person, kind=PrincipalKind.SYSTEM, acted_by=f"system:{IDENTIFY}", read_scopes=tuple(seen))
    return system(item.scope_ref, IDENTIFY)


def _new(reader: Principal, scope_ref: str, first: datetime, last: datetime) -> list[UUID]:
    within = {"scope_ref": scope_ref, "recorded_at__gte": first, "recorded_at__lte": last}
    with scope(reader):
        met = Entity.objects.filter(is_self=False, **within).values_list("pk", flat=True)
        told = Fact.objects.believed().filter(predicate__in=HANDLES, **within).values_list("subject_id", flat=True)
        named = EntityAlias.objects.exclude(namespace="name").filter(superseded_at=None, **within)
        return list(dict.fromkeys([*met, *told, *named.values_list("entity_id", flat=True)]))


def _consider(reader: Principal, scope_ref: str, entity_id: UUID) -> None:
    with scope(reader):
        entity = Entity.objects.filter(pk=entity_id, scope_ref=scope_ref, status=Entity.Status.ACTIVE).first()
        if entity is None or entity.kind in references.KEYED or _is_privileged(entity.kind):
            return
        twin = next((twin for twin in _twins(entity) if not _is_settled(entity, twin.entity)), None)
        if twin is None:
            return
        source, target = _direction(entity, twin.entity)
    if twin.why is None:
        merges.merge_entities(principal=reader, source_id=source.pk, target_id=target.pk)
    else:
        _suggest(reader, source, target, twin.why)


def _is_privileged(kind: str) -> bool:
    """Rules that read alike may say the contrary, and nobody but a person decides about them."""
    term = catalogue().kinds.get(kind)
    return term is not None and term.privileged


def _twins(entity: Entity) -> Iterator[Twin]:
    """Who it may be, the most certain first; of those that merely look alike only one alone."""

    def others(found: Iterable[Entity]) -> list[Entity]:
        return [other for other in found if other.pk != entity.pk and other.kind == entity.kind]

    active = Entity.objects.filter(status=Entity.Status.ACTIVE)
    if entity.external_id is not None:
        same = active.filter(source_entry_id=entity.source_entry_id, external_id=entity.external_id)
        yield from (Twin(other, None) for other in others(same))
    for holders, is_certain in _holders(entity):
        sharing = others(active.filter(pk__in=holders))
        if len(sharing) == 1 and holders == {entity.pk, sharing[0].pk}:
            compatible = plausibility.are_compatible(entity.canonical_name, sharing[0].canonical_name)
            yield Twin(sharing[0], None if is_certain and compatible else _SHARED)
    for look in (alike.spelt_otherwise, alike.alike):
        likely = [e for e in others(look(entity.canonical_name, entity.kind)) if e.name_key != entity.name_key]
        if len(likely) == 1:
            yield Twin(likely[0], _ALIKE)
        if likely:
            return


def _holders(entity: Entity) -> Iterator[tuple[set[UUID], bool]]:
    """Everybody who bears one of its addresses, numbers or handles, and whether such a thing is held by one only."""
    for row in Fact.objects.believed().filter(
        subject_id=entity.pk, predicate__in=HANDLES, polarity=True, valid_to=None
    ):
        same = Fact.objects.believed().filter(
            predicate=row.predicate, object_key=row.object_key, polarity=True, valid_to=None
        )
        yield set(same.values_list("subject_id", flat=True)), row.predicate in CERTAIN
    for alias in EntityAlias.objects.exclude(namespace="name").filter(
        entity_id=entity.pk, superseded_at=None, valid_to=None
    ):
        bearing = references.bearers([alias.key]).filter(namespace=alias.namespace, valid_to=None)
        yield set(bearing.values_list("entity_id", flat=True)), True


def _is_settled(one: Entity, other: Entity) -> bool:
    """Whether a person said already that they are two, by splitting or declining, or is being asked."""
    pair = (one.pk, other.pk)
    split = EntityMerge.objects.filter(source_id__in=pair, target_id__in=pair).exclude(tick_to=None)
    asked = Proposal.objects.filter(
        kind=proposals.MERGE,
        state=Proposal.State.OPEN,
        operation__subject_ref__in=[str(id) for id in pair],
        operation__object_ref__in=[str(id) for id in pair],
    )
    return split.exists() or asked.exists() or _is_declined(one, other)


def _is_declined(one: Entity, other: Entity) -> bool:
    """Whether a person declined that they are one, or that any two are that were merged into them."""
    pairs = product(suppressions.members(one), suppressions.members(other))
    return any(suppressions.is_declined(one.scope_ref, suppressions.pair_key(a.pk, b.pk)) for a, b in pairs)


def _direction(entity: Entity, other: Entity) -> tuple[Entity, Entity]:
    """(source, target): the narrower scope follows the wider; else the younger the older, and nobody takes oneself."""
    if entity.scope_ref != other.scope_ref or other.is_self:
        return entity, other
    if entity.is_self or (entity.recorded_at, entity.pk) < (other.recorded_at, other.pk):
        return other, entity
    return entity, other


def _suggest(reader: Principal, source: Entity, target: Entity, why: str) -> None:
    with scope(reader, write=source.scope_ref) as opened:
        session = WriteSession.begin(opened, run_id=f"{IDENTIFY}-{uuid7()}")
        if not _is_settled(source, target):
            proposals.hold_merge(session, source=source, target=target, why=why)
        session.finish()
