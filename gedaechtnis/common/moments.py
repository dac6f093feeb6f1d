"""Time in words: in the reader's zone and language, and never more exact than it is known."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from gedaechtnis.common.clock import now as clock_now
from gedaechtnis.common.instants import Precision

_CALENDAR = re.compile(r"(\d{4}|-)-(\d{2})(?:-(\d{2}))?")
_ANY_LEAP_YEAR = 2000
_DAY_ENDS = timedelta(days=1) - timedelta(microseconds=1)


def full_day(instant: datetime | date) -> str:
    """`Friday, 1 May 2026`."""
    return date_format(local(instant), pgettext("date format", "l, j F Y"))


def long_day(instant: datetime | date) -> str:
    """`1 May 2026`."""
    return date_format(local(instant), pgettext("date format", "j F Y"))


def day_of_year(day: date) -> str:
    """`1 May`, a birthday without its year."""
    return date_format(day, pgettext("date format", "j F"))


def calendar(text: str) -> str:
    """`2026-05-01`, `2026-05` and `--05-01` (a birthday without its year) in words; any other text as it is."""
    matched = _CALENDAR.fullmatch(text)
    if matched is None:
        return text
    year, month_number, day = matched.groups()
    try:
        first = date(_ANY_LEAP_YEAR if year == "-" else int(year), int(month_number), int(day or 1))
    except ValueError:
        return text  # looks like a date and is none: it is shown as it was said
    if year == "-":
        return day_of_year(first)
    return long_day(first) if day else month(first)


def short_day(instant: datetime | date) -> str:
    """`1 May 26`, for the margin of a row."""
    return date_format(local(instant), pgettext("date format", "j M y"))


def month(instant: datetime | date) -> str:
    """`May 2026`."""
    return date_format(local(instant), pgettext("date format", "F Y"))


def short_month(instant: datetime | date) -> str:
    """`May 26`, under a tick."""
    return date_format(local(instant), pgettext("date format", "M y"))


def clock(instant: datetime) -> str:
    """`09:12`, always with 24 hours."""
    return date_format(local(instant), "H:i")


def day_and_clock(instant: datetime) -> str:
    """`1 May 2026, 09:12`."""
    return f"{long_day(instant)}, {clock(instant)}"


def moment(instant: datetime) -> str:
    """The day in full; the time only where the moment is neither the beginning nor the end of a day."""
    local = timezone.localtime(instant)
    into_the_day = timedelta(
        hours=local.hour, minutes=local.minute, seconds=local.second, microseconds=local.microsecond
    )
    if into_the_day in {timedelta(0), _DAY_ENDS}:
        return full_day(instant)
    return f"{full_day(instant)}, {clock(instant)}"


def day_heading(day: date, today: date) -> str:
    """What a day is called between messages: today, yesterday, or its date (the year only where it is another)."""
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day.year == today.year:
        return date_format(day, pgettext("date format", "l, j F"))
    return full_day(day)


def bound(instant: datetime, precision: str) -> str:
    """One end of an interval, as exactly as it is known; an instant is told by its day."""
    if precision == Precision.YEAR:
        return str(timezone.localtime(instant).year)
    if precision == Precision.MONTH:
        return month(instant)
    return long_day(instant)


def period(
    valid_from: datetime | None, valid_from_precision: str, valid_to: datetime | None, valid_to_precision: str
) -> str:
    """`since March 2026`, `March 2024 – June 2026`, `until 2020`; empty where neither end is known."""
    start = bound(valid_from, valid_from_precision) if valid_from else ""
    end = bound(valid_to, valid_to_precision) if valid_to and valid_to_precision != Precision.UNKNOWN else ""
    if start and end:
        return start if start == end else _("%(start)s – %(end)s") % {"start": start, "end": end}
    if start and valid_to:
        return _("from %(start)s, now over") % {"start": start}
    if start and valid_from and valid_from > clock_now():
        return _("from %(start)s") % {"start": start}
    if start:
        return _("since %(start)s") % {"start": start}
    if end:
        return _("until %(end)s") % {"end": end}
    return _("over, end unknown") if valid_to else ""


def ago(instant: datetime, now: datetime) -> str:
    """`2 min ago`, `7 months ago`, or `in 3 days`: one unit, the largest that fits."""
    if instant > now:
        return _("in %(span)s") % {"span": _span(instant - now)}
    if now - instant < timedelta(minutes=1):
        return _("just now")
    return _("%(span)s ago") % {"span": _span(now - instant)}


def _span(length: timedelta) -> str:
    minutes = max(1, int(length.total_seconds() // 60))
    hours, days = minutes // 60, length.days
    if hours < 1:
        return ngettext("%(count)d min", "%(count)d min", minutes) % {"count": minutes}
    if days < 1:
        return ngettext("%(count)d hour", "%(count)d hours", hours) % {"count": hours}
    if days < 14:
        return ngettext("%(count)d day", "%(count)d days", days) % {"count": days}
    if days < 60:
        return ngettext("%(count)d week", "%(count)d weeks", days // 7) % {"count": days // 7}
    months = round(days / 30.44)
    if months < 24:
        return ngettext("%(count)d month", "%(count)d months", months) % {"count": months}
    years = days // 365
    return ngettext("%(count)d year", "%(count)d years", years) % {"count": years}


def local(instant: datetime | date) -> datetime | date:
    """An instant on the reader's clock; a day stays the day it is."""
    return timezone.localtime(instant) if isinstance(instant, datetime) else instant
