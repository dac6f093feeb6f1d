"""From candidates to hits: checked against the graph, what has ended below what holds, and nothing told twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from gedaechtnis.common.instants import shown
from gedaechtnis.memory import decay
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import ranking, truth, weights
from gedaechtnis.memory.selectors.recall.gathering import Weighed
from gedaechtnis.memory.selectors.recall.hits import Hit
from gedaechtnis.memory.selectors.recall.records import Record
from gedaechtnis.memory.selectors.recall.truth import Truth

_LOOKED_AT = 3
"""So many times the hits that are wanted are checked: what has ended sinks, and others rise."""
_MORE = 20


def hits(
    weighed: Iterator[Weighed],
    moment: Moment,
    *,
    most: int,
    asks_of_earlier: bool,
    asks_for_names: bool,
    repo: str | None,
) -> list[Hit]:
    """The best hits, as the graph has them at the moment, the best first.

    Args:
        weighed: all candidates, the best first.
        asks_of_earlier: whether what has ended is what is asked for.
        repo: in which repository the asker works.
        asks_for_names: whether facts may tell what things are called, which the things themselves say as well.
    """
    looked_at = list(islice(weighed, most * _LOOKED_AT + _MORE))
    known = truth.read([one.record for one in looked_at], moment)
    scored = [
        (
            one.score
            - _loss(one, known, moment.valid_at, asks_of_earlier=asks_of_earlier)
            + (weights.OF_REPO if repo and _is_of(repo, one.record, known) else 0.0),
            one,
        )
        for one in looked_at
        if known.has(one.record) and (asks_for_names or not _tells_the_name(one.record, known))
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].record.id))
    return [_hit(score, one, known) for score, one in _varied(scored, most)]


def _is_of(repo: str, record: Record, known: Truth) -> bool:
    fact = known.facts.get(record.source_id)
    return fact is not None and fact.domain.startswith(f"repo:{repo}/")


def _tells_the_name(record: Record, known: Truth) -> bool:
    fact = known.facts.get(record.source_id)
    return fact is not None and fact.predicate == "name" and fact.status == "active"


def _loss(one: Weighed, known: Truth, at: datetime, *, asks_of_earlier: bool) -> float:
    record, loss = one.record, 0.0
    if record.source_id in known.endings and not one.features.date:
        loss += -weights.EARLIER if asks_of_earlier else weights.ENDED
    if record.source_kind == "fact" and record.touched_at:
        loss += weights.FADED * (1 - decay.left(record.memory_type, at - record.touched_at))
    return loss


def _varied(scored: list[tuple[float, Weighed]], most: int) -> list[tuple[float, Weighed]]:
    """Facts that repeat better ones give way (maximal marginal relevance); turns do not: a talk circles its topic."""
    chosen: list[tuple[float, Weighed]] = []
    told: list[frozenset[str]] = []
    rest = list(scored)
    while rest and len(chosen) < most:
        best = max(range(min(len(rest), _MORE)), key=lambda at: rest[at][0] - _repeated(rest[at][1].record, told))
        score, one = rest.pop(best)
        chosen.append((score - _repeated(one.record, told), one))
        if not one.record.is_episode:
            told.append(frozenset(one.record.lexemes))
    return chosen


def _repeated(record: Record, told: Sequence[frozenset[str]]) -> float:
    if record.is_episode or not told:
        return 0.0
    own = frozenset(record.lexemes)
    return weights.REPEATED * max(len(own & other) / max(1, len(own | other)) for other in told)


def _hit(score: float, one: Weighed, known: Truth) -> Hit:
    record = one.record
    ending = known.endings.get(record.source_id)
    fact = known.facts.get(record.source_id)
    entity = known.entities.get(record.source_id)
    return Hit(
        source_kind=record.source_kind,
        ref=entity.ref if entity else record.ref,
        fact_id=fact.id if fact else None,
        fact=fact,
        message_id=record.source_id if record.is_episode else None,
        external_id=record.external_id,
        chat=record.chat_id,
        text=fact.statement if fact else known.cards.get(record.source_id, record.text),
        score=round(ranking.bounded(score), 6),
        voices=one.voices,
        valid_from=fact.valid_from if fact else shown(record.valid_from) if record.valid_from else None,
        valid_to=fact.valid_to if fact else ending.at if ending else record.valid_to,
        occurred_at=record.occurred_at,
        speaker=record.speaker,
        scope_ref=record.scope_ref,
        is_superseded=ending is not None,
        superseded_by=ending.superseded_by if ending else None,
    )
