"""Collects what an operation closes and inserts; believed rows themselves never change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict
from uuid import UUID

from gedaechtnis.common.instants import Precision
from gedaechtnis.memory.planner.intervals import FOREVER, Interval
from gedaechtnis.memory.planner.rows import Assert, Belief, Close, ClosedReason, Insert


@dataclass(slots=True)
class Writer:
    """The closes and inserts of one operation, in the order in which they were decided."""

    new_id: Callable[[], UUID]
    closes: list[Close] = field(default_factory=list)
    inserts: list[Insert] = field(default_factory=list)

    def close(self, row: Belief, reason: ClosedReason, closed_by: UUID | None = None) -> None:
        self.closes.append(Close(row.id, reason, closed_by))

    def cut(self, row: Belief, holes: Sequence[Interval], reason: ClosedReason, closed_by: UUID | None) -> None:
        """Close a row and write again what of it lies outside `holes`."""
        self.close(row, reason, closed_by)
        for remainder in row.interval.outside(holes):
            self.copy(row, remainder)

    def copy(
        self, row: Belief, interval: Interval, *, rank: int | None = None, made_at: datetime | None = None
    ) -> Insert:
        """A piece of a row: same statement, same origin, another interval (or, confirmed, rank)."""
        return self._insert(
            Insert(
                id=self.new_id(),
                copy_of=row.id,
                object_key=row.object_key,
                polarity=row.polarity,
                rank=row.rank if rank is None else rank,
                origin_id=row.origin_id,
                made_at=made_at or row.made_at,
                **columns_of_interval(interval),
            )
        )

    def state(self, statement: Assert, interval: Interval, supersedes: UUID | None) -> Insert:
        """The new statement itself, on one interval; its own origin."""
        new = self.new_id()
        return self._insert(
            Insert(
                id=new,
                supersedes=supersedes,
                object_key=statement.object_key,
                polarity=statement.polarity,
                rank=statement.rank,
                origin_id=new,
                made_at=statement.said_at,
                **columns_of_interval(interval),
            )
        )

    def _insert(self, row: Insert) -> Insert:
        self.inserts.append(row)
        return row


class _Columns(TypedDict):
    valid_from: datetime
    valid_to: datetime | None
    valid_from_precision: Precision
    valid_to_precision: Precision
    valid_from_stated: bool
    valid_to_stated: bool


def columns_of_interval(interval: Interval) -> _Columns:
    """The bounds of an interval as a row stores them."""
    start, end = interval.start, interval.end
    return {
        "valid_from": start.at,
        "valid_to": None if end.at == FOREVER else end.at,
        "valid_from_precision": start.precision,
        "valid_to_precision": end.precision,
        "valid_from_stated": start.stated,
        "valid_to_stated": end.stated,
    }
