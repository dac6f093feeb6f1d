"""JSON Schema for the literals of a predicate. Schemas stand by themselves: nothing is ever fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import ValidationError as Misfit
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

_REFERENCES = ("$ref", "$dynamicRef")
_PROBES: tuple[Any, ...] = ("", 0, True, [], {})
_REASONS = {
    "type": gettext_lazy("it must be of the type %(rule)s"),
    "enum": gettext_lazy("it must be one of %(rule)s"),
    "const": gettext_lazy("it must be %(rule)s"),
    "pattern": gettext_lazy("it must match the pattern %(rule)s"),
    "minimum": gettext_lazy("it must be at least %(rule)s"),
    "exclusiveMinimum": gettext_lazy("it must be more than %(rule)s"),
    "maximum": gettext_lazy("it must be at most %(rule)s"),
    "exclusiveMaximum": gettext_lazy("it must be less than %(rule)s"),
    "minLength": gettext_lazy("it needs at least %(rule)s characters"),
    "maxLength": gettext_lazy("it may have at most %(rule)s characters"),
    "minItems": gettext_lazy("it needs at least %(rule)s entries"),
    "maxItems": gettext_lazy("it may have at most %(rule)s entries"),
    "required": gettext_lazy("it needs the fields %(rule)s"),
    "additionalProperties": gettext_lazy("it has fields that nobody knows"),
}
"""What a value breaks, by the schema's keyword, worded for whoever sent it."""


def check_schema(schema: Any) -> None:
    """Whether a schema can be used.

    Raises:
        ValidationError: it is no JSON Schema (2020-12), or refers to something outside itself or for ever to itself.
    """
    if not isinstance(schema, dict):
        raise ValidationError(_('A schema is a JSON object, as in {"type": "number"}.'))
    try:
        Draft202012Validator.check_schema(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    except SchemaError as error:
        place = "/".join(map(str, error.absolute_path)) or "/"
        raise ValidationError(_("This is no JSON Schema: see “%(place)s”.") % {"place": place}) from error
    resolver = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            raise ValidationError(
                _("“%(reference)s” is not in this schema, and nothing is fetched.") % {"reference": reference[:100]}
            ) from error
    try:
        for probe in _PROBES:
            misfit(schema, probe)
    except RecursionError as error:
        raise ValidationError(_("This schema refers to itself without end.")) from error


def misfit(schema: dict[str, Any], value: Any) -> str | None:
    """Why a value does not fit a usable schema, worded for people; None if it does."""
    error = best_match(_validator(json.dumps(schema)).iter_errors(value))
    if error is None:
        return None
    reason = _worded(error)
    place = "/".join(map(str, error.absolute_path))
    return f"{place}: {reason}" if place else reason


@lru_cache(maxsize=512)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads(schema), registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def _worded(error: Misfit) -> str:
    rule = error.validator_value
    shown = ", ".join(map(str, rule)) if isinstance(rule, list) else str(rule)
    wording = _REASONS.get(str(error.validator))
    if wording is not None:
        return str(wording) % {"rule": shown}
    return _("it breaks the rule “%(rule)s”") % {"rule": error.validator}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, inner in schema.items():
            if key in _REFERENCES and isinstance(inner, str):
                yield inner
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)
