"""Stretches of local days, and the bounds they give an operation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Precision = Literal["instant", "day", "week", "month", "year"]

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound as an operation carries it: `2026-12-01`, `2024-03`, `2019`, or an RFC 3339 instant.

    A shortened date means the first instant of that month or year and says how exactly it is known.
    A week is given by its first day.
    """

    text: str
    precision: Precision


@dataclass(frozen=True, slots=True)
class Period:
    """Local days `[first, after)` that a phrase stands for."""

    first: date
    after: date
    precision: Precision

    def start(self) -> Bound:
        return bound_of(self.first, self.precision)

    def end(self) -> Bound:
        """The exclusive end: "until Friday" ends when Saturday begins."""
        return bound_of(self.after, self.precision)


def bound_of(day: date, precision: Precision) -> Bound:
    length = {"month": 7, "year": 4}.get(precision, 10)
    return Bound(day.isoformat()[:length], precision)


def days(first: date, count: int, precision: Precision) -> Period:
    return Period(first, first + count * _DAY, precision)


def one_day(day: date | None) -> Period | None:
    return None if day is None else days(day, 1, "day")


def whole_month(year: int, month: int) -> Period | None:
    return indexed_month(year * 12 + month - 1)


def indexed_month(index: int) -> Period:
    return Period(date(index // 12, index % 12 + 1, 1), date((index + 1) // 12, (index + 1) % 12 + 1, 1), "month")


def whole_year(year: int) -> Period:
    return Period(date(year, 1, 1), date(year + 1, 1, 1), "year")


def monday(day: date) -> date:
    return day - day.weekday() * _DAY


def date_of(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
