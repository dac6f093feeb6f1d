from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja.params.functions import Body
from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out, PageIn, ReasonIn
from gedaechtnis.common.wire import Instant


class AsOfIn(In):
    """A moment on both axes. A bare date means its last instant, today means now."""

    valid_at: str | None = Field(default=None, max_length=100, description="When it held in the world.")
    known_at: str | None = Field(
        default=None, max_length=20_000, description="What was known then: an instant, a date, or a `basis`."
    )
    as_of: str | None = Field(default=None, max_length=100, description="Sets both.")


_CONTEXT = "A reference: what is said of this context, and what is said without one."


class EntityFactsIn(AsOfIn):
    predicate: str | None = Field(default=None, max_length=200)
    applies_to: str | None = Field(default=None, max_length=300, description=_CONTEXT)
    beliefs: Literal["believed", "all"] = "believed"
    valid_from: str | None = Field(default=None, max_length=100, description="With `valid_to`: what touches the range.")
    valid_to: str | None = Field(default=None, max_length=100)
    bounds: Literal["stored", "clamped"] | None = None


class HistoryIn(PageIn):
    predicate: str | None = Field(default=None, max_length=200)
    beliefs: Literal["believed", "all"] = "believed"


class MatchingFactsIn(AsOfIn):
    predicate: str = Field(max_length=200)
    applies_to: str | None = Field(default=None, max_length=300, description=_CONTEXT)
    object: str | None = Field(default=None, max_length=65_536, description="A reference, or a literal as JSON.")


class ObjectOut(Out):
    kind: str
    value: Any
    ref: str | None
    label: str


class EvidenceOut(Out):
    kind: str
    text: str
    ref: str | None
    source: str
    rank: int
    recorded_at: Instant


class FactOut(Out):
    id: UUID
    subject_ref: str
    subject_label: str
    predicate: str
    predicate_label: str
    polarity: bool
    object: ObjectOut
    statement: str
    status: str
    valid_from: Instant | None
    valid_to: Instant | None
    valid_from_precision: str
    valid_to_precision: str
    recorded_at: Instant
    superseded_at: Instant | None
    observed_at: Instant | None
    learned_at: Instant
    last_touched_at: Instant
    confidence: float
    source: str
    source_trust_tier: str
    memory_type: str
    rank: int
    scope_ref: str
    applies_to_ref: str | None
    domain: str
    topic: str
    supersedes_fact_id: UUID | None
    closed_by_fact_id: UUID | None
    closed_reason: str | None
    origin_fact_id: UUID
    run_id: str | None
    reason: str | None
    evidence: list[EvidenceOut]
    mentions: int


class FactAloneOut(FactOut):
    """A fact that is read by itself, with how often it was told in answers."""

    recalls: int
    last_recalled_at: Instant | None


class FactsOut(Out):
    """Facts at a moment; asked again with `basis` as `known_at`, the answer is the same for ever."""

    items: list[FactOut] = Field(validation_alias="facts")
    valid_at: Instant
    known_at: Instant
    basis: str


class FactPage(Out):
    items: list[FactOut]
    cursor: str | None


class ExplanationOut(Out):
    fact: FactAloneOut
    chain: list[FactOut]
    closed_by: FactOut | None


class TogetherOut(Out):
    """An interval in which both facts held; a null start is unknown, a null end open."""

    first: FactOut
    second: FactOut
    valid_from: Instant | None
    valid_to: Instant | None


class OverlapIn(In):
    a: UUID = Field(description="A fact, by any of its rows.")
    b: UUID = Field(description="The other one.")
    known_at: str | None = Field(default=None, max_length=20_000, description="An instant, a date, or a `basis`.")


class OverlapOut(Out):
    items: list[TogetherOut] = Field(validation_alias="together")
    known_at: Instant
    basis: str


class ChangeOut(Out):
    """A belief came (`believed`) or went (`closed`) at an instant of system time."""

    at: Instant
    kind: Literal["believed", "closed"]
    fact: FactOut


class ChangePage(Out):
    items: list[ChangeOut]
    cursor: str | None


class InvalidateIn(ReasonIn):
    piece: bool = False


class EndIn(ReasonIn):
    at: str | None = Field(default=None, max_length=100, description="When it stopped; now without it.")
    piece: bool = False


OptionalInvalidate = Annotated[InvalidateIn, Body(InvalidateIn())]
OptionalEnd = Annotated[EndIn, Body(EndIn())]


class CorrectIn(In):
    """Only the fields that change. A `valid_to` of null opens the end."""

    object_value: Any = None
    object_ref: str = Field(default="", max_length=300)
    polarity: bool = True
    valid_from: str = Field(default="", max_length=100)
    valid_to: str | None = Field(default=None, max_length=100)
    statement: str | None = Field(default=None, max_length=8000)
