from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.common.wire import Instant
from gedaechtnis.knowledge.consolidation import DEFAULT_LIMIT as ENTRIES
from gedaechtnis.knowledge.consolidation import MAX_LIMIT as MAX_ENTRIES
from gedaechtnis.knowledge.harmonizing import DEFAULT_LIMIT as PAIRS
from gedaechtnis.knowledge.harmonizing import MAX_LIMIT as MAX_PAIRS

State = Literal["hot", "promoted", "merged", "known", "dropped"]


class WhoseIn(In):
    """Whose notes, and where."""

    scope_ref: str | None = Field(default=None, max_length=100, description="A workspace; the token's own without it.")
    agent: str | None = Field(
        default=None, max_length=50, description="The role of an agent of yours; a person may ask for any."
    )


class ListIn(WhoseIn):
    limit: int = Field(default=50, ge=1, le=200)


class HotIn(ListIn):
    session_id: str | None = Field(default=None, max_length=200)
    state: State = "hot"


class NotesIn(In):
    text: str = Field(description="All of it, at most 8,000 characters.")
    based_on_version: int | None = Field(
        default=None, ge=0, le=2**31 - 1, description="The version that was changed; none for the first notes."
    )


class NotesOut(Out):
    agent: str
    text: str
    version: int
    updated_at: Instant | None


class ObservationIn(In):
    text: str = Field(min_length=1, max_length=2000)


class ObservationOut(Out):
    """`ref` names it as a source of what is proposed."""

    id: UUID
    ref: str
    agent: str
    text: str
    recorded_at: Instant


class ObservationsOut(Out):
    items: list[ObservationOut]


class RememberIn(In):
    text: str = Field(min_length=1, max_length=2000)
    domain: str = Field(default="general", min_length=1, max_length=200)
    topic: str = Field(default="", max_length=200)
    repo: str | None = Field(default=None, min_length=1, max_length=80)
    session_id: str | None = Field(default=None, max_length=200)
    memory_type: str = Field(default="note", max_length=30)


class HotEntryOut(Out):
    """`state` is `hot` until it is decided what becomes of it."""

    id: UUID
    scope_ref: str
    agent: str
    session_id: str
    domain: str
    topic: str
    text: str
    memory_type: str
    recorded_at: Instant
    state: State
    proposal_id: UUID | None
    into_id: UUID | None
    decided_at: Instant | None


class HotEntriesOut(Out):
    items: list[HotEntryOut]


class ConsolidateIn(In):
    session_id: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=ENTRIES, ge=1, le=MAX_ENTRIES, description="How many entries, the oldest first.")


class ConsolidatedOut(Out):
    """What became of how many entries; `left` are still hot, `proposals` wait for a person because of it."""

    promoted: int
    merged: int
    known: int
    dropped: int
    left: int
    proposals: list[UUID]


class HarmonizeIn(In):
    domain: str | None = Field(default=None, min_length=1, max_length=200)
    repo: str | None = Field(default=None, min_length=1, max_length=80)
    limit: int = Field(default=PAIRS, ge=1, le=MAX_PAIRS, description="About how many pairs a person is asked.")


class SideOut(Out):
    """A statement that is believed (`origin_id`: its fact) or waits (`proposal_id`), and who brought it up when."""

    text: str
    voice: str
    since: Instant
    origin_id: UUID | None
    proposal_id: UUID | None


class PairOut(Out):
    domain: str
    topic: str
    new: SideOut
    old: SideOut


class RaisedOut(Out):
    """A pair that a person is asked about now, by a conflict or by a proposal that waits."""

    pair: PairOut
    conflict_id: UUID | None
    proposal_id: UUID | None


class HarmonizedOut(Out):
    """`compared`: how many statements were looked at."""

    raised: list[RaisedOut]
    compared: int
