from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from gedaechtnis.api.schemas.common import Instant, Out, PageIn, ReasonIn

State = Literal["open", "accepted", "rejected", "all"]


class ProposalsIn(PageIn):
    state: State = "open"


class ReviewItemsIn(PageIn):
    status: State = "open"


class AnswerIn(ReasonIn):
    action: Literal["accept", "reject"]


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


class ProposalPage(Out):
    items: list[ProposalOut]
    cursor: str | None
