from __future__ import annotations

from typing import Any, Literal
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
    source: str = Field(description="Where an imported one is from (`chatgpt`, …); empty for one's own.")
    external_id: str | None


class ChatList(Out):
    items: list[ChatOut]
    cursor: str | None


class ImportIn(In):
    format: Literal["chatgpt", "claude", "gemini", "jsonl"] | None = Field(
        default=None, description="Recognised without it."
    )
    learn: bool = Field(default=False, description="Whether the curator reads the chats as well.")


class ChatFlawOut(Out):
    """The `number`-th `unit` (file, line, chat, entry, message) of a file, and why."""

    file: str
    unit: str
    number: int
    reason: str


class ChatImportOut(Out):
    """`messages` are new, `known` were there before; at the end they are `staged` together.

    `broken` lists the first of `broken_count`; `passed_over` are files without chats.
    """

    id: UUID
    state: str
    learn: bool
    staged: int
    chats: int
    messages: int
    known: int
    learned: int
    broken: list[ChatFlawOut]
    broken_count: int
    passed_over: list[str]
    started_at: Instant
    ended_at: Instant | None


class FactChipOut(Out):
    fact_id: UUID
    entity_ref: str
    entity_id: UUID
    label: str


class PartOut(Out):
    kind: str
    text: str
    name: str
    is_hidden: bool


class MessageOut(Out):
    """Of an imported one, `parts` hold what was more than text; `is_hidden` and not `is_current` are not shown."""

    id: UUID
    seq: int
    role: str
    text: str
    created_at: Instant
    sent_at: Instant
    run_id: UUID | None
    speaker: str
    external_id: str | None
    is_hidden: bool
    is_current: bool
    parts: list[PartOut]
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
