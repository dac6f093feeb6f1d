"""Gathering candidates: each voice names some, the turns around them come along, and all are weighed alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import (
    candidates,
    forms,
    nearest,
    periods,
    ranking,
    records,
    walk,
    weights,
)
from gedaechtnis.memory.selectors.recall.candidates import WantedTerm
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.selectors.recall.meaning import Asked
from gedaechtnis.memory.selectors.recall.query import Intent
from gedaechtnis.memory.selectors.recall.question import Question
from gedaechtnis.memory.selectors.recall.ranking import Candidate, Features, Spread
from gedaechtnis.memory.selectors.recall.records import Record
from gedaechtnis.memory.selectors.recall.weights import Weights

WEIGHTS: Mapping[str, Weights] = {
    "hybrid": weights.HYBRID,
    "semantic": weights.SEMANTIC,
    "keyword": weights.KEYWORD,
}


class Weighed(NamedTuple):
    """A candidate with its features, the weights they have in this mode, and the unbounded score that makes.

    `is_near`: it is among the nearest in meaning.
    """

    record: Record
    features: Features
    factors: Weights
    score: float
    is_near: bool

    @property
    def voices(self) -> dict[str, float]:
        """What each voice that found it added to the score."""
        added = {
            "lexical": self.factors.lexical * self.features.lexical
            + self.factors.session * self.features.session
            + self.factors.answers * self.features.answers
            if self.features.lexical
            else 0.0,
            "semantic": self.factors.semantic * self.features.semantic if self.is_near else 0.0,
            "temporal": self.factors.date * self.features.date,
            "graph": self.factors.graph * self.features.graph,
        }
        return {voice: round(much, 4) for voice, much in added.items() if much > 0}


@dataclass(slots=True)
class _Found:
    """What has been found so far, each record as ranking knows it."""

    records: list[Record] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    near: frozenset[UUID] = frozenset()

    @property
    def ids(self) -> set[UUID]:
        return {record.id for record in self.records}

    def add(self, new: Sequence[Record], question: Question) -> None:
        """Take in records that are not among them yet."""
        self.records += new
        self.candidates += [_candidate(record, question) for record in new]

    def mark(self, graph: Mapping[UUID, float]) -> None:
        """Note which of them the walk through the graph came to, and how near."""
        self.candidates = [
            candidate._replace(graph=graph[candidate.id]) if candidate.id in graph else candidate
            for candidate in self.candidates
        ]


def gather(question: Question, asked: Asked, filters: Filters, moment: Moment) -> Iterator[Weighed]:
    """Everything that any voice found, the best first."""
    found = _Found()
    lexical = _lexical(question, filters)
    near = nearest.nearest(asked.vector, asked.model, filters, weights.CANDIDATES)
    dated = records.within(question.ranges, filters, weights.CANDIDATES)
    is_known = bool(lexical or dated or question.people.is_anybody)
    if not is_known and near and near[0][1] < weights.FAR.get(asked.model, -1.0):
        near = []  # Something is always the nearest: of words that nobody used, it is no answer.
    found.near = frozenset(id for id, _similarity in near)
    found.add(records.read({*lexical, *found.near, *dated}, filters, asked), question)
    # What stands around counts for each, but to read it for all takes longer than the rest of a search.
    best = list(islice(_weigh(question, found), weights.WIDENED))
    found.add(records.around([one.record for one in best], found.ids, filters, asked), question)
    if question.mode == "hybrid":
        graph = records.of_sources(_walked(question, best, moment), filters)
        found.add(records.read(graph.keys() - found.ids, filters, asked), question)
        found.mark(graph)
    return _weigh(question, found)


def _lexical(question: Question, filters: Filters) -> list[UUID]:
    idf = question.words.idf
    wanted: dict[str, float] = {}
    for term, forms_of_term in question.words.forms.items():
        for form, share in forms_of_term.items():
            wanted[form] = max(wanted.get(form, 0.0), share * idf[term])
    terms = [WantedTerm(lexeme, weight) for lexeme, weight in wanted.items()]
    return candidates.lexical(terms, filters, weights.CANDIDATES) if terms else []


def _walked(question: Question, weighed: list[Weighed], moment: Moment) -> dict[UUID, float]:
    """Facts, and entities themselves, around those that the question names and those of the strongest hits."""
    named = question.people.entity_ids | question.about
    seeds: dict[UUID, float] = dict.fromkeys(named, 1.0)
    best = weighed[0].score if weighed else 0.0
    for hit in weighed[: weights.SEEDS]:
        if hit.record.is_episode or best <= 0:
            continue
        for entity_id in hit.record.entity_ids:
            seeds.setdefault(entity_id, weights.STEP * max(0.0, hit.score / best))
    return walk.walk(seeds, moment) | dict.fromkeys(named, 1.0) if seeds else {}


def _weigh(question: Question, found: _Found) -> Iterator[Weighed]:
    """Those that a voice found, the best first; made one by one, as nobody asks for all."""
    factors = WEIGHTS[question.mode]
    seen = ranking.features(
        found.candidates,
        idf=question.words.idf,
        mean_length=question.words.mean_length,
        spread=_spread([record.similarity for record in found.records if record.similarity is not None]),
    )
    scores = ranking.weighted(seen, factors).tolist()
    for at in sorted(range(len(scores)), key=lambda at: (-scores[at], found.records[at].id)):
        record = found.records[at]
        one = Weighed(record, Features(*seen[at].tolist()), factors, scores[at], record.id in found.near)
        if one.voices:
            yield one


def _spread(similarities: Sequence[float]) -> Spread | None:
    if len(similarities) < 2:
        return None
    mean = math.fsum(similarities) / len(similarities)
    return Spread(mean, math.sqrt(math.fsum((one - mean) ** 2 for one in similarities) / len(similarities)))


def _candidate(record: Record, question: Question) -> Candidate:
    text, is_said = record.text, record.is_episode
    asks = is_said and forms.asks(text)
    subject = _subject(record, question)
    counts = question.words.counts(record.lexemes, record.counts)
    if question.led_by and not is_said and not subject:
        counts = {lexeme: count for lexeme, count in counts.items() if lexeme not in question.led_by}
    return Candidate(
        id=record.id,
        counts=counts,
        length=record.length,
        session=record.session,
        position=record.position or 0,
        similarity=record.similarity,
        subject=subject,
        date=_date(record, question) if question.periods else 0.0,
        says_when=question.intent is Intent.TIME and (not is_said or forms.says_when(text)),
        says_name=question.intent is Intent.NAME and (not is_said or forms.says_name(text)),
        first_person=is_said and forms.is_first_person(text),
        short_question=asks and forms.is_short_question(text),
        asks=asks,
    )


def _date(record: Record, question: Question) -> float:
    """How well it fits a time that the question names: when it was said or happened, or how long it held."""
    if record.occurred_at:
        return periods.nearness(question.day_of(record.occurred_at), question.periods)
    began = record.valid_from if record.valid_from != UNKNOWN_START else None
    first, after = (question.day_of(at) if at else None for at in (began, record.valid_to))
    return periods.held(first, after, question.periods)


def _subject(record: Record, question: Question) -> float:
    """Whether it is about, or said by, whom the question names; half where nobody knows who spoke."""
    named = question.people
    if not named.is_anybody:
        return 0.0
    if not record.is_episode:
        return 1.0 if question.about.intersection(record.entity_ids) else 0.0
    if (prominence := named.speakers.get(record.speaker.lower())) is not None:
        return prominence
    if (named.entity_ids | question.about).intersection(record.entity_ids):
        return 1.0
    if record.role == "user" and named.own in named.entity_ids:
        return 1.0
    return 0.0 if record.speaker or record.role else 0.5
