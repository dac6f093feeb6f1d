"""Half-open intervals of valid time whose edges know how exactly they are known and who set them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from gedaechtnis.common.instants import UNKNOWN, Bound, Precision

FOREVER = datetime.max.replace(tzinfo=UTC)
"""Where an open end lies in comparisons; rows store null instead."""

_DATE_PARTS = {Precision.DAY: 3, Precision.MONTH: 2, Precision.YEAR: 1}
_COARSENESS = list(Precision)


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of an interval. `stated`: somebody said so; otherwise it is inferred."""

    at: datetime
    precision: Precision = Precision.INSTANT
    stated: bool = False

    @classmethod
    def of(cls, bound: Bound, *, stated: bool) -> Edge:
        return cls(bound.at, bound.precision, stated)

    def inferred(self) -> Edge:
        """The same edge as the bound of something that only borders on it."""
        return replace(self, stated=False)


OPEN = Edge(FOREVER)
UNKNOWN_EDGE = Edge.of(UNKNOWN, stated=False)


@dataclass(frozen=True, slots=True)
class Interval:
    """`[start, end)`. May be empty while bounds are being settled; rows never are."""

    start: Edge
    end: Edge

    @property
    def empty(self) -> bool:
        return self.end.at <= self.start.at

    def holds(self, at: datetime) -> bool:
        return self.start.at <= at < self.end.at

    def overlaps(self, other: Interval) -> bool:
        return self.start.at < other.end.at and other.start.at < self.end.at

    def until(self, edge: Edge) -> tuple[Interval, ...]:
        """The part before `edge`, as a tuple of none or one."""
        return (Interval(self.start, edge),) if self.start.at < edge.at else ()

    def minus(self, other: Interval) -> tuple[Interval, ...]:
        """The zero to two parts outside `other`; where they border on it, their edge is inferred."""
        if not self.overlaps(other):
            return (self,)
        after = Interval(other.end.inferred(), self.end)
        return self.until(other.start.inferred()) + (() if after.empty else (after,))

    def outside(self, holes: Iterable[Interval]) -> list[Interval]:
        """The parts outside all of `holes`, in order."""
        free = [self]
        for hole in holes:
            free = [part for span in free for part in span.minus(hole)]
        return free

    def within(self, other: Interval) -> Interval:
        """The part shared with `other` (they must overlap); an edge that `other` sets is inferred."""
        return Interval(
            self.start if self.start.at >= other.start.at else other.start.inferred(),
            self.end if self.end.at <= other.end.at else other.end.inferred(),
        )


def is_finer(edge: Edge, other: Edge, zone: tzinfo) -> bool:
    """Whether both state one and the same bound, `edge` more exactly: a day of `other`'s month, say.

    Calendar periods are those of `zone`. An edge of unknown precision names no period, and one
    that was only inferred makes no claim about when something began or ended: neither compares.
    """
    parts = _DATE_PARTS.get(other.precision)
    if parts is None or not (edge.stated and other.stated):
        return False
    if _COARSENESS.index(edge.precision) >= _COARSENESS.index(other.precision):
        return False
    return _calendar(edge, zone)[:parts] == _calendar(other, zone)[:parts]


def _calendar(edge: Edge, zone: tzinfo) -> tuple[int, int, int]:
    local = edge.at.astimezone(zone)
    return local.year, local.month, local.day
