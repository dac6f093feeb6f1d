from __future__ import annotations

from uuid import UUID

from gedaechtnis.api.schemas.common import Out
from gedaechtnis.common.wire import Instant


class ConflictOut(Out):
    """`fact` was written although `other` said otherwise of the same instants; open as long as `fact` is believed."""

    id: UUID
    kind: str
    fact_id: UUID
    fact_statement: str
    other_fact_id: UUID
    other_statement: str
    is_open: bool
    recorded_at: Instant
    event_id: UUID
    scope_ref: str


class ConflictPage(Out):
    items: list[ConflictOut]
    cursor: str | None
