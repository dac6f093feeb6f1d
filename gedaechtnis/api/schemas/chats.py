from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.api.schemas.proposals import ProposalOut
from gedaechtnis.common.wire import Instant


class ChatIn(In):
    title: str = Field(default="", max_length=200)


class MessageIn(In):
    text: str
    client_id: str | None = Field(default=None, min_length=1, max_length=100)
    sent_at: str | None = Field(default=None, max_length=100)


class MessagesIn(In):
    after: int | None = Field(default=None, ge=0, le=2**63 - 1, description="The `seq` of the last message seen.")
    limit: int = Field(default=100, ge=1, le=200)


class ChatOut(Out):
    id: UUID
    title: str
    is_main: bool
    created_at: Instant


class ChatList(Out):
    items: list[ChatOut]
    cursor: None = None


class FactChipOut(Out):
    fact_id: UUID
    entity_ref: str
    entity_id: UUID
    label: str


class MessageOut(Out):
    id: UUID
    seq: int
    role: str
    text: str
    created_at: Instant
    run_id: UUID | None
    facts: list[FactChipOut] = Field(validation_alias="fact_chips")
    review_items: list[ProposalOut]


class MessagePage(Out):
    items: list[MessageOut]
    cursor: str | None


class ReplyOut(Out):
    text: str
    fact_ids: list[UUID]


class PostedOut(Out):
    """`reply` is null where nothing is to be answered."""

    message_id: UUID
    run_id: UUID
    reply: ReplyOut | None


class CuratorRunOut(Out):
    outcome: str
    skipped_because: str | None
    operations: list[dict[str, Any]]
    ran_at: Instant


class CuratorOut(Out):
    watermark: int
    pending_turns: int
    due_at: Instant | None
    last_run: CuratorRunOut | None
