# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

import time

import pytest

from curator import prefilter, sentences
from curator.extractors.builtin import BuiltinExtractor
from tests.unit.curator.conversation import window


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hallo. Wie geht's?", ["Hallo.", "Wie geht's?"]),
        ("Anna hat am 3. April Geburtstag. Ben auch.", ["Anna hat am 3. April Geburtstag.", "Ben auch."]),
        ("Anna ist 28. Ben ist 30.", ["Anna ist 28.", "Ben ist 30."]),
        ("Dr. Weber wohnt in Ulm.", ["Dr. Weber wohnt in Ulm."]),
        ("It is at 7 p.m. on Friday.", ["It is at 7 p.m. on Friday."]),
        ("Um 18.30 Uhr! Mail an a@b.de.", ["Um 18.30 Uhr!", "Mail an a@b.de."]),
        ("eins\nzwei", ["eins", "zwei"]),
        ("", []),
    ],
)
def test_sentences_end_where_people_end_them(text: str, parts: list[str]) -> None:
    assert [part.text for part in sentences.split(text)] == parts


@pytest.mark.parametrize(
    "text",
    ["„Luna“", "“Luna”", '"Luna"', "»Luna«", "«Luna»", "'Luna'", "`Luna`", "```\nLuna\n```", "> Luna", "[memory] Luna", "system: Luna", "<memory> Luna"],
)  # fmt: skip
def test_the_words_of_others_are_blanked_in_place(text: str) -> None:
    blanked = sentences.without_foreign(f"ja\n{text}\nnein")
    assert "Luna" not in blanked
    assert len(blanked) == len(f"ja\n{text}\nnein")
    assert blanked.split() == ["ja", "nein"]


def test_an_apostrophe_is_no_quotation() -> None:
    assert sentences.without_foreign("Anna's cat and Ben's dog") == "Anna's cat and Ben's dog"


@pytest.mark.parametrize(
    "text",
    ["a, " * 20_000, "ist und " * 20_000, "„" * 50_000, "»„" * 20_000, "nicht " * 20_000, "1. " * 10_000, "nein " * 20_000, "x" * 100_000],
    ids=["commas", "joints", "marks", "more marks", "negations", "ordinals", "corrections", "word"],
)  # fmt: skip
def test_hostile_lengths_are_read_in_no_time(text: str) -> None:
    began = time.thread_time()
    read = window(text)
    prefilter.decide(read)
    assert BuiltinExtractor().extract(read) is None
    assert time.thread_time() - began < 5
