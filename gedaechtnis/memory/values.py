"""Whether an object fits its predicate, and when two objects of a predicate are equal."""

from __future__ import annotations

import re
from datetime import date
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_line
from gedaechtnis.registry import value_schemas
from gedaechtnis.registry.models import Predicate

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+[1-9]\d{3,14}|\d{3,15}")
_SPELLED_PHONE = re.compile(r"\+?[\d\s()/.-]{3,30}")
_DATE = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?|--(?P<m>\d{2})-(?P<d>\d{2})", re.ASCII)
_LEAP_YEAR = 2000
MAX_RULE = 1_000
"""Characters of what agents must keep to: it goes into every run."""


def check_value(predicate: Predicate, value: Any, *, field: str) -> None:
    """Whether a literal is what the predicate takes; what agents must keep to is one line that people can read.

    Raises:
        Problem: `value_misfit`, with the reason; `too_long`, `not_one_line`, `invisible_text`, `empty_text`.
    """
    if not _FITS[Predicate.ValueType(predicate.value_type)](value):
        raise Problem(
            "value_misfit",
            _("“%(predicate)s” takes %(expected)s.")
            % {"predicate": predicate.key, "expected": Predicate.ValueType(predicate.value_type).label},
            field=field,
        )
    if predicate.privileged and isinstance(value, str):
        check_line(value, field=field, limit=MAX_RULE)
    reason = value_schemas.misfit(predicate.value_schema, value) if predicate.value_schema else None
    if reason is not None:
        raise Problem(
            "value_misfit",
            _("This does not fit “%(predicate)s”: %(reason)s.") % {"predicate": predicate.key, "reason": reason},
            field=field,
        )


def object_key(predicate: Predicate | None, *, value: Any = None, entity_id: UUID | None = None) -> UUID:
    """The key by which objects of a predicate (None: an unregistered one) are equal.

    Telephone numbers are, however they are spaced.
    """
    if predicate is not None and predicate.value_type == Predicate.ValueType.PHONE and isinstance(value, str):
        value = _dialled(value)
    ignore_case = predicate is not None and predicate.ignore_case
    return canonical.object_key(value=value, entity_id=entity_id, ignore_case=ignore_case)


def check_kind(predicate: Predicate, kind: str, allowed: list[str], *, field: str) -> None:
    """Raises Problem `kind_misfit` if an entity's kind is not one of those the predicate links."""
    if allowed and kind not in allowed:
        raise Problem(
            "kind_misfit",
            _("“%(predicate)s” does not go with the kind “%(kind)s”; it takes %(allowed)s.")
            % {"predicate": predicate.key, "kind": kind, "allowed": ", ".join(allowed)},
            field=field,
        )


def refines(finer: Any, coarser: Any) -> bool:
    """Whether one date says the same as another, only more exactly (1990-04-03 and 1990)."""
    return (
        isinstance(finer, str)
        and isinstance(coarser, str)
        and _is_date(finer)
        and _is_date(coarser)
        and finer.startswith(f"{coarser}-")
    )


def _is_date(value: Any) -> bool:
    """A day, a month or a year of the calendar (ISO 8601), or a day of every year (`--04-03`)."""
    match = _DATE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return False
    parts = match.groupdict()
    try:
        date(
            int(parts["year"] or _LEAP_YEAR),
            int(parts["month"] or parts["m"] or 1),
            int(parts["day"] or parts["d"] or 1),
        )
    except ValueError:
        return False
    return True


def _dialled(number: str) -> str:
    """A telephone number without what only spaces it: E.164 where its country is told, else the digits."""
    digits = re.sub(r"[\s()/.-]", "", number.replace("(0)", ""))
    return f"+{digits[2:]}" if digits.startswith("00") else digits


def _is_phone(value: Any) -> bool:
    return (
        isinstance(value, str)
        and bool(_SPELLED_PHONE.fullmatch(value.strip()))
        and bool(_PHONE.fullmatch(_dialled(value)))
    )


def _matches(pattern: re.Pattern[str]) -> Any:
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value.strip()))


_FITS = {
    Predicate.ValueType.ANY: lambda value: True,
    Predicate.ValueType.ENTITY: lambda value: False,
    Predicate.ValueType.TEXT: lambda value: isinstance(value, str),
    Predicate.ValueType.NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    Predicate.ValueType.DATE: _is_date,
    Predicate.ValueType.TIME: _matches(_TIME),
    Predicate.ValueType.EMAIL: _matches(_EMAIL),
    Predicate.ValueType.PHONE: _is_phone,
}
