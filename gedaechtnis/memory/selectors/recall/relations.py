"""Relations by which a question says whom it is about: "Tims Schwester", "the company where Anna works".

They are read from its words, and followed in the graph to whoever stands at their other end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from gedaechtnis.common.lexemes import language
from gedaechtnis.common.stopwords import ENGLISH, GERMAN
from gedaechtnis.common.text import finding_keys, name_key
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import query, weights
from gedaechtnis.registry import roles
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.registry.roles import Role

_DEEPEST = 3
"""So many relations in a row are read: "the mother of my brother's wife" are three."""
_ADJECTIVES = 2
_MY = re.compile(r"mein(?:e[nmrs]?)?|unser(?:e[nmrs]?)?|my|our", re.IGNORECASE)
_ME = re.compile(r"ich|wir|mir|uns|mine|ours|i|we", re.IGNORECASE)
_POSSESSIVE = re.compile(r".*(?:['’]s?|[sxzß])", re.IGNORECASE)
_OF = frozenset({"von", "vom", "of", "der", "des", "the", "dem", "den", "die", "das"})
# Of things alone: of people, what follows is mostly their own name ("Frau Vogt").
_WHERE = frozenset({"in", "bei", "für", "mit", "zu", "wo", "where", "for", "at", "with", "that", "which", "whom"})
_EX = re.compile(r"ex[- ]?(?=\w{3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """Whoever is called by a role. `owner`: whose, by the key of a name, by a relation again, or None for the asker.

    `is_former`: who was that and is no longer is meant.
    """

    role: Role
    owner: str | Relation | None
    is_former: bool = False

    @property
    def root(self) -> str | None:
        """Whose it is in the end, over all relations in a row."""
        return self.owner.root if isinstance(self.owner, Relation) else self.owner


class Phrase(NamedTuple):
    """A relation in the words from `first` to before `after`; `owners` are the places of the words for whose it is."""

    relation: Relation
    first: int
    after: int
    owners: frozenset[int]


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a question, and the relations that it names."""

    words: Sequence[str]
    phrases: Sequence[Phrase]

    @property
    def relations(self) -> tuple[Relation, ...]:
        return tuple(dict.fromkeys(phrase.relation for phrase in self.phrases))

    def rest(self, led: Collection[Relation]) -> str:
        """The question without the words for those whose these relations are."""
        left = frozenset[int]().union(*(phrase.owners for phrase in self.phrases if phrase.relation in led))
        return " ".join(word for place, word in enumerate(self.words) if place not in left)


class _Owner(NamedTuple):
    """Whose a relation is, in the words from `first` to before `after`."""

    owner: str | Relation | None
    first: int
    after: int
    words: frozenset[int]


def read(text: str, names: Collection[str]) -> Reading:
    """The relations that a question names, of the asker and of those whose names have one of these keys."""
    reader = _Reader(text, names)
    return Reading(reader.words, tuple(reader.phrases()))


class _Reader:
    def __init__(self, text: str, names: Collection[str]) -> None:
        self.words = query.words(text)
        self._names = names
        self._language = language(text)
        self._phrase = cache(self._read_phrase)  # asked again for each role before it

    def phrases(self) -> Iterator[Phrase]:
        """Those that are not within a longer one."""
        found = [phrase for place in range(len(self.words)) if (phrase := self._phrase(place, _DEEPEST))]
        for phrase in found:
            words = set(range(phrase.first, phrase.after))
            if not any(words < set(range(other.first, other.after)) for other in found):
                yield phrase

    def _read_phrase(self, place: int, deepest: int) -> Phrase | None:
        """The relation whose role ends at a place, of whomever it says."""
        called = self._role(place)
        if called is None or deepest == 0:
            return None
        role, first, is_former = called
        begins = first
        owner = self._owner_before(begins, deepest)
        while owner is None and first - begins < _ADJECTIVES and self._is_adjective(begins - 1):
            begins -= 1
            is_former = is_former or query.asks_of_earlier(self.words[begins])
            owner = self._owner_before(begins, deepest)
        owner = owner or self._owner_after(place + 1, role, deepest)
        if owner is None:
            return None
        relation = Relation(role, owner.owner, is_former)
        return Phrase(relation, min(begins, owner.first), max(place + 1, owner.after), owner.words)

    def _role(self, place: int) -> tuple[Role, int, bool] | None:
        """What the words up to a place call somebody, where they begin, and whether somebody of before."""
        for first in (place - 1, place):
            said = " ".join(self.words[first : place + 1]) if first >= 0 else ""
            if (role := roles.called(said, self._language)) is not None:
                return role, first, False
            if _EX.match(said) and (role := roles.called(_EX.sub("", said), self._language)) is not None:
                return role, first, True
        return None

    def _is_adjective(self, place: int) -> bool:
        word = self.words[place] if place >= 0 else ""
        return word.islower() and word not in GERMAN and word not in ENGLISH and not _MY.fullmatch(word)

    def _owner_before(self, after: int, deepest: int) -> _Owner | None:
        """ "meine", "Tims", "my sister's" right before a place."""
        if after == 0:
            return None
        last = after - 1
        if _MY.fullmatch(self.words[last]):
            return _Owner(None, last, after, frozenset({last}))
        if not _POSSESSIVE.fullmatch(self.words[last]):
            return None
        for first in range(max(0, after - query.NAME_WORDS), after):
            if key := self._name(first, after):
                return _Owner(key, first, after, frozenset(range(first, after)))
        inner = self._phrase(last, deepest - 1)
        return _Owner(inner.relation, inner.first, after, inner.owners) if inner and inner.after == after else None

    def _owner_after(self, place: int, role: Role, deepest: int) -> _Owner | None:
        """ "von Tim", "des Lastenrads", "of my brother"; of things also "in der Anna arbeitet", "where I work"."""
        is_of_things = role.kind not in ("person", "pet")
        joining = _OF | _WHERE if is_of_things else _OF
        first = place
        while first < len(self.words) and self.words[first].lower() in joining:
            first += 1
        if first == len(self.words):
            return None
        is_joined = first > place or is_of_things
        if is_joined and _ME.fullmatch(self.words[first]):
            return _Owner(None, first, first + 1, frozenset({first}))
        if not is_joined and not _MY.fullmatch(self.words[first]):
            return None
        for last in range(first, min(first + query.NAME_WORDS + _ADJECTIVES, len(self.words))):
            inner = self._phrase(last, deepest - 1)
            if inner and inner.first == first:
                return _Owner(inner.relation, first, inner.after, inner.owners)
        for after in range(min(first + query.NAME_WORDS, len(self.words)), first, -1):
            if is_joined and (key := self._name(first, after)):
                return _Owner(key, first, after, frozenset(range(first, after)))
        return None

    def _name(self, first: int, after: int) -> str | None:
        """The key of a name that these words are."""
        said = " ".join(self.words[first:after])
        keys = finding_keys(said)
        return next((key for key in (name_key(said), *sorted(keys)) if key in self._names), None)


Span = tuple[datetime, datetime]


class _Tie(NamedTuple):
    """A relation that somebody believes in; `ended` None where it still holds for all that is known."""

    subject: UUID
    subject_kind: str
    target: UUID
    target_kind: str
    predicate: str
    began: datetime
    ended: datetime | None

    def holds_in(self, start: datetime, end: datetime) -> bool:
        return self.began < end and (self.ended is None or self.ended > start)

    def holds_at(self, instant: datetime) -> bool:
        return self.began <= instant and (self.ended is None or self.ended > instant)

    def named(self, role: Role, owners: Collection[UUID]) -> UUID | None:
        """Whom it puts in a role to one of the owners."""
        if self.predicate not in role.predicates:
            return None
        is_symmetric = catalogue().predicates[self.predicate].symmetric
        if (is_symmetric or not role.owner_first) and self.target in owners and role.kind in ("", self.subject_kind):
            return self.subject
        if (is_symmetric or role.owner_first) and self.subject in owners and role.kind in ("", self.target_kind):
            return self.target
        return None


def follow(
    relations: Sequence[Relation], owners: Mapping[str | None, Collection[UUID]], moment: Moment, spans: Sequence[Span]
) -> dict[Relation, frozenset[UUID]]:
    """Who stands at the other end of relations, in the open scope: one statement for all, one more for each in a row.

    Where the question names times (`spans`), who stood there then, if anybody did; else who does at the moment.

    Args:
        owners: the entities of each key of a name, and under None the asker's.
    """
    inner = [relation.owner for relation in relations if isinstance(relation.owner, Relation)]
    between = follow(inner, owners, moment, spans) if inner else {}
    whose = {
        relation: between[relation.owner] if isinstance(relation.owner, Relation) else owners.get(relation.owner, ())
        for relation in relations
    }
    ties = _ties(whose, moment, latest=max([moment.valid_at, *(end for _start, end in spans)]))
    return {relation: _ends(relation, whose[relation], ties, moment.valid_at, spans) for relation in relations}


def _ends(
    relation: Relation, owners: Collection[UUID], ties: Sequence[_Tie], at: datetime, spans: Sequence[Span]
) -> frozenset[UUID]:
    known = [(tie, named) for tie in ties if (named := tie.named(relation.role, owners)) is not None]
    if relation.is_former:
        meant = [named for tie, named in known if tie.ended is not None and tie.ended <= at]
    else:
        meant = [named for tie, named in known if any(tie.holds_in(*span) for span in spans)]
    return frozenset(meant or (named for tie, named in known if tie.holds_at(at)))


_TIES = """
SELECT f.subject_id, s.kind, f.object_entity_id, o.kind, f.predicate, f.valid_from, f.valid_to
FROM (SELECT * FROM facts WHERE {condition} ORDER BY recorded_at DESC, id LIMIT {most}) AS f
JOIN entities s ON s.id = f.subject_id JOIN entities o ON o.id = f.object_entity_id
"""


def _ties(whose: Mapping[Relation, Collection[UUID]], moment: Moment, *, latest: datetime) -> list[_Tie]:
    """What holds or held of the owners by any of the predicates."""
    ids = sorted({id for owners in whose.values() for id in owners})
    if not ids:
        return []
    predicates = sorted({predicate for relation in whose for predicate in relation.role.predicates})
    asked = Conditions().that("subject_id = ANY(%s) OR object_entity_id = ANY(%s)", ids, ids).known_at(moment)
    asked.that("predicate = ANY(%s) AND polarity AND object_entity_id IS NOT NULL", predicates)
    asked.that("valid_from <= %s", latest)
    with connection.cursor() as cursor:
        cursor.execute(_TIES.format(condition=asked.text, most=weights.RELATED), asked.parameters)
        return list(map(_Tie._make, cursor.fetchall()))
