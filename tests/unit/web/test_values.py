from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from gedaechtnis.memory.answers import ObjectView
from gedaechtnis.web import values


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        ("19:00", "19:00", "19:00"),
        ("1990-04-03", "3 April 1990", "3. April 1990"),
        ("2026-03", "March 2026", "März 2026"),
        ("--04-03", "3 April", "3. April"),
        ("2026-02-30", "2026-02-30", "2026-02-30"),
        (1990, "1990", "1990"),
        (1.5, "1.5", "1,5"),
        (True, "yes", "ja"),
        (["tea", "chess"], "tea, chess", "tea, chess"),
    ],
)
def test_values_read_as_people_write_them(value: Any, english: str, german: str) -> None:
    assert values.words(value) == english
    with translation.override("de"):
        assert values.words(value) == german


@pytest.mark.parametrize(
    ("before", "text", "meant"),
    [("blue", "12", "12"), (28, "29", 29), (28, "about thirty", "about thirty"), (True, "false", False)],
)
def test_a_typed_value_keeps_its_type(before: Any, text: str, meant: Any) -> None:
    assert values.read(text, ObjectView(kind="literal", value=before)) == meant
