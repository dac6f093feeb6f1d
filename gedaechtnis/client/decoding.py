"""From JSON to the models, by their annotations."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decode(kind: type[T], value: Any) -> T:
    """`value` as an object of a model; fields it does not know are left out. Raises TypeError if one is missing."""
    return _as(kind, value)  # type: ignore[no-any-return]


def _as(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return None if value is None else _as(next(arg for arg in get_args(kind) if arg is not type(None)), value)
    if origin is tuple:
        return tuple(_as(get_args(kind)[0], item) for item in value)
    if kind is datetime:
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and is_dataclass(kind):
        known = _hints(kind)
        return kind(**{name: _as(known[name], value[name]) for name in known if name in value})
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
