"""Schemas of values: what can be used as one, and what is said of a value that does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation

from gedaechtnis.registry import value_schemas

GRAMS = {"type": "object", "properties": {"grams": {"type": "number", "exclusiveMinimum": 0}}, "required": ["grams"]}


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.mark.parametrize(
    "schema",
    [{}, GRAMS, {"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}}, {"items": {"$ref": "#"}}],
    ids=["anything", "object", "reference", "nested lists"],
)
def test_a_schema_that_stands_by_itself_can_be_used(schema: dict[str, Any]) -> None:
    value_schemas.check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ([], "JSON object"),
        (True, "JSON object"),
        ({"type": "nonsense"}, "type"),
        ({"pattern": "("}, "pattern"),
        ({"$ref": "https://example.org/schema.json"}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "nothing is fetched"),
        ({"$ref": "#/$defs/missing"}, "nothing is fetched"),
        ({"$ref": "#"}, "without end"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        value_schemas.check_schema(schema)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"grams": 60}, None),
        ({"grams": 0}, "grams: it must be more than 0"),
        ({"grams": "60"}, "grams: it must be of the type number"),
        ({}, "it needs the fields grams"),
        ("60 g", "it must be of the type object"),
    ],
)
def test_a_misfit_is_told_in_words(value: Any, reason: str | None) -> None:
    assert value_schemas.misfit(GRAMS, value) == reason


def test_a_rule_without_words_of_its_own_is_named() -> None:
    assert value_schemas.misfit({"not": {"type": "string"}}, "x") == "it breaks the rule “not”"
