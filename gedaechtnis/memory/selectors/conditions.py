"""Conditions on belief rows, as the text of a statement.

For the questions behind every page: Django takes longer to put such a statement together than the database to answer
it, and one that is always written alike is planned once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.scoping import rows
from gedaechtnis.world.models import Fact

Beliefs = Literal["believed", "all"]
_BELIEVED = "scope_ref = %s AND recorded_at <= %s AND (superseded_at IS NULL OR superseded_at > %s)"
_RECORDED = "scope_ref = %s AND recorded_at <= %s"


@dataclass(kw_only=True)
class Conditions:
    """What all must hold of the rows; each method adds to it and returns it."""

    _parts: list[str] = field(default_factory=list)
    _parameters: list[Any] = field(default_factory=list)

    def that(self, condition: str, *parameters: Any) -> Conditions:
        self._parts.append(f"({condition})")
        self._parameters += parameters
        return self

    def naming(self, column: Literal["subject_id", "object_entity_id"], ids: list[UUID]) -> Conditions:
        return self.that(f"{column} = ANY(%s)", ids)

    def known_at(self, moment: Moment, beliefs: Beliefs = "believed") -> Conditions:
        """Believed by each scope at its own tick, or (`all`) recorded by then; scopes not named answer nothing."""
        if not moment.ticks:
            return self.that("false")
        parameters: list[Any] = []
        for scope_ref, tick in moment.ticks.items():
            parameters += [scope_ref, tick] if beliefs == "all" else [scope_ref, tick, tick]
        known = _RECORDED if beliefs == "all" else _BELIEVED
        return self.that(" OR ".join([f"({known})"] * len(moment.ticks)), *parameters)

    def valid_at(self, instant: datetime) -> Conditions:
        """Half-open: a row that ends at an instant no longer counts there."""
        return self.that("valid_from <= %s AND (valid_to IS NULL OR valid_to > %s)", instant, instant)

    def touching(self, start: datetime, end: datetime) -> Conditions:
        """Rows that share at least one instant with `[start, end)`."""
        return self.that("valid_from < %s AND (valid_to IS NULL OR valid_to > %s)", end, start)

    @property
    def text(self) -> str:
        return " AND ".join(self._parts)

    @property
    def parameters(self) -> list[Any]:
        return self._parameters

    def facts(self, limit: int | None = None) -> list[Fact]:
        """The rows, in the order in which they are told; the first `limit` of them."""
        tail = " ORDER BY predicate, valid_from, recorded_at, id LIMIT %s"
        return rows.select(Fact, self.text + tail, [*self._parameters, limit])
