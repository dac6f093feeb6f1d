from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict

from gedaechtnis.common.problems import Problem
from gedaechtnis.web.search import Asked, from_address

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)


def asked(address: str) -> Asked:
    return from_address(QueryDict(address), zone=BERLIN, now=NOW)


def test_an_address_comes_back_as_it_was() -> None:
    narrowed = "?q=a&in=facts&from=2026-05-01&to=2026-05-31&mode=keyword&as_of=2026-05-01T10%3A00%3A00Z"
    narrowed = "?q=a&in=facts&from=2026-05-01&to=2026-05-31&mode=keyword&as_of=2026-05-01T10%3A00%3A00Z"
    for address in ("", "?q=Garten", narrowed):
        assert asked(address.removeprefix("?")).address() == address


def test_what_it_does_not_know_means_the_default() -> None:
    assert asked("q=a&in=nowhere&mode=magic") == Asked(q="a")


def test_days_are_those_of_the_reader_and_the_last_one_counts() -> None:
    query = asked("q=a&from=2026-05-01&to=2026-05-01").query(zone=BERLIN, now=NOW, cursor=None)
    assert query.time_range is not None
    begin, end = query.time_range
    assert begin == datetime(2026, 4, 30, 22, tzinfo=UTC)
    assert end.astimezone(BERLIN).date().isoformat() == "2026-05-01"
    assert (end - begin).total_seconds() > 86399


@pytest.mark.parametrize(
    ("address", "code"), [("q=a&from=gestern", "invalid_time"), ("q=a&from=2026-05-02&to=2026-05-01", "empty_range")]
)
def test_days_that_cannot_be_read_are_refused(address: str, code: str) -> None:
    with pytest.raises(Problem) as refused:
        asked(address).query(zone=BERLIN, now=NOW, cursor=None)
    assert refused.value.code == code
