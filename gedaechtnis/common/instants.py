"""Instants, their precision, and the reading of times that people and programs write.

Everything inside is an aware UTC `datetime` with microseconds; intervals are half-open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem

UNKNOWN_START = datetime(1, 1, 2, tzinfo=UTC)
"""Stands for "since when is not known"; shown and exported as null."""

_OPEN_YEAR = 9999
_FIRST, _LAST = datetime(1, 1, 3, tzinfo=UTC), datetime(_OPEN_YEAR, 1, 1, tzinfo=UTC)
"""What is accepted as a time: days away from where Python's calendar ends, so that every zone can show it."""

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_OPEN = {"infinity", "+infinity"}


class Precision(StrEnum):
    """How exactly a bound is known; people read "since March 2026", never a false second."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of an interval: an aware UTC instant and how exactly it is known."""

    at: datetime
    precision: Precision = Precision.INSTANT


UNKNOWN = Bound(UNKNOWN_START, Precision.UNKNOWN)


def candidates(naive: datetime, zone: ZoneInfo) -> list[datetime]:
    """The zero, one or two UTC instants that a wall-clock time can mean in a zone, ascending."""
    if not is_in_range(naive):
        return []
    found = set()
    for fold in (0, 1):
        instant = naive.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == naive:
            found.add(instant)
    return sorted(found)


def parse_instant(text: str, *, zone: ZoneInfo, field: str) -> datetime:
    """Read an RFC 3339 instant. `zone` serves only to say what a naive time could have meant.

    Raises:
        Problem: `invalid_time`; or, where the offset is missing, `naive_time`,
            `nonexistent_time` or `ambiguous_time` with the possible instants in `extra`.
    """
    parsed = _parsed(text, field)
    if not is_in_range(parsed):
        raise _out_of_range(field)
    if parsed.tzinfo is not None:
        return parsed.astimezone(UTC)
    possible = candidates(parsed, zone)
    options = [rfc3339(instant) for instant in possible]
    code, message = {
        0: ("nonexistent_time", _("“%(text)s” does not exist in %(zone)s (the clocks go forward).")),
        1: ("naive_time", _("“%(text)s” lacks an offset. In %(zone)s it would be %(options)s.")),
        2: ("ambiguous_time", _("“%(text)s” happens twice in %(zone)s: %(options)s. Which one?")),
    }[len(possible)]
    values = {"text": text[:60], "zone": zone.key, "options": ", ".join(options)}
    raise Problem(code, message % values, field=field, extra={"candidates": options})


def _parsed(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise Problem(
            "invalid_time",
            _("“%(text)s” is not a time I can read. Write a day as 2026-06-07, an instant as 2026-06-07T18:30+02:00.")
            % {"text": text[:60]},
            field=field,
        ) from error


def is_in_range(moment: datetime) -> bool:
    """Whether a time, with or without a zone, is one that every zone can show."""
    return _FIRST <= moment.replace(tzinfo=UTC) < _LAST


def _out_of_range(field: str) -> Problem:
    return Problem("invalid_time", _("The time is out of range."), field=field)


def parse_bound(text: str, *, zone: ZoneInfo, field: str) -> Bound | None:
    """Read one bound: an instant, or a date, month or year in the scope's zone (its first instant).

    `infinity` and the year 9999 mean open and give None.
    """
    cleaned = text.strip()
    if cleaned.lower() in _OPEN:
        return None
    matched = _DATE.fullmatch(cleaned)
    if matched is None:
        if _parsed(cleaned, field).year >= _OPEN_YEAR:
            return None
        at = parse_instant(cleaned, zone=zone, field=field)
        return None if at.year >= _OPEN_YEAR else Bound(at)
    year, month, day = matched.groups()
    if int(year) >= _OPEN_YEAR:
        return None
    precision = Precision.DAY if day else Precision.MONTH if month else Precision.YEAR
    try:
        first = date(int(year), int(month or 1), int(day or 1))
    except ValueError as error:
        raise Problem(
            "invalid_time", _("“%(text)s” is not a day of the calendar.") % {"text": text[:60]}, field=field
        ) from error
    if first < _FIRST.date():
        raise _out_of_range(field)
    return Bound(start_of_day(first, zone), precision)


def parse_as_of(text: str, *, zone: ZoneInfo, field: str, now: datetime) -> datetime:
    """Read the moment of a question: a bare date means the last instant of that day, today means now."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip(), re.ASCII):
        bound = parse_bound(text, zone=zone, field=field)
        if bound is None:
            return now
        day = bound.at.astimezone(zone).date()
        if day == now.astimezone(zone).date():
            return now
        return start_of_day(day + timedelta(days=1), zone) - timedelta(microseconds=1)
    return parse_instant(text, zone=zone, field=field)


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a local day, UTC; where midnight is skipped, the first instant after the gap."""
    try:
        return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time.min, tzinfo=UTC)


def shown(instant: datetime | None) -> datetime | None:
    """An instant as the outside sees it: the unknown start is null."""
    return None if instant == UNKNOWN_START else instant


def bound_text(at: datetime, precision: str, zone: ZoneInfo) -> str:
    """A bound as `parse_bound` reads it, no more exact than it is known."""
    day = at.astimezone(zone).date().isoformat()
    shortened = {Precision.YEAR: day[:4], Precision.MONTH: day[:7], Precision.DAY: day}
    return shortened.get(Precision(precision), rfc3339(at))


def rfc3339(instant: datetime) -> str:
    """`2026-11-30T08:00:00Z`, with microseconds only where there are any."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
