"""What the tools answer, as data: the same as their text, for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from gedaechtnis.common.wire import Instant
from gedaechtnis.knowledge.hot import HotEntry
from gedaechtnis.knowledge.pads import Observation, Pad
from gedaechtnis.knowledge.policies import PolicyView
from gedaechtnis.knowledge.preamble import Preamble
from gedaechtnis.memory.answers import ConflictView, EntityView, EventView, FactView, ProposalView
from gedaechtnis.memory.schemas import OperationResult, Outcome
from gedaechtnis.memory.selectors.recall.hits import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """`text` for a model to read, `data` for a program."""

    text: str
    data: BaseModel

    def as_json(self) -> dict[str, Any]:
        return self.data.model_dump(mode="json")


class EntityData(BaseModel):
    ref: str
    id: UUID
    kind: str
    name: str
    aliases: list[str]
    status: str
    scope_ref: str
    fact_count: int

    @classmethod
    def of(cls, entity: EntityView) -> EntityData:
        return cls(
            ref=entity.ref,
            id=entity.id,
            kind=entity.kind,
            name=entity.name,
            aliases=list(entity.aliases),
            status=entity.status,
            scope_ref=entity.scope_ref,
            fact_count=entity.fact_count,
        )


class FactData(BaseModel):
    """A belief; of `value` and `object_ref` the one it has. Unknown start and open end are null."""

    id: UUID
    subject_ref: str
    predicate: str
    polarity: bool
    value: Any
    object_ref: str | None
    object_label: str
    statement: str
    status: str
    valid_from: Instant | None
    valid_to: Instant | None
    valid_from_precision: str
    valid_to_precision: str
    recorded_at: Instant
    superseded_at: Instant | None
    confidence: float
    source: str
    scope_ref: str
    applies_to_ref: str | None
    domain: str
    topic: str

    @classmethod
    def of(cls, fact: FactView) -> FactData:
        return cls(
            id=fact.id,
            subject_ref=fact.subject_ref,
            predicate=fact.predicate,
            polarity=fact.polarity,
            value=fact.object.value,
            object_ref=fact.object.ref,
            object_label=fact.object.label,
            statement=fact.statement,
            status=fact.status,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
            valid_from_precision=fact.valid_from_precision,
            valid_to_precision=fact.valid_to_precision,
            recorded_at=fact.recorded_at,
            superseded_at=fact.superseded_at,
            confidence=fact.confidence,
            source=fact.source,
            scope_ref=fact.scope_ref,
            applies_to_ref=fact.applies_to_ref,
            domain=fact.domain,
            topic=fact.topic,
        )

    @classmethod
    def all(cls, facts: Iterable[FactView]) -> list[FactData]:
        return [cls.of(fact) for fact in facts]


class EntitiesData(BaseModel):
    items: list[EntityData]
    cursor: str | None


class FactsData(BaseModel):
    """`total` counts what there is beyond the limit too."""

    items: list[FactData]
    total: int


class FactsAtData(FactsData):
    """At a moment; asked again with `basis`, the answer of the REST door is the same for ever."""

    valid_at: Instant
    known_at: Instant
    basis: str


class EntityFactsData(BaseModel):
    entity: EntityData
    facts: list[FactData]
    relationships: list[FactData]
    total: int


class NeighborData(BaseModel):
    entity: EntityData
    distance: int


class NeighborsData(BaseModel):
    """`complete` is false where more relationships were found than one answer holds."""

    items: list[NeighborData]
    relationships: list[FactData]
    complete: bool


class DossierData(EntityFactsData):
    """An entity with what is known of the things around it, and what changed last."""

    around: list[FactData]
    changed: list[FactData]


class EvidenceData(BaseModel):
    kind: str
    text: str
    ref: str | None
    recorded_at: Instant


class ExplanationData(BaseModel):
    fact: FactData
    evidence: list[EvidenceData]
    run_id: str | None
    earlier: list[FactData]
    closed_by: FactData | None


class EventData(BaseModel):
    id: UUID
    event_type: str
    summary: str
    occurred_at: Instant
    recorded_at: Instant
    run_id: str | None
    caused_by_event_id: UUID | None
    wrote: list[FactData]
    closed: list[FactData]

    @classmethod
    def of(cls, event: EventView, facts: dict[UUID, FactView]) -> EventData:
        return cls(
            id=event.id,
            event_type=event.event_type,
            summary=event.summary,
            occurred_at=event.occurred_at,
            recorded_at=event.recorded_at,
            run_id=event.run_id,
            caused_by_event_id=event.caused_by_event_id,
            wrote=FactData.all(facts[id] for id in event.fact_ids if id in facts),
            closed=FactData.all(facts[id] for id in event.closed_fact_ids if id in facts),
        )


class EventsData(BaseModel):
    items: list[EventData]
    total: int


class HitData(BaseModel):
    """`voices`: by which ways it was found, and what each added to the score."""

    source_kind: str
    ref: str
    fact_id: UUID | None
    message_id: UUID | None
    text: str
    score: float
    voices: dict[str, float]
    valid_from: Instant | None
    valid_to: Instant | None
    occurred_at: Instant | None
    speaker: str
    is_superseded: bool

    @classmethod
    def of(cls, hit: Hit) -> HitData:
        return cls(**{name: getattr(hit, name) for name in cls.model_fields})


class SearchData(BaseModel):
    """`missing`: ways that were not gone, and why."""

    items: list[HitData]
    missing: list[str]
    cursor: str | None


class ConflictData(BaseModel):
    """`settled_as`: what a person kept, `new` (the fact), `old` (the other) or `both`; empty as long as nobody did."""

    id: UUID
    kind: str
    fact_id: UUID
    fact_statement: str
    fact_acted_by: str
    fact_recorded_at: Instant
    other_fact_id: UUID
    other_statement: str
    other_acted_by: str
    other_recorded_at: Instant
    domain: str
    topic: str
    is_open: bool
    settled_as: str
    recorded_at: Instant

    @classmethod
    def of(cls, conflict: ConflictView) -> ConflictData:
        return cls(**{name: getattr(conflict, name) for name in cls.model_fields})


class WaitingConflictData(BaseModel):
    """A statement that waits for a person because it contradicts believed ones (`against`, told in `present`)."""

    proposal_id: UUID
    statement: str
    proposed_by: str
    present: str
    against: list[UUID]
    domain: str
    topic: str
    created_at: Instant

    @classmethod
    def of(cls, waiting: ProposalView) -> WaitingConflictData:
        return cls(
            proposal_id=waiting.id,
            statement=waiting.statement,
            proposed_by=waiting.proposed_by,
            present=waiting.present or "",
            against=list(waiting.against),
            domain=waiting.operation.get("domain") or "",
            topic=waiting.operation.get("topic") or "",
            created_at=waiting.created_at,
        )


class ConflictsData(BaseModel):
    items: list[ConflictData]
    waiting: list[WaitingConflictData]
    cursor: str | None


class ProposedData(BaseModel):
    """What became of what was proposed, as the committer says it."""

    outcome: Outcome
    run_id: str
    fact_id: UUID | None
    proposal_id: UUID | None
    closed_fact_ids: list[UUID]
    conflict_id: UUID | None

    @classmethod
    def of(cls, result: OperationResult, run_id: str) -> ProposedData:
        told = {name: getattr(result, name) for name in cls.model_fields if name != "run_id"}
        return cls(run_id=run_id, **told)


class NotesData(BaseModel):
    """An agent's notes; version 0 where it never wrote any."""

    text: str
    version: int
    updated_at: Instant | None

    @classmethod
    def of(cls, pad: Pad) -> NotesData:
        return cls(text=pad.text, version=pad.version, updated_at=pad.updated_at)


class ObservationData(BaseModel):
    """What was noticed; `ref` names it as a source."""

    id: UUID
    ref: str
    text: str
    recorded_at: Instant

    @classmethod
    def of(cls, seen: Observation) -> ObservationData:
        return cls(id=seen.id, ref=seen.ref, text=seen.text, recorded_at=seen.recorded_at)


class HotEntryData(BaseModel):
    """What is to be remembered, and what became of it."""

    id: UUID
    domain: str
    topic: str
    text: str
    memory_type: str
    session_id: str
    state: str
    recorded_at: Instant

    @classmethod
    def of(cls, entry: HotEntry) -> HotEntryData:
        return cls(
            id=entry.id,
            domain=entry.domain,
            topic=entry.topic,
            text=entry.text,
            memory_type=entry.memory_type,
            session_id=entry.session_id,
            state=entry.state,
            recorded_at=entry.recorded_at,
        )


class PreambleData(BaseModel):
    """The facts that its rules and its facts are. `policies_read`: false where the rules could not be read."""

    policies: list[UUID]
    fact_ids: list[UUID]
    policies_read: bool

    @classmethod
    def of(cls, told: Preamble) -> PreambleData:
        return cls(policies=list(told.policies), fact_ids=list(told.fact_ids), policies_read=told.policies_read)


class PolicyData(BaseModel):
    """A rule. What is not active was switched off, or begins later."""

    id: UUID
    rule: str
    domain: str
    required_role: str | None
    is_active: bool
    scope_ref: str
    valid_from: Instant
    valid_to: Instant | None
    source: str
    acted_by: str

    @classmethod
    def of(cls, policy: PolicyView) -> PolicyData:
        return cls(**{name: getattr(policy, name) for name in cls.model_fields})


class WaitingData(BaseModel):
    proposal_id: UUID
    statement: str


class PoliciesData(BaseModel):
    """`characters` and `tokens`: what the active ones take of each run."""

    items: list[PolicyData]
    characters: int
    tokens: int
    waiting: list[WaitingData]
