"""What the tools answer, as data: the same as their text, for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from gedaechtnis.common.wire import Instant
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
