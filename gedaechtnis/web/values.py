"""Literal values as people write them."""

from __future__ import annotations

import json
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gedaechtnis.common import moments
from gedaechtnis.common.instants import Precision
from gedaechtnis.memory.answers import FactView, ObjectView

SOURCES = {"chatgpt": "ChatGPT", "claude": "Claude", "gemini": "Gemini"}
"""Names of what imported chats are from."""
PARTS = {
    "code": gettext_lazy("Code"),
    "canvas": gettext_lazy("Document"),
    "image": gettext_lazy("Image"),
    "file": gettext_lazy("File"),
    "audio": gettext_lazy("Recording"),
    "video": gettext_lazy("Video"),
    "thinking": gettext_lazy("Thinking"),
    "tool_call": gettext_lazy("Tool asked"),
    "tool_result": gettext_lazy("Tool answered"),
    "context": gettext_lazy("Instructions"),
}
"""Pieces of imported messages beside what was said."""


def words(value: Any) -> str:
    """A JSON value in the reader's language: dates by the calendar, yes and no, decimal commas, lists in a row."""
    match value:
        case bool():
            return _("yes") if value else _("no")
        case float():
            return number_format(value)
        case str():
            return moments.calendar(value)
        case list():
            return ", ".join(words(item) for item in value)
        case dict():
            return ", ".join(f"{key}: {words(item)}" for key, item in value.items())
        case _:
            return str(value)


def told(thing: ObjectView) -> str:
    """The object of a fact: an entity by its name, a literal in words."""
    if thing.kind == "entity":
        return thing.label or str(thing.ref)
    is_plain = isinstance(thing.value, str | int | float | bool | list | dict)
    return words(thing.value) if is_plain else thing.label


def typed(thing: ObjectView) -> str:
    """The object as it stands in a form field: an entity's name, text bare, everything else as JSON."""
    if thing.kind == "entity":
        return thing.label
    return thing.value if isinstance(thing.value, str) else json.dumps(thing.value, ensure_ascii=False)


def read(text: str, like: ObjectView) -> Any:
    """What a form field means, kept to the type of the value it replaces where that is possible."""
    if isinstance(like.value, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def bound_typed(fact: FactView, end: str) -> str:
    """One bound of a fact as it stands in a form field: year, month or day, as exactly as it is known."""
    at = fact.valid_from if end == "valid_from" else fact.valid_to
    precision = fact.valid_from_precision if end == "valid_from" else fact.valid_to_precision
    if at is None or precision == Precision.UNKNOWN:
        return ""
    shape = {Precision.YEAR: "%Y", Precision.MONTH: "%Y-%m"}.get(Precision(precision), "%Y-%m-%d")
    return moments.local(at).strftime(shape)
