"""The believed rows of a scope as one write transaction sees them: stored ones, and its own not yet stored.

Rows are read a group at a time and kept up to date in memory, so that the operations of a proposal see each other
and a proposal of any length costs a few statements. Nothing is stored before `flush()`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from gedaechtnis.common import canonical
from gedaechtnis.memory.writing.quota import tokens_of
from gedaechtnis.scoping.rows import insert_made
from gedaechtnis.world.models import Fact


class Group(NamedTuple):
    """Where beliefs can touch each other; `object_key` None where all objects of the predicate do."""

    subject_id: UUID
    predicate: str
    applies_to_id: UUID | None
    object_key: UUID | None


@dataclass(kw_only=True)
class Ledger:
    """Made by a write session, which holds the scope's clock: nobody else changes these rows meanwhile.

    `growth` is by how many tokens the scope holds more than what is stored (`writing/quota.py`).
    """

    scope_ref: str
    growth: int = 0
    _stored: dict[Group, dict[UUID, Fact]] = field(default_factory=dict)
    _new: dict[Group, dict[UUID, Fact]] = field(default_factory=lambda: defaultdict(dict))
    _unstored: set[UUID | None] = field(default_factory=set)
    _closed: list[Fact] = field(default_factory=list)
    _inserted: list[Fact] = field(default_factory=list)

    def begin_entity(self, entity_id: UUID) -> None:
        """An entity made in this transaction: nothing can be stored about it, from either end."""
        self._unstored |= {entity_id, canonical.object_key(entity_id=entity_id)}

    def group(self, group: Group) -> dict[UUID, Fact]:
        """The believed rows of a group by id, as of this point of the transaction; a copy."""
        self.read([group])
        return self._stored[group] | self._new.get(group, {})

    def read(self, groups: Iterable[Group]) -> None:
        """Read the groups that are not known yet, in at most two statements."""
        wanted = {group for group in groups if group not in self._stored}
        self._stored.update({group: {} for group in wanted})
        stored = [group for group in wanted if self._unstored.isdisjoint((group.subject_id, group.object_key))]
        if not stored:
            return
        closed = {row.pk for row in self._closed}
        for row in _read(self.scope_ref, stored):
            for group in _groups_of(row) if row.pk not in closed else ():
                if group in wanted:
                    self._stored[group][row.pk] = row

    def close(self, row: Fact, *, tick: datetime, reason: str, closed_by: UUID | None, why: str | None) -> None:
        """Believe a row no longer."""
        row.superseded_at, row.closed_reason, row.closed_by_fact_id, row.reason = tick, reason, closed_by, why
        self._closed.append(row)
        self.growth -= tokens_of(row)
        for group in _groups_of(row):
            for rows in (self._stored, self._new):
                rows.get(group, {}).pop(row.pk, None)

    def insert(self, row: Fact) -> None:
        """Believe a row from now on."""
        self._inserted.append(row)
        self.growth += tokens_of(row)
        for group in _groups_of(row):
            self._new[group][row.pk] = row

    def is_unstored(self, entity_id: UUID) -> bool:
        """Whether an entity was made in this transaction."""
        return entity_id in self._unstored

    def is_closed(self, id: UUID) -> bool:
        """Whether a stored row is believed no longer since this transaction."""
        return any(row.pk == id for row in self._closed)

    def believed(self, id: UUID) -> Fact | None:
        """A row by its id, if it is believed at this point of the transaction."""
        written = next((row for row in self._inserted if row.pk == id), None)
        row = written or Fact.objects.believed().filter(pk=id, scope_ref=self.scope_ref).first()
        return None if row is None or self.is_closed(id) else row

    def fresh(self, group: Group) -> list[Fact]:
        """The rows of a group that this transaction has written and still believes."""
        return list(self._new.get(group, {}).values())

    def mark(self) -> tuple[int, int]:
        """A point to come back to with `rollback`."""
        return len(self._closed), len(self._inserted)

    def rollback(self, mark: tuple[int, int]) -> None:
        """Forget what was closed and inserted since a mark."""
        closed, inserted = mark
        self.growth += sum(map(tokens_of, self._closed[closed:])) - sum(map(tokens_of, self._inserted[inserted:]))
        new = {row.pk for row in self._inserted[:inserted]}
        for row in self._inserted[inserted:]:
            for group in _groups_of(row):
                self._new[group].pop(row.pk, None)
        gone = {row.pk for row in self._inserted[inserted:]}
        for row in self._closed[closed:]:
            row.superseded_at = row.closed_reason = row.closed_by_fact_id = row.reason = None
            for group in _groups_of(row) if row.pk not in gone else ():
                if row.pk in new:
                    self._new[group][row.pk] = row
                elif group in self._stored:
                    self._stored[group][row.pk] = row
        del self._closed[closed:], self._inserted[inserted:]

    def flush(self) -> None:
        """Store what was decided: first what is believed no longer, then what is.

        Raises:
            RuntimeError: a row was closed by somebody else, so it was read without the scope's lock.
        """
        new = {row.pk for row in self._inserted}
        closed = [row for row in self._closed if row.pk not in new]
        if closed:
            with connection.cursor() as cursor:
                cursor.execute(
                    _CLOSE,
                    [
                        [row.pk for row in closed],
                        [row.superseded_at for row in closed],
                        [row.closed_reason for row in closed],
                        [row.closed_by_fact_id for row in closed],
                        [row.reason for row in closed],
                    ],
                )
                if cursor.rowcount != len(closed):
                    raise RuntimeError("rows to close are not believed: they were read without the scope's lock")
        insert_made(self._inserted)
        self._closed, self._inserted, self.growth = [], [], 0


_CLOSE = """
UPDATE facts SET superseded_at = c.tick, closed_reason = c.because, closed_by_fact_id = c.closed_by, reason = c.why
FROM unnest(%s::uuid[], %s::timestamptz[], %s::text[], %s::uuid[], %s::text[]) AS c(id, tick, because, closed_by, why)
WHERE facts.id = c.id AND facts.superseded_at IS NULL
"""
_WHOLE = """
SELECT facts.* FROM (SELECT DISTINCT * FROM unnest(%s::uuid[], %s::text[])) w(subject, predicate)
JOIN facts ON subject_id = w.subject AND facts.predicate = w.predicate
WHERE scope_ref = %s AND superseded_at IS NULL
"""
_SINGLE = """
SELECT facts.* FROM (SELECT DISTINCT * FROM unnest(%s::uuid[], %s::text[], %s::uuid[])) w(subject, predicate, object)
JOIN facts ON subject_id = w.subject AND facts.predicate = w.predicate AND object_key = w.object
WHERE scope_ref = %s AND superseded_at IS NULL
"""


def _read(scope_ref: str, groups: Sequence[Group]) -> Iterator[Fact]:
    """The stored believed rows of groups."""
    whole = [group for group in groups if group.object_key is None]
    single = [group for group in groups if group.object_key is not None]
    if whole:
        columns: list[Any] = [[group.subject_id for group in whole], [group.predicate for group in whole]]
        yield from Fact.objects.raw(_WHOLE, [*columns, scope_ref])
    if single:
        columns = [[group[place] for group in single] for place in (0, 1, 3)]
        yield from Fact.objects.raw(_SINGLE, [*columns, scope_ref])


def _groups_of(row: Fact) -> tuple[Group, Group]:
    """The whole group of a row, and its part of the same object."""
    whole = Group(row.subject_id, row.predicate, row.applies_to_id, None)
    return whole, whole._replace(object_key=row.object_key)
