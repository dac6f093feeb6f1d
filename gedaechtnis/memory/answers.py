"""What reads return: plain, immutable views. Doors render these and never touch tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectView:
    """The object of a fact. `label` is for people; `value` is the literal; `ref` the entity."""

    kind: str  # literal | entity
    value: Any = None
    ref: str | None = None
    entity_id: UUID | None = None
    entity_scope: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceView:
    kind: str
    text: str
    ref: str | None
    source: str
    rank: int
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FactView:
    """One belief row, as the contract names its fields; instants aware, UTC. Unknown start = None."""

    id: UUID
    subject_id: UUID
    subject_ref: str
    subject_scope: str  # of the subject itself: a private note may be about a group's thing
    subject_label: str
    predicate: str
    predicate_label: str
    inverse_label: str  # how it reads from the object: "owns" for "belongs to"
    polarity: bool
    object: ObjectView
    statement: str
    status: str  # active | superseded | expired | invalidated
    valid_from: datetime | None
    valid_to: datetime | None
    valid_from_precision: str
    valid_to_precision: str
    valid_from_stated: bool
    valid_to_stated: bool
    recorded_at: datetime
    superseded_at: datetime | None
    observed_at: datetime | None
    learned_at: datetime
    last_touched_at: datetime  # when it was last stated; recalling it touches nothing
    confidence: float
    source: str
    source_trust_tier: str
    memory_type: str
    rank: int
    acted_by: str
    scope_ref: str
    applies_to_ref: str | None
    domain: str  # the key of the domain it is filed under; "" for none
    topic: str
    supersedes_fact_id: UUID | None
    closed_by_fact_id: UUID | None
    closed_reason: str | None
    origin_fact_id: UUID
    run_id: str | None
    reason: str | None
    evidence: tuple[EvidenceView, ...] = ()
    mentions: int = 1
    recalls: int = 0  # how often it was told in answers: counted to this day, and only read where a fact stands alone
    last_recalled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsAnswer:
    """Facts at a moment. `basis` is opaque: asked again with it as `known_at`, the answer is the same for ever."""

    facts: tuple[FactView, ...]
    valid_at: datetime
    known_at: datetime
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    id: UUID
    ref: str  # kind:slug
    kind: str
    kind_label: str
    icon: str
    name: str
    aliases: tuple[str, ...]
    description: str
    status: str
    scope_ref: str
    is_self: bool
    created_at: datetime
    fact_count: int = 0
    last_learned_at: datetime | None = None
    redirected_from: UUID | None = None  # the merged entity that was asked for

    @property
    def asked_id(self) -> UUID:
        """The entity that was asked for, also where it was merged since: questions about the past name it."""
        return self.redirected_from or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasView:
    """Another name of an entity, on both axes of time. Unknown start = None."""

    id: UUID
    entity_id: UUID
    alias: str
    namespace: str
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    scope_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """An instant at which something about an entity changed, on one of the two axes."""

    at: datetime
    changes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The change points of one entity: `valid` = what held, `known` = what the agent knew."""

    valid: tuple[ChangePoint, ...]
    known: tuple[ChangePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a listing; `cursor` continues it, None at the end."""

    items: tuple[T, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictView:
    """A statement that was written although another one contradicts it; each side with who said it, and when.

    `settled_as`: what a person kept: `new` (the fact), `old` (the other), `both`; "" as long as nobody did.
    """

    id: UUID
    kind: str
    fact_id: UUID
    fact_statement: str
    fact_acted_by: str
    fact_recorded_at: datetime
    other_fact_id: UUID
    other_statement: str
    other_acted_by: str
    other_recorded_at: datetime
    domain: str
    topic: str
    is_open: bool
    settled_as: str
    settled_at: datetime | None
    settled_by: str
    recorded_at: datetime
    event_id: UUID
    scope_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateView:
    """One of several things that a name could mean, told apart from the others by `label`."""

    id: UUID
    ref: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbor:
    entity: EntityView
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborsAnswer:
    """What is around an entity at a moment, and the relationships that lead there; not `complete` if there are more."""

    neighbors: tuple[Neighbor, ...]
    facts: tuple[FactView, ...]
    complete: bool
    valid_at: datetime
    known_at: datetime
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """An interval in which two facts held; unknown start = None, open end = None."""

    first: FactView
    second: FactView
    valid_from: datetime | None
    valid_to: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapAnswer:
    together: tuple[Together, ...]
    known_at: datetime
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A belief came (`believed`) or went (`closed`)."""

    id: str
    at: datetime
    kind: str
    fact: FactView


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """Something that happened, and which facts it wrote and closed, as far as the reader sees them."""

    id: UUID
    event_type: str
    summary: str
    occurred_at: datetime
    recorded_at: datetime
    acted_by: str
    scope_ref: str
    run_id: str | None
    target_entity_id: UUID | None
    caused_by_event_id: UUID | None
    fact_ids: tuple[UUID, ...]
    closed_fact_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportView:
    """How far an import is; `left_out` counts rows by table that name entities which are not here."""

    id: UUID
    state: str  # running | done | refused
    scope_ref: str
    keeps_ids: bool
    rows: int
    rows_done: int
    left_out: dict[str, int]
    problem: str | None
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalView:
    """A waiting operation, told as one sentence of belief and one of why (`why_code` is its stable word)."""

    id: UUID
    kind: str  # fact | conflict | entity | question | merge
    state: str  # open | accepted | rejected
    statement: str
    why: str
    why_code: str
    quote: str
    proposed_by: str
    scope_ref: str
    created_at: datetime
    decided_at: datetime | None
    fact_id: UUID | None
    operation: dict[str, Any] = field(default_factory=dict)
    present: str | None = None  # what is believed in the slot now, or contradicts it, if anything
    against: tuple[UUID, ...] = ()  # the statements that it contradicts without replacing them, by any of their rows
    question: str | None = None  # which of the candidates is meant
    candidates: tuple[CandidateView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictsAnswer(Page[ConflictView]):
    """Conflicts that were written; on the first page also the statements that wait because they contradict others."""

    waiting: tuple[ProposalView, ...] = ()
