"""Which row a reader means, and in which scope it lies, without reading what it says."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, Import


class Place(NamedTuple):
    id: UUID
    scope_ref: str


def of_entity(*, principal: Principal, ref: str) -> Place | None:
    """The entity behind a UUID, a `kind:slug` or `me`; None for missing and foreign alike."""
    with scope(principal):
        found = references.look_up(ref, scopes=principal.read_scopes)
    return Place(found.pk, found.scope_ref) if found else None


def of_fact(*, principal: Principal, fact_id: UUID) -> Place | None:
    """A fact, believed or not; None for missing and foreign alike."""
    with scope(principal):
        found = Fact.objects.filter(pk=fact_id).values_list("scope_ref", flat=True).first()
    return Place(fact_id, found) if found else None


def of_import(*, principal: Principal, import_id: UUID) -> Place | None:
    with scope(principal):
        found = Import.objects.filter(pk=import_id).first()
        return Place(found.pk, found.scope_ref) if found else None
