"""Scores of candidates: pure arithmetic over what was read of them.

A candidate's score is one weighted sum of features. Lexical evidence is BM25 over the counts of a turn and its
neighbours in the conversation; everything else is a feature between about -3 and 3 that the reader computed. Hundreds
are weighed twice for a question, so all of them at once: a row of an array is a candidate, a column a word.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gedaechtnis.memory.selectors.recall import weights as constants
from gedaechtnis.memory.selectors.recall.weights import Weights

Numbers = NDArray[np.float64]


class Candidate(NamedTuple):
    """What ranking knows of one projection.

    `counts` holds only lexemes of the question; `similarity` is the cosine to the question, None without a vector;
    `subject` and `date` lie between 0 and 1; `graph` is the nearness to the strongest seeds, between 0 and 1.
    """

    id: UUID
    counts: Mapping[str, float]
    length: int
    session: Hashable | None = None
    position: int = 0
    similarity: float | None = None
    subject: float = 0.0
    date: float = 0.0
    says_when: bool = False
    says_name: bool = False
    first_person: bool = False
    short_question: bool = False
    asks: bool = False
    graph: float = 0.0


class Features(NamedTuple):
    """The features of one candidate, named and ordered as in `Weights`; the sum of their products is its score."""

    lexical: float
    session: float
    subject: float
    semantic: float
    date: float
    says_when: float
    says_name: float
    first_person: float
    asks: float
    short_question: float
    answers: float
    graph: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of the similarity of anything in sight to the question."""

    mean: float
    deviation: float


def features(
    candidates: Sequence[Candidate], *, idf: Mapping[str, float], mean_length: float, spread: Spread | None
) -> Numbers:
    """The features of every candidate, in order: a row for each, with the columns of `Features`.

    Args:
        candidates: those that matched, with the turns around them.
        idf: weight of each lexeme of the question.
        mean_length: average lexemes of a document in sight.
        spread: of similarities; None without a semantic voice.
    """
    if not candidates:
        return np.empty((0, len(Features._fields)))
    rarity = np.array([*idf.values()], float)
    counts, sessions = _counts(candidates, idf), _sessions(candidates)
    lexical = _normalised(_windowed_bm25(candidates, sessions, counts, rarity, mean_length), rarity)
    weighed_here = {
        "lexical": lexical,
        "session": _session_scores(sessions, counts, rarity),
        "semantic": _standard([candidate.similarity for candidate in candidates], spread),
        "answers": _answers(candidates, sessions, lexical),
    }
    # All other features the reader computed.
    columns = [
        weighed_here[name] if name in weighed_here else [getattr(candidate, name) for candidate in candidates]
        for name in Features._fields
    ]
    return np.array(columns, float).T


def _counts(candidates: Sequence[Candidate], idf: Mapping[str, float]) -> Numbers:
    """How often each candidate (row) holds each word (column), and below them a row for what is not there."""
    column = {lexeme: at for at, lexeme in enumerate(idf)}
    held = [
        (row, column[lexeme], count)
        for row, candidate in enumerate(candidates)
        for lexeme, count in candidate.counts.items()
    ]
    counts = np.zeros((len(candidates) + 1, len(idf)))
    if held:
        rows, columns, values = zip(*held, strict=True)
        counts[rows, columns] = values
    return counts


def _sessions(candidates: Sequence[Candidate]) -> list[int]:
    """A number for the session of each candidate, counted from 0; -1 where it stands alone."""
    numbers: dict[Hashable, int] = {None: -1}
    return [numbers.setdefault(candidate.session, len(numbers) - 1) for candidate in candidates]


def _windowed_bm25(
    candidates: Sequence[Candidate], sessions: Sequence[int], counts: Numbers, rarity: Numbers, mean_length: float
) -> Numbers:
    """The scores of candidates with what they hear of their neighbours."""
    places = _places(candidates, sessions)
    known = {place: row for row, place in enumerate(places) if place}
    lengths = np.array([*(candidate.length for candidate in candidates), 0], float)
    loudness = np.minimum(1.0, constants.NEIGHBOUR_LENGTH / np.maximum(1.0, lengths))
    heard, length = counts[:-1], lengths[:-1]
    for offset, share in constants.NEIGHBOURS:
        neighbours = _at(places, offset, known)
        shares = share * loudness[neighbours]
        length = length + shares * lengths[neighbours]
        heard = heard + shares[:, np.newaxis] * counts[neighbours]
    return _bm25(heard, length, rarity, mean_length)


Place = tuple[int, int]
"""A session and a position in it."""


def _places(candidates: Sequence[Candidate], sessions: Sequence[int]) -> list[Place | None]:
    return [
        (session, candidate.position) if session >= 0 else None
        for session, candidate in zip(sessions, candidates, strict=True)
    ]


def _at(places: Sequence[Place | None], offset: int, known: Mapping[Place, int]) -> NDArray[np.intp]:
    """The rows of those so many places further; -1, the row below all, where nobody is."""
    return np.array([known.get((place[0], place[1] + offset), -1) if place else -1 for place in places], np.intp)


def _bm25(counts: Numbers, length: Numbers | float, rarity: Numbers, mean_length: float) -> Numbers:
    norm = constants.SATURATION * (1 - constants.LENGTH_SHARE + constants.LENGTH_SHARE * length / max(1.0, mean_length))
    terms = rarity * counts * (constants.SATURATION + 1) / (counts + np.reshape(norm, (-1, 1)))
    return np.asarray(terms.sum(axis=1))


def _normalised(scores: Numbers, rarity: Numbers) -> Numbers:
    """Between 0 and 1; 1 only where the best covers enough of the question."""
    best = max(scores.max(initial=0.0), constants.COVERED * rarity.sum())
    return scores / best if best > 0 else np.zeros_like(scores)


def _session_scores(sessions: Sequence[int], counts: Numbers, rarity: Numbers) -> Numbers:
    """How much of the question a whole session speaks of, between 0 and 1 for the best."""
    heard = np.zeros((max(sessions) + 2, len(rarity)))
    np.add.at(heard, sessions, counts[:-1])
    heard[-1] = 0.0
    return _normalised(_bm25(heard, 1.0, rarity, 1.0), rarity)[sessions]


def _answers(candidates: Sequence[Candidate], sessions: Sequence[int], lexical: Numbers) -> Numbers:
    """How well the question right before a turn fits."""
    places = _places(candidates, sessions)
    asked = {
        place: row
        for row, (place, candidate) in enumerate(zip(places, candidates, strict=True))
        if place and candidate.asks
    }
    return np.append(lexical, 0.0)[_at(places, -1, asked)]


def _standard(similarities: Sequence[float | None], spread: Spread | None) -> Numbers:
    if spread is None or spread.deviation <= 0:
        return np.zeros(len(similarities))
    seen = np.array([spread.mean if similarity is None else similarity for similarity in similarities])
    return np.clip(seen - spread.mean, -3 * spread.deviation, 6 * spread.deviation) / spread.deviation


def weighted(found: Numbers | Features, weights: Weights) -> Numbers:
    """The scores of rows of features, before they are brought between 0 and 1."""
    return np.asarray(np.multiply(found, _values(weights)).sum(axis=-1))


@cache
def _values(weights: Weights) -> tuple[float, ...]:
    return astuple(weights)


def bounded(score: float) -> float:
    """A score between 0 and 1; only the order within one answer means anything."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, score)) / 4))
