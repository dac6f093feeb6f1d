"""A question as this memory understands it: its words among ours, whom it names, what time it speaks of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import periods, query, relations, vocabulary
from gedaechtnis.memory.selectors.recall.hits import Mode
from gedaechtnis.memory.selectors.recall.people import People
from gedaechtnis.memory.selectors.recall.periods import Anchor, Period
from gedaechtnis.memory.selectors.recall.query import Intent
from gedaechtnis.memory.selectors.recall.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for; days are those of the asker's `zone`.

    `about`: the entities it is about. Of "Tims Schwester" that is the sister, where the graph knows her; then `led_by`
    has the lexeme of Tim, which tells nothing of facts about others.
    """

    mode: Mode
    intent: Intent
    words: Vocabulary
    people: People
    about: frozenset[UUID]
    led_by: frozenset[str]
    periods: tuple[Period, ...]
    asks_of_earlier: bool
    zone: ZoneInfo

    @property
    def ranges(self) -> list[tuple[datetime, datetime]]:
        """The periods with both ends, as instants."""
        return _ranges(self.periods, self.zone)

    def day_of(self, instant: datetime) -> date:
        return instant.astimezone(self.zone).date()


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
    about = _about(text, named, moment, _ranges(dated, principal.zone))
    return Question(
        mode=mode,
        intent=query.intent(text),
        words=words,
        people=named,
        about=about.entity_ids,
        led_by=about.led_by,
        periods=dated,
        asks_of_earlier=query.asks_of_earlier(text),
        zone=principal.zone,
    )


def _ranges(dated: Sequence[Period], zone: ZoneInfo) -> list[tuple[datetime, datetime]]:
    return [
        (datetime.combine(period.first, time(), tzinfo=zone), datetime.combine(period.after, time(), tzinfo=zone))
        for period in dated
        if period.first and period.after
    ]


class _About(NamedTuple):
    entity_ids: frozenset[UUID]
    led_by: frozenset[str]


def _about(text: str, named: People, moment: Moment, ranges: Sequence[tuple[datetime, datetime]]) -> _About:
    """Whom it names, but of relations that lead somewhere their other end instead of whose they are."""
    reading = relations.read(text, named.by_key)
    if not reading.phrases:
        return _About(named.entity_ids, frozenset())
    own = frozenset([named.own] if named.own else [])
    owners: dict[str | None, frozenset[UUID]] = {None: own}
    owners.update(named.by_key)
    ends = {end: ids for end, ids in relations.follow(reading.relations, owners, moment, ranges).items() if ids}
    rest = reading.rest(ends.keys())
    still_named = own if query.is_first_person(rest) else frozenset()
    still_named = still_named.union(*(owners[key] for key in query.name_keys(rest).keys() & named.by_key.keys()))
    left = frozenset[UUID]().union(*(owners[relation.root] for relation in ends)) - still_named
    return _About((named.entity_ids - left).union(*ends.values()), frozenset(query.terms(text)) - {*query.terms(rest)})


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
