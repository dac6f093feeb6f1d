"""When two literal values are equal, and the keys by which the database compares them."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import MAX_LITERAL_BYTES, check_text, fold_space

MAX_DEPTH = 32


def check_literal(value: Any, *, field: str) -> Any:
    """Return `value` unchanged if it may be stored as a literal.

    Raises:
        Problem: `null_value`, `invalid_text`, `invalid_number`, `too_deep` or `too_long`.
    """
    if value is None:
        raise Problem("null_value", _("A fact needs a value; null is none."), field=field)
    _check(value, field, 0)
    if len(json.dumps(value, ensure_ascii=False).encode()) > MAX_LITERAL_BYTES:
        raise Problem("too_long", _("A value may have at most 64 KiB."), field=field)
    return value


def _check(value: Any, field: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Problem("too_deep", _("The value is nested too deeply."), field=field)
    if isinstance(value, str):
        check_text(value, field=field, limit=MAX_LITERAL_BYTES)
    elif isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise Problem("invalid_number", _("Infinity and not-a-number cannot be stored."), field=field)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_text(key, field=field)
            _check(inner, field, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, field, depth + 1)


def canonical(value: Any, *, ignore_case: bool = False) -> str:
    """Canonical JSON of a literal: sorted keys, `1` = `1.0`, strings NFC with folded white space."""
    return json.dumps(_normal(value, ignore_case), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _normal(value: Any, ignore_case: bool) -> Any:
    if isinstance(value, str):
        folded = fold_space(value)
        return folded.casefold() if ignore_case else folded
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {fold_space(key): _normal(inner, ignore_case) for key, inner in value.items()}
    if isinstance(value, list):
        return [_normal(inner, ignore_case) for inner in value]
    return value


def digest(*parts: str) -> UUID:
    """A 128-bit key of the parts (SHA-256, cut): equal parts, equal key."""
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return UUID(bytes=hashlib.sha256(joined).digest()[:16])


def object_key(*, value: Any = None, entity_id: UUID | None = None, ignore_case: bool = False) -> UUID:
    """The key by which objects are equal: the entity, or the canonical literal."""
    if entity_id is not None:
        return digest("entity", str(entity_id))
    return digest("literal", canonical(value, ignore_case=ignore_case))
