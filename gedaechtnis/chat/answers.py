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
class PartView:
    """A piece of an imported message; `kind` as in `chat/imports/stream.py`."""

    kind: str
    text: str = ""
    name: str = ""
    is_hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """`sent_at` is when it was said, `created_at` when it was stored here: long after, where it was imported."""

    id: UUID
    seq: int
    role: str  # user | assistant | review | notice | other
    text: str
    created_at: datetime
    sent_at: datetime
    fact_chips: tuple[FactChip, ...] = ()
    review_items: tuple[ProposalView, ...] = ()
    run_id: UUID | None = None
    speaker: str = ""
    external_id: str | None = None
    is_hidden: bool = False
    is_current: bool = True
    parts: tuple[PartView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    id: UUID
    scope_ref: str
    title: str
    is_main: bool
    created_at: datetime
    source: str = ""
    external_id: str | None = None
    last_seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A message (`message_id`) in its conversation; `earlier_id` and `later_id` are messages beyond, if there are."""

    chat: ChatView
    message_id: UUID
    messages: tuple[MessageView, ...]
    earlier_id: UUID | None
    later_id: UUID | None

    @property
    def message(self) -> MessageView:
        return next(message for message in self.messages if message.id == self.message_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """`reply` is None while a model still streams."""

    message_id: UUID
    run_id: UUID
    reply: MessageView | None


@dataclass(frozen=True, slots=True)
class ChatFlaw:
    """What could not be read, or not wholly: the `number`-th `unit` of `file`, and why, as a stable word."""

    file: str
    unit: str  # file | line | chat | entry | message
    number: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far a chat import is. `messages` are new, `known` were there before, together at last as many as `staged`.

    `broken` lists the first of `broken_count`; `passed_over` are files without chats.
    """

    id: UUID
    state: str  # running | done
    learn: bool
    staged: int
    chats: int
    messages: int
    known: int
    learned: int
    broken: tuple[ChatFlaw, ...]
    broken_count: int
    passed_over: tuple[str, ...]
    started_at: datetime
    ended_at: datetime | None

    @property
    def done(self) -> int:
        return self.messages + self.known
