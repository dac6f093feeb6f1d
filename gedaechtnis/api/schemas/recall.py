"""Asking for what is remembered."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import Out
from gedaechtnis.api.schemas.facts import AsOfIn
from gedaechtnis.common.wire import Instant
from gedaechtnis.memory.selectors.context import DEFAULT_BUDGET, MAX_TEXT
from gedaechtnis.memory.selectors.recall.hits import MAX_LIMIT, Mode, SourceKind


class ContextIn(AsOfIn):
    """A message, and where its writer is."""

    text: str = Field(max_length=MAX_TEXT, description="The message that the run is about to answer.")
    chat_id: UUID | None = Field(default=None, description="Helps to tell namesakes apart.")
    applies_to: list[str] = Field(
        default=[],
        max_length=20,
        description="References to what the run works in; facts of other contexts are left out.",
    )
    task: str | None = Field(default=None, max_length=300, description="A reference to the task, device or session.")
    repo: str | None = Field(
        default=None, max_length=200, description="The repository at hand: what is bound to it comes first."
    )
    budget_tokens: int = Field(
        default=DEFAULT_BUDGET,
        ge=100,
        le=20_000,
        description="Rules, notes and facts of what is named stay, even beyond it.",
    )


class LinkedOut(Out):
    """Something the message speaks of; `said` is how."""

    id: UUID
    ref: str
    name: str
    said: str


class ContextOut(Out):
    """`policies` are the facts that the rules are; `policies_read` is false where they could not be read.

    `tokens` is an upper estimate. `timings_ms` by step, and `total`.
    """

    text: str
    fact_ids: list[UUID]
    entities: list[LinkedOut]
    policies: list[UUID]
    policies_read: bool
    tokens: int
    timings_ms: dict[str, float]


class SearchIn(AsOfIn):
    """A question, and what to restrict the answer to before it is counted off."""

    query: str = Field(description="Of a long one the last 2,000 characters are used: the question stands at the end.")
    mode: Mode = Field(default="hybrid", description="`keyword` asks no model; `semantic` weighs no times, no graph.")
    kinds: list[str] = Field(default=[], max_length=50, description="Kinds of the entities it is about.")
    source_kinds: list[SourceKind] = Field(default=[], max_length=7)
    chat: str | None = Field(
        default=None, max_length=500, description="A conversation: its id, or the one it came with."
    )
    predicate: str | None = Field(default=None, max_length=200)
    repo: str | None = Field(
        default=None, min_length=1, max_length=100, description="A repository's slug: what is known of it comes first."
    )
    time_range: tuple[str, str] | None = Field(
        default=None, description="`[from, to)`: what was said then, and facts that held in it."
    )
    limit: int = Field(default=10, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(default=None, max_length=2_000, description="`cursor` of the page before.")


class HitOut(Out):
    """One thing found, as it is at the moment asked about.

    `score` lies between 0 and 1 and compares within one answer. `voices` are those that found it, with what each added.
    What `is_superseded` ended at `valid_to`; `superseded_by` is the fact that holds instead.
    """

    source_kind: SourceKind
    ref: str
    fact_id: UUID | None
    message_id: UUID | None
    external_id: str | None
    chat: UUID | None
    text: str
    score: float
    voices: dict[Literal["lexical", "semantic", "temporal", "graph"], float]
    valid_from: Instant | None
    valid_to: Instant | None
    occurred_at: Instant | None
    speaker: str
    scope_ref: str
    is_superseded: bool
    superseded_by: UUID | None


class SearchOut(Out):
    """Hits, the best first; `missing` says which voices were absent and why."""

    hits: list[HitOut]
    missing: list[str]
    basis: str
    cursor: str | None
    is_truncated: bool
    used_length: int
