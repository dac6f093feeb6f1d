"""Which system time and which world time a question is about, and the basis that repeats it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.instants import parse_as_of, parse_instant, rfc3339
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping import clocks

_BASIS = "b1."


@dataclass(frozen=True, slots=True)
class Basis:
    """A tick per scope: asked again at it, the answer is the same for ever."""

    ticks: Mapping[str, datetime]

    def __str__(self) -> str:
        body = json.dumps({ref: rfc3339(tick) for ref, tick in sorted(self.ticks.items())}, separators=(",", ":"))
        return _BASIS + base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where on both axes a question stands: `ticks` per scope (system), `valid_at` (world)."""

    ticks: Mapping[str, datetime]
    known_at: datetime
    valid_at: datetime

    @property
    def basis(self) -> str:
        return str(Basis(self.ticks))


def read_known_at(text: str, *, principal: Principal, field: str = "known_at") -> datetime | Basis:
    """A caller's `known_at`: an instant, a date, or a basis from an earlier answer.

    Raises:
        Problem: `invalid_basis`, or what `parse_as_of` raises.
    """
    if not text.startswith(_BASIS):
        return parse_as_of(text, zone=principal.zone, field=field, now=clock.now())
    encoded = text.removeprefix(_BASIS)
    try:
        body = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
        return Basis({str(ref): parse_instant(tick, zone=principal.zone, field=field) for ref, tick in body.items()})
    except (ValueError, AttributeError, TypeError, RecursionError, binascii.Error) as error:
        raise Problem("invalid_basis", _("This basis cannot be read."), field=field) from error


def settle(
    *, principal: Principal, valid_at: datetime | None = None, known_at: datetime | Basis | None = None
) -> Moment:
    """Cut a question to what is committed. Call it inside the scope, before reading facts.

    A `known_at` in the future means now. World time defaults to the system time asked for.
    """
    committed = clocks.committed(principal.read_scopes)
    now = max([clock.now(), *committed.values()])
    if isinstance(known_at, Basis):
        ticks = {ref: min(tick, committed[ref]) for ref, tick in known_at.ticks.items() if ref in committed}
        asked = max(ticks.values(), default=now)
    else:
        asked = min(known_at, now) if known_at else now
        ticks = {ref: min(tick, asked) for ref, tick in committed.items()}
    return Moment(
        ticks=ticks,
        known_at=asked,
        valid_at=valid_at or (asked if known_at else now),
    )
