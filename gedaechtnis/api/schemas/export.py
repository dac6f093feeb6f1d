from __future__ import annotations

from uuid import UUID

from gedaechtnis.api.schemas.common import Out
from gedaechtnis.common.wire import Instant


class ImportOut(Out):
    """`left_out` counts the rows, by table, that name things which are not here."""

    id: UUID
    state: str
    scope_ref: str
    keeps_ids: bool
    rows: int
    rows_done: int
    left_out: dict[str, int]
    problem: str | None
    started_at: Instant
    ended_at: Instant | None
