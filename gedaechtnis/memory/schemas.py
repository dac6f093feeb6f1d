"""What callers send: a proposal of operations, and what they get back.

Names are the REST contract (see docs/reference/api.md). These models check form only;
meaning (kinds, references, scope, rank) is checked by the committer.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

MAX_SOURCES, MAX_REASON = 50, 2_000


class MemoryType(StrEnum):
    """Closed list; each has its route, retention class and decay in `memory.memory_types`."""

    USER_ASSERTION = "user_assertion"
    CORRECTION = "correction"
    PREFERENCE = "preference"
    DERIVED_PREFERENCE = "derived_preference"
    DERIVED_PATTERN = "derived_pattern"
    POLICY = "policy"
    OBSERVED_STATE = "observed_state"
    AGENT_ACTION = "agent_action"
    DECISION = "decision"
    COMMITMENT = "commitment"
    HYPOTHESIS = "hypothesis"
    IMPORTED = "imported"
    NOTE = "note"


class Source(StrEnum):
    """Where a statement comes from, as the server judges it."""

    USER_ASSERTION = "user_assertion"
    ASSISTANT_OUTPUT = "assistant_output"
    TOOL_RESULT = "tool_result"
    SYSTEM_RULE = "system_rule"
    INFERENCE = "inference"
    OBSERVATION = "observation"


class Outcome(StrEnum):
    """What became of one operation."""

    COMMITTED = "committed"
    RESTATED = "restated"
    PENDING = "pending"
    REJECTED = "rejected"
    DUPLICATE = "duplicate"
    WITHHELD = "withheld"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Evidence(_Strict):
    """What a statement rests on: a quote of a stored message (`ref` = `msg:<id>`) or a reference."""

    kind: Literal["conversation_quote", "tool_result", "observation", "import", "note"] = "conversation_quote"
    text: str = Field(default="", max_length=8000)
    ref: str | None = Field(default=None, max_length=500)


class _Operation(_Strict):
    confidence: float = Field(default=1.0, ge=0, le=1)
    source: Source = Source.USER_ASSERTION
    memory_type: MemoryType = MemoryType.USER_ASSERTION
    evidence: Evidence | None = None
    reason: str | None = Field(default=None, max_length=MAX_REASON)
    caused_by_event_id: UUID | None = None


class UpsertEntity(_Operation):
    op: Literal["upsert_entity"] = "upsert_entity"
    id_hint: str = Field(max_length=300)
    kind: str = Field(max_length=100)
    canonical_name: str = Field(max_length=500)
    aliases: list[str] = Field(default_factory=list, max_length=50)
    description: str | None = Field(default=None, max_length=8000)
    valid_from: str | None = None


class _Assertion(_Operation):
    """Bounds: RFC 3339 instants, or dates, months (`2024-03`) or years read in the scope's zone.

    `"unknown"` as start = not known.
    """

    subject_ref: str = Field(max_length=300)
    predicate: str = Field(max_length=200)
    polarity: bool = True
    valid_from: str | None = None
    valid_to: str | None = None
    observed_at: str | None = None
    still: bool = False
    correction: bool = False
    replaces_fact_id: str | None = None
    based_on_fact_id: str | None = None
    applies_to_ref: str | None = None
    statement: str | None = Field(default=None, max_length=8000)
    domain: str | None = Field(default=None, max_length=200)
    topic: str | None = Field(default=None, max_length=200)


class AssertFact(_Assertion):
    op: Literal["assert_fact"] = "assert_fact"
    object_value: Any
    sources: list[Annotated[str, Field(max_length=500)]] = Field(
        default_factory=list, max_length=MAX_SOURCES, exclude_if=lambda refs: not refs
    )
    """References of observations it rests on: they are kept as evidence, and confirm nothing by themselves."""


class AssertRelationship(_Assertion):
    op: Literal["assert_relationship"] = "assert_relationship"
    object_ref: str = Field(max_length=300)


class InvalidateFact(_Operation):
    op: Literal["invalidate_fact"] = "invalidate_fact"
    target_fact_id: str
    mode: Literal["retract", "end"] = "retract"
    at: str | None = None
    piece: bool = False


class AddAlias(_Operation):
    op: Literal["add_alias"] = "add_alias"
    entity_ref: str = Field(max_length=300)
    alias: str = Field(max_length=500)
    namespace: str = Field(default="name", max_length=100)
    valid_from: str | None = None
    valid_to: str | None = None


class RecordEvent(_Operation):
    op: Literal["record_event"] = "record_event"
    event_type: str = Field(max_length=200)
    target_ref: str | None = Field(default=None, max_length=300)
    occurred_at: str | None = None
    summary: str = Field(default="", max_length=8000)
    payload: dict[str, Any] = Field(default_factory=dict)


Operation = Annotated[
    UpsertEntity | AssertFact | AssertRelationship | InvalidateFact | AddAlias | RecordEvent,
    Field(discriminator="op"),
]


class MemoryMutationProposal(_Strict):
    """One transaction: operations refused by a rule are reported, the others go on."""

    run_id: str | None = Field(default=None, max_length=200)
    chat_id: UUID | None = None
    operations: list[Operation] = Field(min_length=1, max_length=200)


class OperationResult(BaseModel):
    op_index: int
    outcome: Outcome
    entity_ref: str | None = None
    entity_id: UUID | None = None
    fact_id: UUID | None = None
    proposal_id: UUID | None = None
    closed_fact_ids: list[UUID] = Field(default_factory=list)
    conflict_id: UUID | None = None
    event_id: UUID | None = None
    code: str | None = None
    reason: str | None = None
    field: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class ProposalResult(BaseModel):
    run_id: str
    results: list[OperationResult]
