"""What a search is restricted to, as a condition on projections: it holds before anything is counted off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Restrictions of one search; what is None or empty does not restrict.

    Args:
        ticks: system time asked about, per scope; beliefs of scopes not named answer nothing.
        is_of_today: these are the latest ticks, so what is believed no longer need not be looked at.
        valid_at: world time asked about; without it, what has ended is found too.
        said_until: nothing that happened or was said later.
        time_range: `[from, to)`: episodes and events of it, and facts that held in it; what has no time falls out.
        kinds: kinds of the entities it is about.
    """

    ticks: Mapping[str, datetime]
    is_of_today: bool = False
    source_kinds: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    predicate: str | None = None
    chat_id: UUID | None = None
    valid_at: datetime | None = None
    said_until: datetime | None = None
    time_range: tuple[datetime, datetime] | None = None

    @property
    def restricts(self) -> bool:
        """Whether anything but system time is restricted."""
        return any(getattr(self, field.name) for field in fields(self) if field.name not in ("ticks", "is_of_today"))

    def condition(self, alias: str = "p") -> tuple[str, list[Any]]:
        """A condition on `memory_projections` under `alias`, with its parameters."""
        parts: list[str] = []
        parameters: list[Any] = []

        def that(condition: str, *values: Any) -> None:
            parts.append(f"({condition.replace('p.', alias + '.')})")
            parameters.extend(values)

        # What was said is no belief: it counts from when it was said, whatever the scope's clock shows.
        known = "p.scope_ref = %s AND p.recorded_at <= %s AND (p.superseded_at IS NULL OR p.superseded_at > %s)"
        that(
            " OR ".join(["p.source_kind = 'episode'", *(f"({known})" for _ in self.ticks)]),
            *(value for scope_ref, tick in self.ticks.items() for value in (scope_ref, tick, tick)),
        )
        if self.source_kinds:
            that("p.source_kind = ANY(%s)", list(self.source_kinds))
        if self.kinds:
            that("p.kind = ANY(%s)", list(self.kinds))
        if self.predicate:
            that("p.predicate = %s", self.predicate)
        if self.chat_id:
            that("p.chat_id = %s", self.chat_id)
        if self.valid_at:
            that("p.valid_from IS NULL OR p.valid_from <= %s", self.valid_at)
            that("p.valid_to IS NULL OR p.valid_to > %s", self.valid_at)
        if self.said_until:
            that("p.occurred_at IS NULL OR p.occurred_at <= %s", self.said_until)
        if self.time_range:
            start, end = self.time_range
            that(
                "(p.occurred_at >= %s AND p.occurred_at < %s) OR "
                "(p.occurred_at IS NULL AND p.valid_from < %s AND (p.valid_to IS NULL OR p.valid_to > %s))",
                start, end, end, start,
            )  # fmt: skip
        return " AND ".join(parts), parameters
