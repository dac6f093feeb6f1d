"""What the server answers. Fields that a newer server adds are left out; instants are aware, in UTC."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """What a fact says of its subject: `value` where `kind` is "literal", `ref` where it is "entity"."""

    kind: str
    value: Any = None
    ref: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One belief; unknown start and open end are None."""

    id: str
    subject_ref: str
    subject_label: str
    predicate: str
    polarity: bool
    object: Object
    statement: str
    status: str
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    learned_at: datetime
    confidence: float
    source: str
    memory_type: str
    scope_ref: str
    applies_to_ref: str | None
    supersedes_fact_id: str | None
    closed_by_fact_id: str | None
    closed_reason: str | None
    domain: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts at a moment; asked again with `basis` as `known_at`, the answer is the same for ever."""

    items: tuple[Fact, ...]
    valid_at: datetime
    known_at: datetime
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    id: str
    ref: str
    kind: str
    name: str
    aliases: tuple[str, ...]
    description: str
    status: str
    scope_ref: str
    is_self: bool
    created_at: datetime
    fact_count: int = 0
    last_learned_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
    """What became of one operation: committed, restated, pending, rejected, duplicate or withheld."""

    op_index: int
    outcome: str
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)
    entity_id: str | None = None
    fact_id: str | None = None
    proposal_id: str | None = None
    event_id: str | None = None
    code: str | None = None
    reason: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something that waits for a person, or that one decided."""

    id: str
    kind: str
    state: str
    statement: str
    why: str
    quote: str
    proposed_by: str
    scope_ref: str
    created_at: datetime
    decided_at: datetime | None
    fact_id: str | None
    question: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedEntity:
    """Something a message speaks of; `said` is how."""

    id: str
    ref: str
    name: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """`text` for the prompt of a run, "" where nothing is known; `tokens` is an upper estimate.

    `policies_read` is false where the rules could not be read: then the text says so.
    """

    text: str
    fact_ids: tuple[str, ...]
    entities: tuple[LinkedEntity, ...]
    tokens: int
    timings_ms: dict[str, float]
    policies: tuple[str, ...] = ()
    policies_read: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    """`text` for the beginning of a prompt, "" where there is nothing to tell; `policies` and `fact_ids` are in it.

    `policies_read` is false where the rules could not be read: then the text says so.
    """

    text: str
    policies: tuple[str, ...]
    fact_ids: tuple[str, ...]
    policies_read: bool
    timings_ms: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that a search found, and which voices found it; superseded, it held until `valid_to`."""

    source_kind: str
    ref: str
    text: str
    score: float
    voices: dict[str, float]
    fact_id: str | None = None
    message_id: str | None = None
    external_id: str | None = None
    chat: str | None = None
    speaker: str = ""
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    is_superseded: bool = False
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The best first. `missing` says which voices were absent and why; `cursor`, given back, fetches the next ones."""

    hits: tuple[Hit, ...]
    missing: tuple[str, ...]
    basis: str
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a name means, and by which `step`; `question` where a person must say which."""

    name: str
    ref: str | None
    entity_id: str | None
    step: str | None
    is_new: bool
    needs_clarification: bool
    question: str | None
    candidates: tuple[Entity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    text: str
    fact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A message that was stored; `reply` is None where nothing was to be answered."""

    message_id: str
    run_id: str
    reply: Reply | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool for a model; the schemas are JSON Schema."""

    name: str
    title: str
    description: str
    is_reading: bool
    is_destructive: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """`text` is for a model to read, `data` the same for a program."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """An agent's own notes; version 0 where it never wrote any."""

    agent: str
    text: str
    version: int
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an agent noticed; `ref` names it as a source."""

    id: str
    ref: str
    text: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What became of how many entries; `left` are still to be consolidated."""

    promoted: int
    merged: int
    known: int
    dropped: int
    left: int
    proposals: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A statement, who brought it up (`voice`) and since when."""

    text: str
    voice: str
    since: datetime
    origin_id: str | None = None
    proposal_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two statements that contradict each other."""

    domain: str
    topic: str
    new: Side
    old: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A pair that a person is asked about, by a conflict or a proposal."""

    pair: Pair
    conflict_id: str | None = None
    proposal_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Harmonized:
    """The pairs a person is asked about now, of so many statements."""

    raised: list[Raised]
    compared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HotEntry:
    """What an agent wants remembered; `state` is "hot" until it is decided what becomes of it."""

    id: str
    domain: str
    topic: str
    text: str
    memory_type: str
    session_id: str
    state: str
    recorded_at: datetime
