"""A question as this memory understands it: its words among ours, whom it names, what time it speaks of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import periods, query, vocabulary
from gedaechtnis.memory.selectors.recall.hits import Mode
from gedaechtnis.memory.selectors.recall.people import People
from gedaechtnis.memory.selectors.recall.periods import Anchor, Period
from gedaechtnis.memory.selectors.recall.query import Intent
from gedaechtnis.memory.selectors.recall.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for; days are those of the asker's `zone`."""

    mode: Mode
    intent: Intent
    words: Vocabulary
    people: People
    periods: tuple[Period, ...]
    asks_of_earlier: bool
    zone: ZoneInfo

    @property
    def ranges(self) -> list[tuple[datetime, datetime]]:
        """The periods with both ends, as instants."""
        return [
            (self._midnight(period.first), self._midnight(period.after))
            for period in self.periods
            if period.first and period.after
        ]

    def day_of(self, instant: datetime) -> date:
        return instant.astimezone(self.zone).date()

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), tzinfo=self.zone)


def understand(text: str, named: People, *, mode: Mode, principal: Principal, moment: Moment) -> Question:
    """Look a question that names certain people up in the open scope.

    Names of speakers are cut from its words: whose turn it is tells more than who is addressed in it. What a person
    types as key words stays as it is.
    """
    rest = query.without(text, named.speaker_words) if mode != "keyword" else text
    words = vocabulary.look_up(query.terms(rest) or query.terms(text))
    dated: tuple[Period, ...] = ()
    if mode == "hybrid":
        dated = periods.periods(text, now=moment.valid_at, zone=principal.zone)
        dated += _anchored(periods.anchors(text), named, moment, principal.zone)
    return Question(
        mode=mode,
        intent=query.intent(text),
        words=words,
        people=named,
        periods=dated,
        asks_of_earlier=query.asks_of_earlier(text),
        zone=principal.zone,
    )


def _anchored(anchors: Sequence[Anchor], named: People, moment: Moment, zone: ZoneInfo) -> tuple[Period, ...]:
    """Times told by a turn of life, where the graph knows when that was."""
    about = named.entity_ids or ({named.own} if named.own else frozenset())
    began = _last_begins({anchor.predicate for anchor in anchors}, about, moment) if anchors and about else {}
    return tuple(
        anchor.period(began[anchor.predicate].astimezone(zone).date())
        for anchor in anchors
        if anchor.predicate in began
    )


def _last_begins(predicates: Collection[str], about: Collection[UUID], moment: Moment) -> dict[str, datetime]:
    asked = Conditions().naming("subject_id", list(about)).known_at(moment)
    asked.that("predicate = ANY(%s) AND polarity", list(predicates))
    asked.that("valid_from > %s AND valid_from <= %s", UNKNOWN_START, moment.valid_at)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT predicate, max(valid_from) FROM facts WHERE {asked.text} GROUP BY predicate",  # noqa: S608
            asked.parameters,
        )
        return dict(cursor.fetchall())
