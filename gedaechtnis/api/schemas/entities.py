from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from ninja.params.functions import Body
from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out, PageIn
from gedaechtnis.api.schemas.facts import AsOfIn, FactOut
from gedaechtnis.common.wire import Instant

Status = Literal["active", "archived", "merged", "deprecated"]


class EntitiesIn(PageIn):
    q: str = Field(default="", max_length=500, description="A name or alias, part of one, or nearly one.")
    kind: str | None = Field(default=None, max_length=100)
    status: Status = "active"


class EntityOut(Out):
    id: UUID
    ref: str
    kind: str
    kind_label: str
    icon: str
    name: str
    aliases: list[str]
    description: str
    status: str
    scope_ref: str
    is_self: bool
    created_at: Instant
    fact_count: int
    last_learned_at: Instant | None
    redirected_from: UUID | None = Field(default=None, description="The merged entity that was asked for.")


class MergeIn(In):
    force: bool = Field(default=False, description="Also if they are of different kinds.")
    based_on_event_id: UUID | None = Field(default=None, description="The last event of either that was seen.")
    reason: str = Field(default="", max_length=2000)


class ClashOut(Out):
    """Two facts that claimed the same instants: which one holds there now, and which one gave way."""

    kept: UUID
    yielded: UUID


class MergeOut(Out):
    event_id: UUID
    source_id: UUID
    target_id: UUID
    target_ref: str
    moved: int
    clashes: list[ClashOut]
    self_loops: list[UUID]


class SplitIn(In):
    move: list[UUID] = Field(
        default_factory=list, max_length=1000, description="Facts learned since that belong to the one split off."
    )
    reason: str = Field(default="", max_length=2000)


class LearnedOut(Out):
    """A fact learned about the merged one, and whose it seems to be."""

    fact_id: UUID
    statement: str
    belongs_to: UUID


class SplitOut(Out):
    already_reversed: bool
    source_id: UUID
    target_id: UUID
    event_id: UUID | None
    learned_since: list[LearnedOut]
    not_restored: list[UUID]


class UndoIn(In):
    reason: str = Field(default="", max_length=2000)


class UndoOut(Out):
    event_id: UUID
    fact_ids: list[UUID]
    closed_fact_ids: list[UUID]


OptionalMerge = Annotated[MergeIn, Body(MergeIn())]
OptionalSplit = Annotated[SplitIn, Body(SplitIn())]
OptionalUndo = Annotated[UndoIn, Body(UndoIn())]


class EntityPage(Out):
    items: list[EntityOut]
    cursor: str | None


class NeighborsIn(AsOfIn):
    depth: int = Field(default=1, ge=1, le=3, description="How many relationships away.")
    predicate: str | None = Field(default=None, max_length=200)


class NeighborOut(Out):
    entity: EntityOut
    distance: int


class NeighborsOut(Out):
    """`complete` is false where more relationships were found than an answer holds."""

    items: list[NeighborOut] = Field(validation_alias="neighbors")
    facts: list[FactOut]
    complete: bool
    valid_at: Instant
    known_at: Instant
    basis: str


class ChangePointOut(Out):
    at: Instant
    changes: int


class TimelineOut(Out):
    """Every instant at which something changed: `valid` in the world, `known` in what is believed."""

    valid: list[ChangePointOut]
    known: list[ChangePointOut]
