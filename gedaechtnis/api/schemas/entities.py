from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Instant, Out, PageIn

Status = Literal["active", "archived", "merged", "deprecated"]


class EntitiesIn(PageIn):
    q: str = Field(default="", max_length=500, description="A name or alias, part of one, or nearly one.")
    kind: str | None = Field(default=None, max_length=100)
    status: Status = "active"


class ResolveIn(In):
    ref: str = Field(min_length=1, max_length=500, description="A UUID, `kind:slug`, `me`, a name or an alias.")
    kind: str | None = Field(default=None, max_length=100)


class EntityOut(Out):
    id: UUID
    ref: str
    kind: str
    kind_label: str
    icon: str
    name: str
    aliases: list[str]
    description: str
    status: str
    scope_ref: str
    is_self: bool
    created_at: Instant
    fact_count: int
    last_learned_at: Instant | None


class EntityPage(Out):
    items: list[EntityOut]
    cursor: str | None


class ResolvedOut(Out):
    """What a name means. `candidates` are all that it could mean where it is not clear, or what sounds alike."""

    name: str
    kind: str | None
    entity_id: UUID | None = None
    ref: str | None = None
    is_new: bool = False
    is_reference: bool = False
    needs_clarification: bool = False
    question: str | None = None
    candidates: list[EntityOut] = Field(default_factory=list)
