"""The other names of an entity, at a moment or in all their history."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gedaechtnis.common.instants import shown
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import AliasView
from gedaechtnis.memory.references import borne_at
from gedaechtnis.memory.selectors import identity, moments
from gedaechtnis.memory.selectors.moments import Basis
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import EntityAlias


def list_aliases(
    *,
    principal: Principal,
    entity_id: UUID,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
) -> tuple[AliasView, ...]:
    """By name and start, as known at `known_at`; without `valid_at` also those that are over or not yet."""
    with scope(principal):
        moment = moments.settle(principal=principal, valid_at=valid_at, known_at=known_at)
        rows = EntityAlias.objects.filter(entity_id__in=identity.ids_of(entity_id, moment))
        if valid_at is not None:
            rows = rows.filter(borne_at(valid_at))
        return tuple(
            alias_view(row, moment.ticks[row.scope_ref])
            for row in rows.order_by("alias", "valid_from", "id")
            if row.scope_ref in moment.ticks and _is_known(row, moment.ticks[row.scope_ref])
        )


def _is_known(row: EntityAlias, tick: datetime) -> bool:
    return row.recorded_at <= tick and (row.superseded_at is None or tick < row.superseded_at)


def alias_view(row: EntityAlias, tick: datetime) -> AliasView:
    """An alias as it stood at a tick of its scope."""
    closed = row.superseded_at is not None and row.superseded_at <= tick
    return AliasView(
        id=row.pk,
        entity_id=row.entity_id,
        alias=row.alias,
        namespace=row.namespace,
        valid_from=shown(row.valid_from),
        valid_to=row.valid_to,
        recorded_at=row.recorded_at,
        superseded_at=row.superseded_at if closed else None,
        scope_ref=row.scope_ref,
    )
