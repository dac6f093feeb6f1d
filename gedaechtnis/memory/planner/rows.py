"""What goes into the planner and what comes out of it. Instants are aware UTC, intervals half-open."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from uuid import UUID

from gedaechtnis.common.instants import Bound, Precision
from gedaechtnis.common.rank import Rank
from gedaechtnis.memory.planner.intervals import FOREVER, Edge, Interval


class ClosedReason(StrEnum):
    """Why a row is believed no longer."""

    CHANGED = "changed"  # it held, then something else did
    CORRECTED = "corrected"  # it never held (there)
    ENDED = "ended"
    RETRACTED = "retracted"
    CONFIRMED = "confirmed"  # said again with more authority or more exactly
    MERGED = "merged"
    UNDONE = "undone"


class PlanOutcome(StrEnum):
    """What becomes of an operation that was not refused."""

    COMMITTED = "committed"
    RESTATED = "restated"  # nothing new: evidence is all that is added
    PROPOSAL = "proposal"  # nothing is written; a person decides


class ConflictKind(StrEnum):
    """What stands against a statement."""

    RANK = "rank"  # a higher rank claims part of the interval
    IMMUTABLE = "immutable"  # a second value of something that cannot change
    UNKNOWN_START = "unknown_start"  # another value holds where this one, of unknown start, ends
    CONTRADICTION = "contradiction"  # written, but both claimed the same instants


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """One believed row. All rows of a call share scope, subject, predicate and applies_to.

    `object_key` is equal exactly for equal objects. `made_at` is when the statement, or its last
    confirmation at this rank, was made: up to then a person's word is protected from observations.
    `valid_to` None = open; an unknown start is `UNKNOWN_START` with precision `unknown`.
    """

    id: UUID
    object_key: Hashable
    polarity: bool
    valid_from: datetime
    valid_to: datetime | None
    valid_from_precision: Precision = Precision.INSTANT
    valid_to_precision: Precision = Precision.INSTANT
    valid_from_stated: bool
    valid_to_stated: bool
    rank: int
    origin_id: UUID
    made_at: datetime

    @property
    def interval(self) -> Interval:
        return Interval(
            Edge(self.valid_from, self.valid_from_precision, self.valid_from_stated),
            Edge(self.valid_to or FOREVER, self.valid_to_precision, self.valid_to_stated),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Belief):
    """A row to write.

    `copy_of` None: the new statement itself, its own origin. Otherwise everything that describes
    the statement and is not a field here is copied from that row (a remainder, or a confirmed row).
    `supersedes`: the row whose place the new statement takes; None on copies, which keep theirs.
    """

    copy_of: UUID | None = None
    supersedes: UUID | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """A believed row to close. `closed_by` is the row that answers in its place, if there is one."""

    id: UUID
    reason: ClosedReason
    closed_by: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assert:
    """A statement about the slot.

    Args:
        functional: at most one value at a time. `immutable` implies it.
        valid_from: None = not said. `UNKNOWN` = said to be unknown.
        valid_to: None = end not stated.
        still: stated to hold at the time of the statement, without an end.
        correction: what it replaces was wrong all along. Without `valid_from` it takes the interval
            of the competing belief current at the time of the statement.
        replaces_origin_id: origin of the belief that this one follows (with `correction`: refutes).
        based_on_fact_id: the row that the caller saw; no longer believed = a stale write.
        decided: a person saw what stands against it and wants it written all the same.
        authority_source: the predicate lets a trusted observation change what a person said earlier.
        default_from: the time of the message or observation: what an unsaid `valid_from` means
            and what counts as "now" for this statement.
        start_defaults_unknown: an unsaid `valid_from` means unknown (kinship, a first name).
            Immutable predicates do so anyway.
        refines: keys of objects that this object says more exactly (1990-04-03 for 1990).
        refined_by: keys of objects that say more exactly what this object says.
        zone: the scope's time zone, in which days, months and years are compared.
    """

    object_key: Hashable
    polarity: bool = True
    functional: bool
    immutable: bool = False
    valid_from: Bound | None = None
    valid_to: Bound | None = None
    still: bool = False
    correction: bool = False
    replaces_origin_id: UUID | None = None
    based_on_fact_id: UUID | None = None
    decided: bool = False
    rank: int
    authority_source: bool = False
    default_from: Bound
    start_defaults_unknown: bool = False
    refines: frozenset[Hashable] = frozenset()
    refined_by: frozenset[Hashable] = frozenset()
    zone: tzinfo = UTC

    @property
    def said_at(self) -> datetime:
        return self.default_from.at

    @property
    def refutes(self) -> bool:
        """Whether what it replaces was wrong all along; a second value of something immutable says so too."""
        return self.correction or (self.decided and self.immutable)

    @property
    def single_valued(self) -> bool:
        """Whether the statement names the one value of a functional slot (a negative one never does)."""
        return self.polarity and (self.functional or self.immutable)

    def equals(self, row: Belief) -> bool:
        """Whether a row says the same."""
        return row.object_key == self.object_key and row.polarity == self.polarity

    def competes_with(self, row: Belief) -> bool:
        """X and not-X compete everywhere; two different values only in a functional slot."""
        if row.object_key == self.object_key:
            return row.polarity != self.polarity
        return self.single_valued and row.polarity

    def refines_row(self, row: Belief) -> bool:
        """Whether a row says less exactly what this statement says."""
        return self.polarity and row.polarity and row.object_key in self.refines

    def is_refined_by(self, row: Belief) -> bool:
        """Whether a row says more exactly what this statement says."""
        return self.polarity and row.polarity and row.object_key in self.refined_by


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A belief stopped holding `at`. Acts on all believed rows of the origin, or only on one piece."""

    fact_id: UUID
    origin_id: UUID
    at: Bound
    piece: bool = False
    rank: int = Rank.PERSON
    authority_source: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retract:
    """A belief never held. Acts on all believed rows of the origin, or only on one piece."""

    fact_id: UUID
    origin_id: UUID
    piece: bool = False
    rank: int = Rank.PERSON


Operation = Assert | End | Retract


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a statement waits, or what it contradicted; `fact_ids` are the believed rows in question."""

    kind: ConflictKind
    fact_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do at `tick`: close rows, then insert rows; both happen at that one system time.

    `evidence_for`: origins of equal believed rows that gain this operation's evidence.
    `primary`: the believed row that answers for the operation afterwards; None if nothing does.
    `conflict`: always there on a proposal; on a commit only if unequal values claimed the same
    instants and it was no plain succession.
    """

    tick: datetime
    outcome: PlanOutcome
    closes: tuple[Close, ...] = ()
    inserts: tuple[Insert, ...] = ()
    evidence_for: tuple[UUID, ...] = ()
    primary: UUID | None = None
    conflict: Conflict | None = None
