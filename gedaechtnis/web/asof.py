"""The as-of bar: which moment a page shows, and the change points one can step through.

The address carries the moment and can be shared: `?valid_at=` asks what held, as believed today;
`?as_of=` asks what the agent knew then; `?valid_at=&known_at=` sets both axes (for experts).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.translation import gettext as _

from gedaechtnis.common import moments
from gedaechtnis.common.instants import UNKNOWN_START, candidates, parse_as_of, rfc3339
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.answers import ChangePoint, Timeline

_LABEL_SPACING = 13.0
"""Least distance between two labels under the ticks, in percent of the width."""


class Axis(StrEnum):
    """The question: what held in the world, or what the agent knew. `both` is set by hand in the address."""

    VALID = "valid"
    KNOWN = "known"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The moment a page shows; both instants None = now."""

    axis: Axis = Axis.VALID
    valid_at: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        return self.valid_at is None and self.known_at is None

    @property
    def at(self) -> datetime | None:
        """The instant the bar stands at."""
        return self.valid_at or self.known_at

    @property
    def query(self) -> str:
        """The moment as it stands in the address, with its question mark; empty for today."""
        return f"?{urlencode(self.parameters)}" if self.parameters else ""

    @property
    def parameters(self) -> dict[str, str]:
        """The moment by the names of the address; nothing for today."""
        match self.axis:
            case Axis.VALID if self.valid_at:
                return {"valid_at": rfc3339(self.valid_at)}
            case Axis.KNOWN if self.known_at:
                return {"as_of": rfc3339(self.known_at)}
            case Axis.KNOWN:
                return {"axis": self.axis}
            case Axis.BOTH:
                both = {"valid_at": self.valid_at, "known_at": self.known_at}
                return {name: rfc3339(at) for name, at in both.items() if at}
            case _:
                return {}

    def on(self, axis: Axis) -> Moment:
        """The same instant, asked on another axis."""
        return at_instant(axis, self.at)


NOW = Moment()


def at_instant(axis: Axis, at: datetime | None) -> Moment:
    """The moment at one instant of one axis; what the agent knew is asked of the world of then."""
    return Moment(axis=axis, valid_at=at, known_at=at if axis is Axis.KNOWN else None)


def from_address(params: QueryDict, *, zone: ZoneInfo, now: datetime) -> Moment:
    """Read the moment out of a shared address.

    Raises:
        Problem: a time that cannot be read (codes of `parse_as_of`).
    """

    def read(name: str) -> datetime | None:
        text = params.get(name)
        return parse_as_of(text, zone=zone, field=name, now=now) if text else None

    as_of = read("as_of")
    if as_of is not None:
        return at_instant(Axis.KNOWN, min(as_of, now))
    valid_at, known_at = read("valid_at"), read("known_at")
    if known_at is not None:
        return Moment(axis=Axis.BOTH, valid_at=valid_at, known_at=min(known_at, now))
    if valid_at is not None:
        return at_instant(Axis.VALID, valid_at)
    return Moment(axis=Axis.KNOWN if params.get("axis") == Axis.KNOWN else Axis.VALID)


def from_bar(params: QueryDict, *, zone: ZoneInfo, now: datetime, timeline: Timeline) -> Moment | None:
    """Read the moment out of the bar's forms (a slider step or a typed time); None if neither was sent.

    Raises:
        Problem: `invalid_time` or `nonexistent_time` for what was typed.
    """
    axis = Axis.KNOWN if params.get("axis") == Axis.KNOWN else Axis.VALID
    if step := params.get("step"):
        stops = _stops(timeline, axis, now)
        # int() refuses thousands of digits, and what is no number means the last stop as well.
        chosen = stops[min(int(step), len(stops) - 1) if step.isdecimal() and len(step) < 10 else len(stops) - 1]
        return at_instant(axis, chosen.at if chosen else None)
    if typed := params.get("at"):
        return at_instant(axis, _typed_time(typed, zone=zone, now=now))
    return None


def _typed_time(text: str, *, zone: ZoneInfo, now: datetime) -> datetime:
    """A wall-clock time of the reader; where it happens twice, the first of the two."""
    try:
        naive = datetime.fromisoformat(text)
    except ValueError as error:
        raise Problem(
            "invalid_time", _("“%(text)s” is not a time I can read.") % {"text": text[:60]}, field="at"
        ) from error
    if naive.tzinfo is not None or len(text) <= len("2026-11-30"):
        return parse_as_of(text, zone=zone, field="at", now=now)
    possible = candidates(naive, zone)
    if not possible:
        return parse_as_of(text, zone=zone, field="at", now=now)
    return possible[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stop of the slider: an instant (None = now), how much changed there, what stands under its tick."""

    index: int
    at: datetime | None
    changes: int
    percent: float
    label: str = ""

    @property
    def words(self) -> str:
        """How to say the moment; put into words only where it is asked for, as a slider may have a thousand stops."""
        return moments.moment(self.at) if self.at else _("Today")

    @property
    def tick_top(self) -> int:
        """Where the tick begins in a strip of 24 units: the more changed, the taller."""
        return 12 - min(4 + 2 * self.changes, 12)


def steps(timeline: Timeline, *, axis: Axis, now: datetime) -> tuple[Step, ...]:
    """The stops of one axis, ascending, `now` among them; changes within one minute are one stop."""
    stops = _stops(timeline, axis, now)
    last = max(len(stops) - 1, 1)
    made: list[Step] = []
    labelled_to = -_LABEL_SPACING
    for index, stop in enumerate(stops):
        percent = round(100 * index / last, 2)
        has_room = percent - labelled_to >= _LABEL_SPACING and percent <= 100 - _LABEL_SPACING
        label = _label(stop, made[-1] if made else None) if has_room or stop is None else ""
        if label:
            labelled_to = percent
        made.append(
            Step(
                index=index,
                at=stop.at if stop else None,
                changes=stop.changes if stop else 0,
                percent=percent,
                label=label,
            )
        )
    return tuple(made)


def _stops(timeline: Timeline, axis: Axis, now: datetime) -> list[ChangePoint | None]:
    """The change points of one axis, ascending; None among them is now."""
    points = timeline.known if axis is Axis.KNOWN else timeline.valid
    known = sorted((point for point in points if point.at > UNKNOWN_START), key=lambda point: point.at)
    stops: list[ChangePoint | None] = [
        _joined(tuple(group))
        for _minute, group in groupby(known, key=lambda point: point.at.replace(second=0, microsecond=0))
    ]
    stops.insert(sum(1 for stop in stops if stop and stop.at <= now), None)
    return stops


def _joined(group: tuple[ChangePoint, ...]) -> ChangePoint:
    return ChangePoint(at=group[-1].at, changes=sum(point.changes for point in group))


def _label(stop: ChangePoint | None, before: Step | None) -> str:
    if stop is None:
        return _("today")
    label = moments.short_month(stop.at)
    return "" if before and before.at and moments.short_month(before.at) == label else label


def current_step(stops: tuple[Step, ...], moment: Moment) -> int:
    """Where the slider stands: the last stop at or before the moment."""
    if moment.at is None:
        return next(step.index for step in stops if step.at is None)
    reached = [step.index for step in stops if step.at is not None and step.at <= moment.at]
    return reached[-1] if reached else 0
