"""What the tools for a workspace answer, as data."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel

from gedaechtnis.common.wire import Instant
from gedaechtnis.knowledge.consolidation import Consolidated
from gedaechtnis.knowledge.harmonizing import Harmonized
from gedaechtnis.knowledge.hot import HotEntry
from gedaechtnis.knowledge.pads import Observation, Pad
from gedaechtnis.knowledge.policies import PolicyView
from gedaechtnis.knowledge.preamble import Preamble
from gedaechtnis.memory.services.contradictions import Raised, Side


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


class ConsolidatedData(BaseModel):
    """What became of how many entries. `left` are those still to be consolidated."""

    promoted: int
    merged: int
    known: int
    dropped: int
    left: int
    proposals: list[UUID]

    @classmethod
    def of(cls, done: Consolidated) -> ConsolidatedData:
        return cls.model_validate(done, from_attributes=True)


class SideData(BaseModel):
    """A statement that is believed (`fact_id`) or waits (`proposal_id`), and who brought it up when."""

    text: str
    voice: str
    since: Instant
    fact_id: UUID | None
    proposal_id: UUID | None

    @classmethod
    def of(cls, side: Side) -> SideData:
        return cls(
            text=side.text, voice=side.voice, since=side.since, fact_id=side.origin_id, proposal_id=side.proposal_id
        )


class PairData(BaseModel):
    """Two statements that contradict each other, and where a person is asked about them."""

    domain: str
    topic: str
    new: SideData
    old: SideData
    conflict_id: UUID | None
    proposal_id: UUID | None

    @classmethod
    def of(cls, raised: Raised) -> PairData:
        pair = raised.pair
        return cls(
            domain=pair.domain,
            topic=pair.topic,
            new=SideData.of(pair.new),
            old=SideData.of(pair.old),
            conflict_id=raised.conflict_id,
            proposal_id=raised.proposal_id,
        )


class HarmonizedData(BaseModel):
    """The pairs a person is asked about now; `compared`: how many statements were looked at."""

    items: list[PairData]
    compared: int

    @classmethod
    def of(cls, done: Harmonized) -> HarmonizedData:
        return cls(items=[PairData.of(one) for one in done.raised], compared=done.compared)
