"""Relative and partial dates of German and English, resolved against the moment a message was sent.

`find` locates the phrases; a phrase becomes bounds once it is known whether the sentence speaks of
the past or of the future ("am Montag"). What stays ambiguous gives no date. Day boundaries are those
of the owner's zone, whatever the clocks do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from enum import Enum
from functools import cache
from typing import Literal

from dateutil.relativedelta import relativedelta

from gedaechtnis.common.dates.periods import (
    Bound,
    Period,
    date_of,
    days,
    indexed_month,
    monday,
    one_day,
    whole_month,
    whole_year,
)
from gedaechtnis.common.dates.words import GRAMMARS, Grammar

Role = Literal["at", "from", "until"]

_DAY = timedelta(days=1)


class Lean(Enum):
    """Which way an incomplete date points."""

    PAST = -1
    NONE = 0
    FUTURE = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the phrases of one sentence say about the interval; `at` = a period in which it took place."""

    valid_from: Bound | None = None
    valid_to: Bound | None = None
    at: Period | None = None


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A phrase at `text[start:end]` and how it binds."""

    start: int
    end: int
    kind: str
    role: Role
    past: Period | None
    future: Period | None
    looks_back: bool = False
    instant: Bound | None = None

    def period(self, lean: Lean) -> Period | None:
        """The days meant; None where the phrase is vague or could mean two things."""
        if lean is Lean.PAST:
            return self.past
        if lean is Lean.FUTURE:
            return self.future
        return self.past if self.past == self.future else None


def find(text: str, *, sent_at: datetime, zone: tzinfo, language: str) -> tuple[TimePhrase, ...]:
    """The time phrases of a text, in order and without overlaps."""
    today = sent_at.astimezone(zone).date()
    grammar = GRAMMARS[language]
    candidates = [
        _phrase(kind, match, today, sent_at.astimezone(zone), grammar)
        for kind, pattern in _patterns(language).items()
        for match in pattern.finditer(text)
        if not _is_bare(kind, match)
    ]
    chosen: list[TimePhrase] = []
    for phrase in sorted(candidates, key=lambda phrase: (phrase.start, -phrase.end)):
        if not chosen or phrase.start >= chosen[-1].end:
            chosen.append(phrase)
    return tuple(chosen)


def bounds(phrases: Iterable[TimePhrase], lean: Lean = Lean.NONE) -> Bounds:
    """Combine the phrases of one sentence."""
    valid_from: Bound | None = None
    valid_to: Bound | None = None
    at: Period | None = None
    for phrase in phrases:
        if phrase.instant is not None:
            valid_from = phrase.instant
            continue
        period = phrase.period(lean if phrase.role == "at" else _own_lean(phrase))
        if period is None:
            continue
        if phrase.role == "until":
            valid_to = period.end()
        else:
            valid_from = valid_from or period.start()
            at = period if phrase.role == "at" else at
    return Bounds(valid_from, valid_to, at)


def number(word: str, language: str) -> int | None:
    """A number word up to twelve or so as the number it stands for."""
    return GRAMMARS[language].numbers.get(word.lower())


def calendar_date(text: str, language: str) -> str | None:
    """A date of birth or the like: `1990-04-03`, `--04-03` without a year, `1990`; None if there is none."""
    grammar = GRAMMARS[language]
    for kind in ("iso", "numeric", "day_month", "month_day", "year"):
        pattern = _patterns(language).get(kind)
        match = pattern.search(text) if pattern else None
        if match is None:
            continue
        parts = match.groupdict()
        year = _year(parts.get("y"))
        if kind == "year":
            return str(year)
        day, month = int(parts["d"]), _month(parts, grammar)
        if date_of(year or 2000, month, day) is None:
            return None
        return f"{year:04d}-{month:02d}-{day:02d}" if year else f"--{month:02d}-{day:02d}"
    return None


def _is_bare(kind: str, match: re.Match[str]) -> bool:
    """Whether a month or weekday stands alone: then it may be a name ("June") or a habit."""
    return kind in ("month", "weekday") and not any(
        match.groupdict().get(name) for name in ("role", "which", "part", "y")
    )


def _own_lean(phrase: TimePhrase) -> Lean:
    if phrase.role == "until":
        return Lean.FUTURE
    return Lean.PAST if phrase.looks_back else Lean.FUTURE


def _phrase(kind: str, match: re.Match[str], today: date, now: datetime, grammar: Grammar) -> TimePhrase:
    parts = {name: value for name, value in match.groupdict().items() if value}
    role, since = _role(parts.get("role", "").lower(), grammar)
    if kind == "lasting":
        role = "from"
    if kind == "now":
        return TimePhrase(
            match.start(), match.end(), kind, "from", None, None, instant=Bound(now.isoformat(), "instant")
        )
    past, future = _RESOLVERS[kind](parts, today, grammar)
    shown = "today" if kind == "relative" and past is not None and past.first == today else kind
    return TimePhrase(match.start(), match.end(), shown, role, past, future, since)


def _role(word: str, grammar: Grammar) -> tuple[Role, bool]:
    """What the preposition makes of the phrase, and whether it looks back ("since")."""
    if re.fullmatch(grammar.since, word):
        return "from", True
    if re.fullmatch(grammar.starting, word):
        return "from", False
    return ("until", False) if re.fullmatch(grammar.until, word) else ("at", False)


@cache
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    grammar = GRAMMARS[language]
    roles = "|".join((grammar.since, grammar.starting, grammar.until, grammar.at))
    fillings = {
        "ROLE": rf"(?:(?P<role>{roles})\s+)?",
        "WHICH": rf"(?P<which>{'|'.join(grammar.which.values())})\s+",
        "MONTH": "|".join(grammar.months),
        "WEEKDAY": "|".join(grammar.weekdays),
        "UNIT": "|".join(grammar.units),
        "NUMBER": rf"\d{{1,4}}|{'|'.join(grammar.numbers)}",
        "RELATIVE": "|".join(pattern for pattern, _ in grammar.relative),
        "DAYPART": grammar.daypart,
        "PART": grammar.part,
        "YEAR": r"(?:19|20)\d\d",
    }
    blank = re.compile("|".join(fillings))
    return {
        kind: re.compile(
            rf"(?<![\w.:-]){blank.sub(lambda match: fillings[match.group()], expression)}(?!\w|[:.-]\d)", re.IGNORECASE
        )
        for kind, expression in grammar.expressions.items()
    }


Pair = tuple[Period | None, Period | None]


def _both(period: Period | None) -> Pair:
    return period, period


def _iso(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    return _both(one_day(date_of(int(parts["y"]), int(parts["m"]), int(parts["d"]))))


def _day_month(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    day, month = int(parts["d"]), _month(parts, grammar)
    if year := _year(parts.get("y")):
        return _both(one_day(date_of(year, month, day)))
    days = [found for offset in range(-4, 5) if (found := date_of(today.year + offset, month, day))]
    past = max((found for found in days if found <= today), default=None)
    future = min((found for found in days if found >= today), default=None)
    return one_day(past), one_day(future)


def _month_name(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    month = _month(parts, grammar)
    if year := _year(parts.get("y")):
        return _both(whole_month(year, month))
    this = today.year * 12 + today.month - 1
    candidate = today.year * 12 + month - 1
    before = candidate if candidate <= this else candidate - 12
    after = candidate if candidate >= this else candidate + 12
    which = _which(parts, grammar)
    if which == "last":
        return _both(indexed_month(before if before < this else before - 12))
    if which in ("next", "coming"):
        return _both(indexed_month(after if after > this else after + 12))
    if which == "this":
        return _both(indexed_month(candidate))
    return indexed_month(before), indexed_month(after)


def _weekday(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    wanted = _index(parts["weekday"], grammar.weekdays)
    back = (today.weekday() - wanted) % 7
    ahead = (wanted - today.weekday()) % 7
    which = _which(parts, grammar)
    if which == "last":
        return _both(one_day(today - _DAY * (back or 7)))
    if which == "coming":
        return _both(one_day(today + _DAY * (ahead or 7)))
    if which == "this":
        return _both(one_day(today + _DAY * (wanted - today.weekday())))
    if which == "next":
        # "next Friday" on a Monday may mean this week's or the following one.
        in_this_week = 0 < ahead < 7 - today.weekday()
        return (None, None) if in_this_week else _both(one_day(today + _DAY * (ahead or 7)))
    if not back:
        return None, None
    return one_day(today - _DAY * back), one_day(today + _DAY * ahead)


def _unit(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    step = {"last": -1, "this": 0, "next": 1, "coming": 1}[_which(parts, grammar) or "this"]
    unit = _index(parts["unit"], grammar.units)
    if unit == 1:
        return _both(days(monday(today) + 7 * step * _DAY, 7, "week"))
    if unit == 2:
        return _both(indexed_month(today.year * 12 + today.month - 1 + step))
    if unit == 3:
        return _both(whole_year(today.year + step))
    saturday = monday(today) + (5 + 7 * step) * _DAY
    return _both(days(saturday, 2, "day"))


def _distance(parts: dict[str, str], today: date, grammar: Grammar, sign: int) -> Pair:
    word = parts["n"].lower()
    count = int(word) if word.isdigit() else grammar.numbers[word]
    unit = _index(parts["unit"], grammar.units)
    if count > 5000:
        return None, None
    delta = (
        relativedelta(days=count), relativedelta(weeks=count), relativedelta(months=count), relativedelta(years=count)
    )[unit]  # fmt: skip
    try:
        day = today + delta * sign
    except (ValueError, OverflowError):
        return None, None
    if unit == 2:
        return _both(whole_month(day.year, day.month))
    if unit == 3:
        return _both(whole_year(day.year))
    return _both(one_day(day))


def _ago(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    return _distance(parts, today, grammar, -1)


def _ahead(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    return _distance(parts, today, grammar, 1)


def _relative(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    for pattern, offset in grammar.relative:
        if re.fullmatch(pattern, parts["word"], re.IGNORECASE):
            return _both(one_day(today + offset * _DAY))
    return None, None


def _only_year(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    return _both(whole_year(int(parts["y"])))


def _vague(parts: dict[str, str], today: date, grammar: Grammar) -> Pair:
    return None, None


_RESOLVERS = {
    "iso": _iso,
    "numeric": _day_month,
    "day_month": _day_month,
    "month_day": _day_month,
    "month": _month_name,
    "weekday": _weekday,
    "unit": _unit,
    "ago": _ago,
    "lasting": _ago,
    "ahead": _ahead,
    "relative": _relative,
    "year": _only_year,
    "vague": _vague,
}


def _year(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if len(text) == 4 else (1900 if int(text) > 35 else 2000) + int(text)


def _month(parts: dict[str, str], grammar: Grammar) -> int:
    return int(parts["m"]) if "m" in parts else _index(parts["month"], grammar.months) + 1


def _which(parts: dict[str, str], grammar: Grammar) -> str | None:
    word = parts.get("which", "")
    return next((name for name, pattern in grammar.which.items() if word and re.fullmatch(pattern, word, re.I)), None)


def _index(word: str, patterns: tuple[str, ...]) -> int:
    return next(i for i, pattern in enumerate(patterns) if re.fullmatch(pattern, word, re.IGNORECASE))
