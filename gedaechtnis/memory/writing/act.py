"""One operation under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gedaechtnis.memory.writing.entities import EntityBook
from gedaechtnis.memory.writing.provenance import Provenance
from gedaechtnis.memory.writing.session import WriteSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Where an operation stands in its proposal, at which tick it happens, and on whose word.

    `decided`: a person accepted it, whatever stands against it. `settled`: origins of statements that contradict it, of
    which the person said what becomes of them.
    """

    session: WriteSession
    book: EntityBook
    index: int
    tick: datetime
    provenance: Provenance
    decided: bool = False
    settled: frozenset[UUID] = frozenset()

    @property
    def said_at(self) -> datetime:
        """When it was said or observed; the tick where nobody knows better."""
        return self.provenance.said_at or self.tick
