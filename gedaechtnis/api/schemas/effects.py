from __future__ import annotations

from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.common.wire import Instant


class EffectsIn(In):
    run: str | None = Field(default=None, min_length=1, max_length=200, description="A run id.")
    event: UUID | None = None


class EventOut(Out):
    """Something that happened, with the facts it wrote and closed."""

    id: UUID
    event_type: str
    summary: str
    occurred_at: Instant
    recorded_at: Instant
    acted_by: str
    scope_ref: str
    run_id: str | None
    target_entity_id: UUID | None
    caused_by_event_id: UUID | None
    fact_ids: list[UUID]
    closed_fact_ids: list[UUID]


class EventList(Out):
    items: list[EventOut]
    cursor: None = None
