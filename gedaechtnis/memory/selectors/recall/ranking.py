"""Scores of candidates: pure arithmetic over what was read of them.

A candidate's score is one weighted sum of features. Lexical evidence is BM25 over the counts of a turn and its
neighbours in the conversation; everything else is a feature between about -3 and 3 that the reader computed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from operator import mul
from typing import NamedTuple
from uuid import UUID

from gedaechtnis.memory.selectors.recall import weights as constants
from gedaechtnis.memory.selectors.recall.weights import Weights


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
) -> list[Features]:
    """The features of every candidate, in order.

    Args:
        candidates: those that matched, with the turns around them.
        idf: weight of each lexeme of the question.
        mean_length: average lexemes of a document in sight.
        spread: of similarities; None without a semantic voice.
    """
    lexical = _normalised(_windowed_bm25(candidates, idf, mean_length), idf)
    answered = {
        (candidate.session, candidate.position + 1): score
        for candidate, score in zip(candidates, lexical, strict=True)
        if candidate.session is not None and candidate.asks
    }
    sessions = _session_scores(candidates, idf)
    return [
        Features(
            lexical=score,
            session=sessions.get(candidate.session, 0.0),
            subject=candidate.subject,
            semantic=_standard(candidate.similarity, spread),
            date=candidate.date,
            says_when=float(candidate.says_when),
            says_name=float(candidate.says_name),
            first_person=float(candidate.first_person),
            short_question=float(candidate.short_question),
            answers=answered.get((candidate.session, candidate.position), 0.0),
            graph=candidate.graph,
        )
        for candidate, score in zip(candidates, lexical, strict=True)
    ]


def _windowed_bm25(candidates: Sequence[Candidate], idf: Mapping[str, float], mean_length: float) -> list[float]:
    by_place = {
        (candidate.session, candidate.position): candidate for candidate in candidates if candidate.session is not None
    }
    return [_bm25(*_window(candidate, by_place), idf, mean_length) for candidate in candidates]


def _window(
    candidate: Candidate, by_place: Mapping[tuple[Hashable, int], Candidate]
) -> tuple[Mapping[str, float], float]:
    """Counts and length of a candidate with what it hears of its neighbours."""
    if candidate.session is None:
        return candidate.counts, candidate.length
    counts = defaultdict(float, candidate.counts)
    length = float(candidate.length)
    for offset, share in constants.NEIGHBOURS:
        neighbour = by_place.get((candidate.session, candidate.position + offset))
        if neighbour is None:
            continue
        share *= min(1.0, constants.NEIGHBOUR_LENGTH / max(1, neighbour.length))
        length += share * neighbour.length
        for lexeme, count in neighbour.counts.items():
            counts[lexeme] += share * count
    return counts, length


def _bm25(counts: Mapping[str, float], length: float, idf: Mapping[str, float], mean_length: float) -> float:
    norm = constants.SATURATION * (1 - constants.LENGTH_SHARE + constants.LENGTH_SHARE * length / max(1.0, mean_length))
    return sum(idf[lexeme] * count * (constants.SATURATION + 1) / (count + norm) for lexeme, count in counts.items())


def _normalised(scores: Sequence[float], idf: Mapping[str, float]) -> list[float]:
    """Between 0 and 1; 1 only where the best covers enough of the question."""
    best = max([*scores, constants.COVERED * sum(idf.values())], default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


def _session_scores(candidates: Sequence[Candidate], idf: Mapping[str, float]) -> dict[Hashable, float]:
    """How much of the question a whole session speaks of, between 0 and 1 for the best."""
    counts: dict[Hashable, dict[str, float]] = {}
    for candidate in candidates:
        if candidate.session is not None:
            heard = counts.setdefault(candidate.session, defaultdict(float))
            for lexeme, count in candidate.counts.items():
                heard[lexeme] += count
    scores = {session: _bm25(heard, 1.0, idf, 1.0) for session, heard in counts.items()}
    return dict(zip(scores, _normalised(list(scores.values()), idf), strict=True))


def _standard(similarity: float | None, spread: Spread | None) -> float:
    if similarity is None or spread is None or spread.deviation <= 0:
        return 0.0
    return max(-3.0, min(6.0, (similarity - spread.mean) / spread.deviation))


def weighted(found: Features, weights: Weights) -> float:
    """The score before it is brought between 0 and 1."""
    return math.fsum(map(mul, found, _values(weights)))


@cache
def _values(weights: Weights) -> tuple[float, ...]:
    return astuple(weights)


def bounded(score: float) -> float:
    """A score between 0 and 1; only the order within one answer means anything."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, score)) / 4))
