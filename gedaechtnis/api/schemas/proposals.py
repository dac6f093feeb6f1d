from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja.params.functions import Body
from pydantic import Field

from gedaechtnis.api.schemas.common import Out, PageIn, ReasonIn
from gedaechtnis.common.wire import Instant

State = Literal["open", "accepted", "rejected", "all"]


class ProposalsIn(PageIn):
    state: State = "open"


class ReviewItemsIn(PageIn):
    status: State = "open"


class AcceptIn(ReasonIn):
    candidate_id: UUID | None = Field(default=None, description="The answer to a question: one of its candidates.")
    keep: Literal["new", "old", "both"] | None = Field(
        default=None,
        description="Of a statement that contradicts believed ones (`against`), what holds. Without it both are "
        "written, and the contradiction stays open.",
    )


class AnswerIn(AcceptIn):
    action: Literal["accept", "reject"]


class CandidateOut(Out):
    id: UUID
    ref: str
    label: str


class ProposalOut(Out):
    id: UUID
    kind: str
    state: str
    statement: str
    why: str
    quote: str
    proposed_by: str
    scope_ref: str
    created_at: Instant
    decided_at: Instant | None
    fact_id: UUID | None
    operation: dict[str, Any]
    present: str | None
    against: list[UUID]
    question: str | None
    candidates: list[CandidateOut]


OptionalAcceptance = Annotated[AcceptIn, Body(AcceptIn())]


class ProposalPage(Out):
    items: list[ProposalOut]
    cursor: str | None
