"""Free text against free text: what says the same as a believed statement, and what is nearly the same and contradicts.

Statements of one domain and topic are compared, never others. Similarity finds and never decides: what it finds is
shown to a person, and nothing is closed because of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from gedaechtnis.common import canonical
from gedaechtnis.common.contrasts import contrasts
from gedaechtnis.common.likeness import SentenceIndex, essence, overlap, trigrams
from gedaechtnis.memory.selectors.recall import nearest
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.writing.ledger import Group, Ledger
from gedaechtnis.world.models import Fact, Projection, Suppression

PREDICATE, KIND = "statement", "domain"
"""Free text is a statement about a domain."""
ALIKE_BY_LETTERS = 0.6
"""Measured over pairs that people wrote: the table stands in docs/reference/knowledge.md."""
ALIKE_BY_MEANING = 0.85
_NEAREST = 20
_COMPARED = 200
_SHOWN = 5
"""So many, the most alike, are put before a person: who reads more of them decides nothing."""


class Meanings(NamedTuple):
    """The vectors of texts that a proposal says, by a model."""

    model: str = ""
    vectors: Mapping[str, Sequence[float]] = {}


NO_MEANINGS = Meanings()


class Sentence(NamedTuple):
    """A free text about a domain that holds over `[start, end)`; end None is open."""

    subject_id: UUID
    applies_to_id: UUID | None
    topic: str
    text: str
    start: datetime
    end: datetime | None


class _Believed(NamedTuple):
    id: UUID
    text: str
    valid_from: datetime
    valid_to: datetime | None


@dataclass(slots=True)
class _Topic:
    """The stored statements of a domain and topic, found by the words they share with another."""

    rows: dict[UUID, _Believed]
    _index: SentenceIndex[UUID] = field(default_factory=SentenceIndex)

    def __post_init__(self) -> None:
        for row in self.rows.values():
            self._index.add(row.id, row.text)

    def same(self, text: str) -> list[_Believed]:
        """Those that say the same."""
        return [self.rows[id] for id in self._index.same(text)]

    def alike(self, text: str) -> Iterator[tuple[_Believed, float]]:
        """Those whose letters are nearly the same, and how much they are."""
        for id, likeness in self._index.alike(text, least=ALIKE_BY_LETTERS, most=_COMPARED):
            yield self.rows[id], likeness


@dataclass(kw_only=True)
class Shelf:
    """The believed statements as one write transaction sees them: a topic is read once, what it writes is added."""

    scope_ref: str
    tick: datetime
    ledger: Ledger
    meanings: Meanings = NO_MEANINGS
    _topics: dict[tuple[UUID, str, UUID | None], _Topic] = field(default_factory=dict)

    def wording(self, said: Sentence) -> str | None:
        """How the same is worded already; None where nobody said it, or just so."""
        stored, same = self._topic(said), essence(said.text)
        known = [row for row in stored.same(said.text) if not self.ledger.is_closed(row.id)]
        known += [row for row in self._fresh(said) if essence(row.text) == same]
        if not known or any(row.text == said.text for row in known):
            return None
        return max(known, key=lambda row: (row.valid_from, row.id)).text

    def rivals(self, said: Sentence) -> list[Fact]:
        """The believed statements that are nearly the same, hold at the same time and contradict: the most alike first.

        What a person let stand beside it is none.
        """
        likeness = dict(self._near(said))
        near = sorted(likeness, key=lambda row: (-likeness[row], row.id))
        at_once = [
            row
            for row in near
            if (row.valid_to is None or row.valid_to > said.start) and (said.end is None or row.valid_from < said.end)
        ]
        against = (row for row in self._unsettled(said, at_once) if contrasts(said.text, row.text))
        return self._rows(said, list(islice(against, _SHOWN)))

    def _near(self, said: Sentence) -> Iterator[tuple[_Believed, float]]:
        stored = self._topic(said)
        for row, likeness in (*self._near_in_meaning(stored, said), *stored.alike(said.text)):
            if not self.ledger.is_closed(row.id):
                yield row, likeness
        pieces = trigrams(said.text)
        for row in self._fresh(said):
            if (likeness := overlap(pieces, trigrams(row.text))) >= ALIKE_BY_LETTERS:
                yield row, likeness

    def _near_in_meaning(self, stored: _Topic, said: Sentence) -> Iterator[tuple[_Believed, float]]:
        vector = self.meanings.vectors.get(said.text)
        if vector is None or not stored.rows:
            return
        only = Filters(
            ticks={self.scope_ref: self.tick},
            is_of_today=True,
            source_kinds=("fact",),
            kinds=(KIND,),
            predicate=PREDICATE,
        )
        found = {
            id: similarity
            for id, similarity in nearest.nearest(vector, self.meanings.model, only, _NEAREST)
            if similarity >= ALIKE_BY_MEANING
        }
        sources = Projection.objects.filter(pk__in=found, scope_ref=self.scope_ref).values_list("id", "source_id")
        for id, source_id in sources if found else ():
            if source_id in stored.rows:
                yield stored.rows[source_id], found[id]

    def _topic(self, said: Sentence) -> _Topic:
        place = (said.subject_id, said.topic, said.applies_to_id)
        if place not in self._topics:
            is_new = self.ledger.is_unstored(said.subject_id)
            self._topics[place] = _Topic({} if is_new else _read(self.scope_ref, *place))
        return self._topics[place]

    def _fresh(self, said: Sentence) -> list[_Believed]:
        """What this transaction has written itself."""
        return [
            _Believed(row.pk, str(row.object_value), row.valid_from, row.valid_to)
            for row in self.ledger.fresh(_group(said))
            if row.topic == said.topic and row.polarity
        ]

    def _unsettled(self, said: Sentence, near: Sequence[_Believed]) -> list[_Believed]:
        keys = {row.id: pair_key(said.subject_id, said.text, row.text) for row in near}
        if not keys:
            return []
        settled = set(
            Suppression.objects.filter(scope_ref=self.scope_ref, key__in=keys.values()).values_list("key", flat=True)
        )
        return [row for row in near if keys[row.id] not in settled]

    def _rows(self, said: Sentence, found: Sequence[_Believed]) -> list[Fact]:
        fresh = {row.pk: row for row in self.ledger.fresh(_group(said))}
        rows = fresh | (Fact.objects.in_bulk([row.id for row in found]) if found else {})
        return [rows[row.id] for row in found]


def _group(said: Sentence) -> Group:
    return Group(said.subject_id, PREDICATE, said.applies_to_id, None)


def pair_key(subject_id: UUID, one: str, other: str) -> UUID:
    """The hash under which it is kept that two statements of a domain may stand beside each other."""
    return canonical.digest("contradiction", str(subject_id), *sorted((essence(one), essence(other))))


def _read(scope_ref: str, subject_id: UUID, topic: str, applies_to_id: UUID | None) -> dict[UUID, _Believed]:
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENTS, [scope_ref, subject_id, topic, applies_to_id])
        return {row[0]: _Believed(*row) for row in cursor.fetchall()}


_STATEMENTS = """
SELECT id, object_value #>> '{}', valid_from, valid_to FROM facts
WHERE scope_ref = %s AND subject_id = %s AND topic = %s AND predicate = 'statement' AND superseded_at IS NULL
  AND polarity AND applies_to_id IS NOT DISTINCT FROM %s
"""
