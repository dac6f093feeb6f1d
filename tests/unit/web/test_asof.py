from __future__ import annotations

import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict

from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.answers import ChangePoint, Timeline
from gedaechtnis.web import asof
from gedaechtnis.web.asof import Axis
from tests.unit.web.conftest import NOW

BERLIN = ZoneInfo("Europe/Berlin")
MAY = datetime(2026, 4, 30, 22, tzinfo=UTC)
JUNE = datetime(2026, 5, 31, 22, tzinfo=UTC)


def points(*instants: datetime) -> tuple[ChangePoint, ...]:
    return tuple(ChangePoint(at=at, changes=1) for at in instants)


TIMELINE = Timeline(valid=points(UNKNOWN_START, MAY, JUNE), known=points(JUNE))


def address(query: str) -> asof.Moment:
    return asof.from_address(QueryDict(query), zone=BERLIN, now=NOW)


def bar(query: str) -> asof.Moment | None:
    return asof.from_bar(QueryDict(query), zone=BERLIN, now=NOW, timeline=TIMELINE)


def test_no_moment_is_now() -> None:
    assert address("").is_now
    assert address("").query == ""


@pytest.mark.parametrize(
    "query",
    [
        "valid_at=2026-04-30T22%3A00%3A00Z",
        "as_of=2026-04-30T22%3A00%3A00Z",
        "valid_at=2026-04-30T22%3A00%3A00Z&known_at=2026-05-31T22%3A00%3A00Z",
        "axis=known",
    ],
)
def test_an_address_is_read_as_it_is_written(query: str) -> None:
    assert address(query).query == f"?{query}"


def test_what_the_agent_knew_is_asked_of_the_world_of_then() -> None:
    moment = address("as_of=2026-04-30T22:00:00Z")
    assert moment.axis is Axis.KNOWN
    assert moment.valid_at == moment.known_at == MAY


def test_what_held_is_asked_of_todays_belief() -> None:
    moment = address("valid_at=2026-04-30T22:00:00Z")
    assert (moment.valid_at, moment.known_at) == (MAY, None)


def test_a_bare_date_is_the_end_of_that_day() -> None:
    assert address("valid_at=2026-04-30").valid_at == MAY.replace(hour=21, minute=59, second=59, microsecond=999999)


def test_nobody_knew_the_future() -> None:
    assert address("as_of=2030-01-01T00:00:00Z").known_at == NOW


def test_the_slider_counts_change_points_and_ends_today() -> None:
    assert [step.at for step in asof.steps(TIMELINE, axis=Axis.VALID, now=NOW)] == [MAY, JUNE, None]
    first, last = bar("axis=valid&step=0"), bar("axis=valid&step=2")
    assert first is not None
    assert first.valid_at == MAY
    assert last is not None
    assert last.is_now


def test_today_stands_before_what_is_yet_to_come() -> None:
    later = datetime(2027, 1, 1, tzinfo=UTC)
    steps = asof.steps(Timeline(valid=points(MAY, later), known=()), axis=Axis.VALID, now=NOW)
    assert [step.at for step in steps] == [MAY, None, later]
    assert asof.current_step(steps, asof.NOW) == 1


def test_changes_of_one_minute_are_one_stop() -> None:
    moments = points(MAY, MAY.replace(second=20), MAY.replace(minute=1))
    steps = asof.steps(Timeline(valid=(), known=moments), axis=Axis.KNOWN, now=NOW)
    assert [(step.at, step.changes) for step in steps[:-1]] == [(moments[1].at, 2), (moments[2].at, 1)]


def test_a_typed_time_is_read_on_the_readers_clock() -> None:
    moment = bar("axis=known&at=2026-05-01T00:00")
    assert moment is not None
    assert moment.known_at == MAY


def test_a_time_that_the_clocks_skip_is_refused() -> None:
    with pytest.raises(Problem) as refused:
        bar("axis=valid&at=2026-03-29T02:30")
    assert refused.value.code == "nonexistent_time"


def test_the_slider_stands_at_the_last_change_before_the_moment() -> None:
    steps = asof.steps(TIMELINE, axis=Axis.VALID, now=NOW)
    between = asof.at_instant(Axis.VALID, datetime(2026, 5, 15, tzinfo=UTC))
    before = asof.at_instant(Axis.VALID, datetime(2020, 1, 1, tzinfo=UTC))
    assert asof.current_step(steps, between) == 0
    assert asof.current_step(steps, before) == 0


def test_labels_keep_their_distance() -> None:
    many = points(*(datetime(2020 + n // 12, n % 12 + 1, 1, tzinfo=UTC) for n in range(48)))
    steps = asof.steps(Timeline(valid=many, known=()), axis=Axis.VALID, now=NOW)
    labelled = [step.percent for step in steps if step.label]
    assert all(right - left >= 13 for left, right in itertools.pairwise(labelled))
    assert steps[-1].label == "today"
