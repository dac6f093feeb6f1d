"""The times that a question names, as ranges: dates, months, seasons, and what the graph dates ("before I moved")."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal

from gedaechtnis.common import dates
from gedaechtnis.common.dates.phrases import Lean
from gedaechtnis.memory.selectors.recall.query import looks_ahead

_SEASONS = {
    3: r"spring|frühling|fruehling|frühjahr",
    6: r"summer|sommer",
    9: r"autumn|fall|herbst",
    12: r"winter",
}
_SEASON = re.compile(
    rf"(?P<which>last|past|this|next|letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?|diese[nrsm]?|nächste[nrsm]?"
    rf"|kommende[nrsm]?|im|in(?: the)?|of)\s+(?P<season>{'|'.join(_SEASONS.values())})s?\b"
    r"(?:\s+(?:of\s+|des jahres\s+)?(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_NEXT = re.compile(r"next|nächste[nrsm]?|kommende[nrsm]?", re.IGNORECASE)
_LAST = re.compile(r"last|past|letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?", re.IGNORECASE)

_TURNS = {
    "lives_in": r"mov\w+|um(?:ge)?zog\w*|um(?:ge)?zieh\w*|umzug\w*|wohn\w+|(?:ein|weg|aus)gezogen|liv\w+",
    "works_at": r"start\w* (?:at|working|my job)|work\w*|join\w*|angefangen|anfing\w*|arbeite\w*|job\w*",
    "married_to": r"married|marri\w+|wedding|heirat\w*|geheiratet|hochzeit\w*",
    "partner_of": r"got together|met my|zusammen(?:kam\w*|gekommen)?",
}
_SIDES: dict[Literal["before", "after"], str] = {
    "before": r"before|prior to|until|bevor|ehe|vor (?:meinem|dem|der|meiner|unserer?)|bis",
    "after": r"after|since|nachdem|seit(?:dem)?|nach (?:meinem|dem|der|meiner|unserer?)",
}
_ANCHOR = re.compile(
    rf"\b(?:(?P<before>{_SIDES['before']})|(?P<after>{_SIDES['after']}))\s(?!wann|when)(?:[^.?!]{{0,40}}?\b)?"
    rf"(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _TURNS.items())})\b",
    re.IGNORECASE,
)

HELD = 0.8
_NEAR_DAYS = 7
_AFTERMATH = timedelta(days=20)


@dataclass(frozen=True, slots=True)
class Period:
    """Local days `[first, after)`; None = open. `is_exact` where single days are meant."""

    first: date | None
    after: date | None
    is_exact: bool = False

    def nearness(self, day: date) -> float:
        """How well a day fits, 0 to 1: people date a thing by the day they tell of it, or soon after."""
        if self.first is None or self.after is None:
            inside = (self.first is None or day >= self.first) and (self.after is None or day < self.after)
            return 0.3 if inside else 0.0
        if self.is_exact:
            away = (self.first - day).days if day < self.first else max(0, (day - self.after).days + 1)
            return math.exp(-away / _NEAR_DAYS)
        if self.first <= day < self.after:
            return 1.0 if self.after - self.first <= timedelta(days=31) else 0.6
        told_later = self.after <= day < self.after + _AFTERMATH
        return 0.5 if told_later and self.after - self.first <= timedelta(days=31) else 0.0


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time told by a turn of life: before or after a fact of `predicate` began."""

    side: Literal["before", "after"]
    predicate: str

    def period(self, began: date) -> Period:
        return Period(None, began) if self.side == "before" else Period(began, None)


def periods(text: str, *, now: datetime, zone: tzinfo) -> tuple[Period, ...]:
    """The times a question names, in either language; of an incomplete date the last, or the next if it looks ahead."""
    lean = Lean.FUTURE if looks_ahead(text) else Lean.PAST
    today = now.astimezone(zone).date()
    found = [*_seasons(text, today, lean), *_dated(text, now, zone, lean)]
    named: dict[Period, None] = {}
    end = 0
    for (first, last), period in sorted(found, key=lambda spot: (spot[0][0], -spot[0][1])):
        # A year is part of the date around it, which the other language may not know.
        if first >= end:
            named[period] = None
            end = last
    return tuple(named)


def anchors(text: str) -> tuple[Anchor, ...]:
    """The turns of life by which a question tells a time."""
    return tuple(
        Anchor("before" if match["before"] else "after", predicate)
        for match in _ANCHOR.finditer(text)
        for predicate in _TURNS
        if match[predicate]
    )


def nearness(day: date, named: Sequence[Period]) -> float:
    """How well a day fits the nearest of the periods, 0 to 1."""
    return max((period.nearness(day) for period in named), default=0.0)


def held(first: date | None, after: date | None, named: Sequence[Period]) -> float:
    """How well something that held on the days `[first, after)`, None = not known, fits the best of the periods.

    1 where it began or ended then, `HELD` where it held throughout, 0 where nobody knows.
    """
    return max((_told_of_held(period, first, after) for period in named), default=0.0)


Spot = tuple[tuple[int, int], Period]
"""A period and where in the text it stands."""


def _told_of_held(period: Period, first: date | None, after: date | None) -> float:
    if period.first is None or period.after is None:
        return 0.0
    began_then = first is not None and period.first <= first < period.after
    ended_then = after is not None and period.first < after <= period.after
    if began_then or ended_then:
        return 1.0
    if first is None and after is None:
        return 0.0
    return HELD if (first is None or first < period.after) and (after is None or after > period.first) else 0.0


def _dated(text: str, now: datetime, zone: tzinfo, lean: Lean) -> Iterator[Spot]:
    for language in ("de", "en"):
        for phrase in dates.find(text, sent_at=now, zone=zone, language=language):
            period = phrase.period(lean) or phrase.period(Lean.PAST) or phrase.period(Lean.FUTURE)
            if period is not None:
                is_exact = period.precision == "day"
                yield (phrase.start, phrase.end), Period(period.first, period.after, is_exact=is_exact)


def _seasons(text: str, today: date, lean: Lean) -> Iterator[Spot]:
    for match in _SEASON.finditer(text):
        month = next(month for month, words in _SEASONS.items() if re.fullmatch(words, match["season"], re.IGNORECASE))
        yield match.span(), _season_meant(match, month, today, lean)


def _season_meant(match: re.Match[str], month: int, today: date, lean: Lean) -> Period:
    if match["year"]:
        return _season(int(match["year"]), month)
    near = [_season(year, month) for year in range(today.year - 2, today.year + 3)]
    if _LAST.fullmatch(match["which"]):
        return [season for season in near if season.after and season.after <= today][-1]
    if _NEXT.fullmatch(match["which"]) or lean is Lean.FUTURE:
        return next(season for season in near if season.first and season.first > today)
    return [season for season in near if season.first and season.first <= today][-1]


def _season(year: int, month: int) -> Period:
    end = date(year + 1, 3, 1) if month == 12 else date(year, month + 3, 1)
    return Period(date(year, month, 1), end)
