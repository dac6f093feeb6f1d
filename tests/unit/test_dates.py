# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gedaechtnis.common import dates
from gedaechtnis.common.dates import Lean

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 30, 12, tzinfo=BERLIN)


def resolve(
    text: str, language: str = "de", lean: Lean = Lean.PAST, sent_at: datetime = MONDAY
) -> tuple[str | None, str | None]:
    found = dates.bounds(dates.find(text, sent_at=sent_at, zone=BERLIN, language=language), lean)
    return (
        found.valid_from.text if found.valid_from else None,
        found.valid_to.text if found.valid_to else None,
    )


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("heute", "2026-11-30"), ("gestern", "2026-11-29"), ("vorgestern", "2026-11-28"), ("gestern Abend", "2026-11-29"),
        ("seit Freitag", "2026-11-27"), ("am Freitag", "2026-11-27"), ("letzten Montag", "2026-11-23"),
        ("letzten Juni", "2026-06"), ("seit letztem Dezember", "2025-12"), ("im Mai 2019", "2019-05"), ("seit März 2024", "2024-03"),
        ("seit November", "2026-11"), ("vor drei Wochen", "2026-11-09"), ("vor 10 Tagen", "2026-11-20"), ("vor zwei Monaten", "2026-09"),
        ("vor einem Jahr", "2025"), ("seit drei Jahren", "2023"), ("letzte Woche", "2026-11-23"), ("letzten Monat", "2026-10"),
        ("letztes Jahr", "2025"), ("am 3. Mai", "2026-05-03"), ("am 3.4.1990", "1990-04-03"), ("seit dem 1.3.2024", "2024-03-01"),
        ("seit 2019", "2019"), ("Anfang März 2025", "2025-03"), ("2024-02-29", "2024-02-29"), ("am 24. Dezember", "2025-12-24"),
    ],
)  # fmt: skip
def test_german_looking_back(text: str, begins: str) -> None:
    assert resolve(text) == (begins, None)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("morgen", "2026-12-01"), ("ab morgen um 20 Uhr", "2026-12-01"), ("übermorgen", "2026-12-02"), ("ab Freitag", "2026-12-04"),
        ("kommenden Freitag", "2026-12-04"), ("nächsten Monat", "2026-12"), ("nächste Woche", "2026-12-07"), ("in drei Tagen", "2026-12-03"),
        ("am 1. Februar", "2027-02-01"), ("ab Januar", "2027-01"), ("ab sofort", "2026-11-30T12:00:00+01:00"),
    ],
)  # fmt: skip
def test_german_looking_ahead(text: str, begins: str) -> None:
    assert resolve(text, lean=Lean.FUTURE) == (begins, None)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("yesterday", "2026-11-29"), ("the day before yesterday", "2026-11-28"), ("last week", "2026-11-23"), ("since March", "2026-03"),
        ("since last June", "2026-06"), ("three weeks ago", "2026-11-09"), ("in May 2019", "2019-05"), ("for three years", "2023"),
        ("on May 3rd", "2026-05-03"), ("on the 3rd of May 2024", "2024-05-03"), ("April 3, 1990", "1990-04-03"), ("since Friday", "2026-11-27"),
        ("last year", "2025"), ("last night", "2026-11-29"), ("in 2019", "2019"),
    ],
)  # fmt: skip
def test_english_looking_back(text: str, begins: str) -> None:
    assert resolve(text, "en") == (begins, None)


@pytest.mark.parametrize(
    ("text", "begins"),
    [("tomorrow", "2026-12-01"), ("from tomorrow at 8 pm", "2026-12-01"), ("starting in January", "2027-01"), ("next month", "2026-12")],
)  # fmt: skip
def test_english_looking_ahead(text: str, begins: str) -> None:
    assert resolve(text, "en", Lean.FUTURE) == (begins, None)


@pytest.mark.parametrize(
    ("text", "language", "ends"),
    [
        ("bis Freitag", "de", "2026-12-05"), ("bis zum 5. Dezember", "de", "2026-12-06"), ("bis März 2027", "de", "2027-04"),
        ("bis morgen", "de", "2026-12-02"), ("bis 2027", "de", "2028"), ("until Friday", "en", "2026-12-05"), ("until 5 December", "en", "2026-12-06"),
    ],
)  # fmt: skip
def test_until_means_until_and_including(text: str, language: str, ends: str) -> None:
    assert resolve(text, language) == (None, ends)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("seit Montag", "de"), ("nächsten Freitag", "de"), ("neulich", "de"), ("letzten Sommer", "de"), ("guten Morgen", "de"),
        ("jeden Morgen", "de"), ("montags", "de"), ("next Friday", "en"), ("recently", "en"), ("you may go", "en"), ("June called", "en"),
        ("last summer", "en"), ("am 30. Februar", "de"), ("die 2500 Euro", "de"),
    ],
)  # fmt: skip
def test_what_is_vague_ambiguous_or_no_date_gives_none(text: str, language: str) -> None:
    """ "Seit Montag", said on a Monday, may mean today or a week ago."""
    assert resolve(text, language) == (None, None)


def test_a_weekday_without_direction_gives_no_date() -> None:
    assert resolve("am Freitag", lean=Lean.NONE) == (None, None)


def test_two_phrases_make_an_interval() -> None:
    assert resolve("von März 2020 bis Mai 2021") == ("2020-03", "2021-06")


def test_case_c03_yesterday_after_midnight_is_the_local_day_before() -> None:
    sent_at = datetime.fromisoformat("2026-07-04T00:40:00+02:00")
    assert resolve("Gestern habe ich Lena Vogt getroffen", sent_at=sent_at) == ("2026-07-03", None)
    in_utc = datetime.fromisoformat("2026-07-03T22:40:00+00:00")
    assert resolve("Gestern habe ich Lena Vogt getroffen", sent_at=in_utc) == ("2026-07-03", None)


def test_case_c03_this_evening_is_the_local_day() -> None:
    assert (
        resolve("Heute Abend war Chorprobe", sent_at=datetime.fromisoformat("2026-07-03T19:40:00+02:00"))[0]
        == "2026-07-03"
    )


def test_case_c04_words_are_read_at_the_time_of_the_message() -> None:
    sent_at = datetime.fromisoformat("2024-09-13T10:00:00+00:00")
    (phrase,) = dates.find("Last week I went to Lyon", sent_at=sent_at, zone=BERLIN, language="en")
    period = phrase.period(Lean.PAST)
    assert period is not None
    assert (period.first.isoformat(), period.after.isoformat(), period.precision) == (
        "2024-09-02",
        "2024-09-09",
        "week",
    )
    assert resolve("tomorrow I start at Firma Nord", "en", Lean.FUTURE, sent_at) == ("2024-09-14", None)


@pytest.mark.parametrize(
    ("sent_at", "yesterday", "tomorrow"),
    [
        ("2026-03-29T01:30:00+01:00", "2026-03-28", "2026-03-30"),  # the night the clocks go forward
        ("2026-03-29T03:30:00+02:00", "2026-03-28", "2026-03-30"),
        ("2026-10-25T02:30:00+02:00", "2026-10-24", "2026-10-26"),  # the hour that comes twice
        ("2026-10-25T02:30:00+01:00", "2026-10-24", "2026-10-26"),
        ("2026-10-25T23:59:59+01:00", "2026-10-24", "2026-10-26"),
    ],
)
def test_days_are_calendar_days_when_the_clocks_change(sent_at: str, yesterday: str, tomorrow: str) -> None:
    moment = datetime.fromisoformat(sent_at)
    assert resolve("gestern", sent_at=moment) == (yesterday, None)
    assert resolve("ab morgen", sent_at=moment) == (tomorrow, None)


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("am 3. April", "de", "--04-03"), ("am 3.4.1990", "de", "1990-04-03"), ("1990", "de", "1990"), ("am 3.4.90", "de", "1990-04-03"),
        ("April 3rd", "en", "--04-03"), ("3 April 1990", "en", "1990-04-03"), ("am 29. Februar", "de", "--02-29"), ("am 30.2.1990", "de", None),
        ("irgendwann", "de", None),
    ],
)  # fmt: skip
def test_calendar_dates(text: str, language: str, value: str | None) -> None:
    assert dates.calendar_date(text, language) == value
