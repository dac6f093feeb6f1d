from __future__ import annotations

from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.api.schemas.entities import EntityOut
from gedaechtnis.memory.resolution import Step


class ResolveIn(In):
    ref: str = Field(min_length=1, max_length=500, description="A UUID, `kind:slug`, `me`, a name or an alias.")
    kind: str | None = Field(default=None, max_length=100)


class ResolvedOut(Out):
    """What a name means. Below the step `exact` it is a guess.

    `candidates` are all that it could mean where it is not clear, or what resembles it.
    """

    name: str
    kind: str | None
    entity_id: UUID | None
    ref: str | None
    step: Step | None
    is_new: bool
    is_reference: bool
    needs_clarification: bool
    question: str | None
    candidates: list[EntityOut]
