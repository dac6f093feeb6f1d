from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import translation

from gedaechtnis.common import moments
from tests.unit.web.conftest import NOW


def instant(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def test_it_names_the_day_on_the_readers_clock() -> None:
    assert moments.full_day(instant(2026, 4, 30, 22)) == "Friday, 1 May 2026"


def test_it_gives_the_time_only_within_a_day() -> None:
    assert moments.moment(instant(2026, 4, 30, 22)) == "Friday, 1 May 2026"
    assert moments.moment(instant(2026, 5, 1, 22) - timedelta(microseconds=1)) == "Friday, 1 May 2026"
    assert moments.moment(instant(2026, 5, 1, 7, 12)) == "Friday, 1 May 2026, 09:12"


def test_it_speaks_german() -> None:
    with translation.override("de"):
        assert moments.full_day(instant(2026, 5, 1)) == "Freitag, 1. Mai 2026"
        assert moments.period(instant(2026, 3, 1), "month", None, "instant") == "seit März 2026"
        assert moments.ago(instant(2026, 5, 1), NOW) == "vor 7 Monaten"


@pytest.mark.parametrize(
    ("precision", "words"),
    [
        ("year", "since 2026"),
        ("month", "since March 2026"),
        ("day", "since 14 March 2026"),
        ("instant", "since 14 March 2026"),
    ],
)
def test_a_start_is_told_as_exactly_as_it_is_known(precision: str, words: str) -> None:
    assert moments.period(instant(2026, 3, 14), precision, None, "instant") == words


def test_an_unknown_start_has_no_date() -> None:
    assert moments.period(None, "unknown", None, "instant") == ""
    assert moments.period(None, "unknown", instant(2020, 1, 1), "year") == "until 2020"
    assert moments.period(None, "unknown", instant(2020, 1, 1), "unknown") == "over, end unknown"


def test_both_ends_make_a_span() -> None:
    assert moments.period(instant(2024, 4, 1), "month", instant(2026, 6, 1), "month") == "April 2024 – June 2026"
    assert moments.period(instant(2025, 1, 1), "year", instant(2025, 7, 1), "year") == "2025"


def test_what_begins_later_is_not_told_as_since() -> None:
    assert moments.period(instant(2027, 1, 15), "day", None, "instant") == "from 15 January 2027"


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=2), "2 min ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=20), "2 weeks ago"),
        (timedelta(days=213), "7 months ago"),
        (timedelta(days=1100), "3 years ago"),
        (-timedelta(days=3), "in 3 days"),
    ],
)
def test_distance_is_one_unit(span: timedelta, words: str) -> None:
    assert moments.ago(NOW - span, NOW) == words


def test_days_between_messages() -> None:
    today = date(2026, 11, 30)
    assert moments.day_heading(today, today) == "Today"
    assert moments.day_heading(date(2026, 11, 29), today) == "Yesterday"
    assert moments.day_heading(date(2026, 11, 2), today) == "Monday, 2 November"
    assert moments.day_heading(date(2025, 11, 2), today) == "Sunday, 2 November 2025"
