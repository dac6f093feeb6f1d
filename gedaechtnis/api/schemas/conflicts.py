from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from ninja.params.functions import Body
from pydantic import Field

from gedaechtnis.api.schemas.common import Out, ReasonIn
from gedaechtnis.api.schemas.proposals import ProposalOut
from gedaechtnis.common.wire import Instant

Kept = Literal["new", "old", "both"]


class ConflictOut(Out):
    """`fact` was written although `other` says otherwise. Of free texts both are believed until a person settles it."""

    id: UUID
    kind: str
    fact_id: UUID
    fact_statement: str
    fact_acted_by: str
    fact_recorded_at: Instant
    other_fact_id: UUID
    other_statement: str
    other_acted_by: str
    other_recorded_at: Instant
    domain: str
    topic: str
    is_open: bool
    settled_as: str = Field(description="What a person kept: `new`, `old` or `both`; empty as long as nobody did.")
    settled_at: Instant | None
    recorded_at: Instant
    event_id: UUID
    scope_ref: str


class ConflictPage(Out):
    """`waiting`, on the first page: statements that wait for a person because they contradict what is believed."""

    items: list[ConflictOut]
    cursor: str | None
    waiting: list[ProposalOut]


class SettleIn(ReasonIn):
    keep: Kept = Field(description="What holds: the `new` statement, the `old` one, or `both`.")


Settlement = Annotated[SettleIn, Body(...)]
