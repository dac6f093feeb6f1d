"""What a person noted on things they can no longer see: of a group they have left, or that was closed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from gedaechtnis.common import clock
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.wording import readable
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, Fact

MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableNote:
    """A belief of one's own whose subject is out of sight; what it was about is not told, only what was said."""

    fact_id: UUID
    predicate_label: str
    value: str
    polarity: bool
    recorded_at: datetime


def list_unavailable(*, principal: Principal) -> tuple[UnavailableNote, ...]:
    """What still holds of it, the latest first and at most `MOST`: the others come when these are put away."""
    now = clock.now()
    visible = Entity.objects.filter(pk=OuterRef("subject_id"))
    with scope(principal):
        rows = Fact.objects.believed().filter(
            ~Exists(visible), Q(valid_to=None) | Q(valid_to__gt=now), scope_ref=principal.read_scopes[0]
        )
        terms = catalogue()
        return tuple(
            UnavailableNote(
                fact_id=row.pk,
                predicate_label=terms.predicate_label(row.predicate),
                value="…" if row.object_entity_id else readable(row.object_value),
                polarity=row.polarity,
                recorded_at=row.recorded_at,
            )
            for row in rows.order_by("-recorded_at", "id")[:MOST]
        )
