"""Whether an object fits its predicate."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.registry.models import Predicate

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?[\d\s()/.-]{3,30}")
_PARTIAL_DATE = re.compile(r"\d{4}(-\d{2})?|--\d{2}-\d{2}")


def check_value(predicate: Predicate, value: Any, *, field: str) -> None:
    """Raises Problem `value_misfit` if a literal is not of the predicate's type."""
    if not _FITS[Predicate.ValueType(predicate.value_type)](value):
        raise Problem(
            "value_misfit",
            _("“%(predicate)s” takes %(expected)s.")
            % {"predicate": predicate.key, "expected": Predicate.ValueType(predicate.value_type).label},
            field=field,
        )


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
    if not isinstance(value, str):
        return False
    if _PARTIAL_DATE.fullmatch(value):
        return True
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


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
    Predicate.ValueType.PHONE: _matches(_PHONE),
}
