from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.common.wire import Instant


class AliasIn(In):
    alias: str = Field(max_length=500)
    namespace: str = Field(default="name", max_length=100, description="`name`, or where a handle is from.")
    valid_from: str | None = Field(default=None, max_length=100)
    valid_to: str | None = Field(default=None, max_length=100)


class EndAliasIn(In):
    mode: Literal["end", "retract"] = Field(default="end", description="`retract`: it never was the name.")
    at: str | None = Field(default=None, max_length=100, description="Since when; now by default.")


class AliasOut(Out):
    id: UUID
    entity_id: UUID
    alias: str
    namespace: str
    valid_from: Instant | None
    valid_to: Instant | None
    recorded_at: Instant
    superseded_at: Instant | None
    scope_ref: str


class AliasesOut(Out):
    items: list[AliasOut]


class EndedOut(Out):
    """`left`: the name as it was borne until then."""

    left: AliasOut | None
