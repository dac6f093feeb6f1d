"""What the chat shows: plain views."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gedaechtnis.memory.answers import ProposalView


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChip:
    """A fact an answer rests on; `label` is one short sentence."""

    fact_id: UUID
    entity_ref: str
    entity_id: UUID
    entity_scope: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    id: UUID
    seq: int
    role: str  # user | assistant | review | notice
    text: str
    created_at: datetime
    fact_chips: tuple[FactChip, ...] = ()
    review_items: tuple[ProposalView, ...] = ()
    run_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    id: UUID
    scope_ref: str
    title: str
    is_main: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """`reply` is None while a model still streams."""

    message_id: UUID
    run_id: UUID
    reply: MessageView | None
