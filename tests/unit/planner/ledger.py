"""Applies plans to rows in memory, as the tables would, and answers the two questions about time."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.planner import (
    UNKNOWN_START,
    Assert,
    Belief,
    Bound,
    Close,
    End,
    Insert,
    Operation,
    Plan,
    PlanOutcome,
    Rank,
    Retract,
    plan,
)

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    """Valid and system time of the tests: day `number` after the epoch."""
    return EPOCH + timedelta(days=number)


def code_of(refused: pytest.ExceptionInfo[Problem]) -> tuple[str, int]:
    """Code and HTTP status of a refusal."""
    return refused.value.code, refused.value.status


@dataclass(slots=True)
class Recorded:
    row: Insert
    recorded_at: datetime
    closed: Close | None = None
    superseded_at: datetime | None = None


@dataclass(slots=True)
class Ledger:
    """One slot group. Ids count up, so that tests can name rows: the first row is `UUID(int=1)`."""

    functional: bool = True
    recorded: dict[UUID, Recorded] = field(default_factory=dict)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def believed(self) -> list[Belief]:
        return [entry.row for entry in self.recorded.values() if entry.superseded_at is None]

    def apply(self, operation: Operation, tick: datetime) -> Plan:
        made = plan(self.believed(), operation, tick, lambda: UUID(int=next(self.ids)))
        assert made.tick == tick
        if made.outcome is not PlanOutcome.COMMITTED:
            assert not made.closes
            assert not made.inserts
        for close in made.closes:
            entry = self.recorded[close.id]
            assert entry.superseded_at is None, "a plan closes only what is believed"
            entry.closed, entry.superseded_at = close, tick
        for row in made.inserts:
            assert row.valid_to is None or row.valid_from < row.valid_to
            assert row.id not in self.recorded
            self.recorded[row.id] = Recorded(row, tick)
        return made

    def say(
        self,
        value: str,
        start: int | Bound | None = None,
        end: int | Bound | None = None,
        *,
        now: int,
        rank: int = Rank.PERSON,
        **flags: object,
    ) -> Plan:
        """State a value; days instead of bounds; the message and the tick are of day `now`."""
        flags.setdefault("functional", self.functional)
        statement = Assert(
            object_key=value,
            valid_from=Bound(day(start)) if isinstance(start, int) else start,
            valid_to=Bound(day(end)) if isinstance(end, int) else end,
            default_from=Bound(day(now)),
            rank=rank,
            **flags,  # type: ignore[arg-type]
        )
        return self.apply(statement, day(now))

    def end(self, row: UUID | None, at: int | Bound, *, now: int, **flags: object) -> Plan:
        assert row is not None
        bound = Bound(day(at)) if isinstance(at, int) else at
        return self.apply(
            End(fact_id=row, origin_id=self.origin(row), at=bound, **flags),  # type: ignore[arg-type]
            day(now),
        )

    def retract(self, row: UUID | None, *, now: int, **flags: object) -> Plan:
        assert row is not None
        return self.apply(
            Retract(fact_id=row, origin_id=self.origin(row), **flags),  # type: ignore[arg-type]
            day(now),
        )

    def origin(self, row: UUID) -> UUID:
        """The origin of a row of any age."""
        return self.recorded[row].row.origin_id

    def held(self, instants: Sequence[datetime], known_at: datetime | None = None) -> list[list[str]]:
        """What held at each of the ascending instants, as believed today or as known then."""
        cells: list[list[str]] = [[] for _ in instants]
        for entry in self.recorded.values():
            if known_at is None:
                believed = entry.superseded_at is None
            else:
                believed = entry.recorded_at <= known_at and (
                    entry.superseded_at is None or known_at < entry.superseded_at
                )
            if believed:
                first = bisect_left(instants, entry.row.valid_from)
                behind = bisect_left(instants, entry.row.valid_to) if entry.row.valid_to else len(cells)
                for cell in range(first, behind):
                    cells[cell].append(_shown(entry.row))
        return [sorted(cell) for cell in cells]

    def now(self, valid_at: int) -> list[str]:
        """What held on a day, as believed today."""
        return self.held([day(valid_at)])[0]

    def known(self, known_at: int, valid_at: int) -> list[str]:
        """What was believed on day `known_at` to hold on day `valid_at`."""
        return self.held([day(valid_at)], day(known_at))[0]

    def shape(self) -> str:
        """The believed rows by start, such as `A[1,5) B[5,∞)`; `-∞` is the unknown start."""
        rows = sorted(self.believed(), key=lambda row: (row.valid_from, row.id))
        return " ".join(f"{_shown(row)}[{_day(row.valid_from)},{_day(row.valid_to)})" for row in rows)

    def reasons(self) -> dict[str, str]:
        """Why each closed row was closed, by its value and interval."""
        return {
            f"{_shown(e.row)}[{_day(e.row.valid_from)},{_day(e.row.valid_to)})": e.closed.reason.value
            for e in self.recorded.values()
            if e.closed
        }


def _shown(row: Belief) -> str:
    return f"{'' if row.polarity else 'not-'}{row.object_key}"


def _day(at: datetime | None) -> str:
    if at is None:
        return "∞"
    return "-∞" if at == UNKNOWN_START else str((at - EPOCH).days)
