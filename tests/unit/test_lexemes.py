"""The words of a text as search knows them."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gedaechtnis.common.lexemes import MAX_LEXEME_CHARS, _lexemes_of_word, language, lexemes


@pytest.mark.parametrize(
    "spellings",
    [
        "Kündigung Kuendigung gekündigt kuendigen gekuendigt KÜNDIGEN",
        "Straße Strasse Straßen strassen",
        "Versicherung Versicherungen",
        "Auflauf Aufläufe Auflaeufe",
        "Kartoffelauflauf Kartoffelaufläufe",
        "Häuser Haus haus Haeuser",
        "Name Namen namen",
        "Organisation Organisationen",
        "went going goes go",
        "gekocht kochen kochte",
        "Müller Mueller",
        "café cafe",
        "Lena Lenas Lena's Lena’s",
    ],
)
def test_it_gives_one_lexeme_to_every_form_of_a_word(spellings: str) -> None:
    assert len({tuple(lexemes(word)) for word in spellings.split()}) == 1


@pytest.mark.parametrize(
    ("compound", "head"), [("Krankenversicherung", "Versicherung"), ("Kartoffelauflauf", "Auflauf")]
)
def test_it_ends_a_compound_with_its_head(compound: str, head: str) -> None:
    [whole], [end] = lexemes(compound), lexemes(head)
    assert whole.endswith(end)
    assert whole != end


@pytest.mark.parametrize(
    "text", ["", " ", "a", "why", "?", "to be or not to be", "😀🎉", "Warum hat sie das?", "\ud800", "\x00"]
)
def test_it_leaves_nothing_of_a_text_without_words_of_its_own(text: str) -> None:
    assert lexemes(text) == []


def test_it_keeps_short_words_and_ids() -> None:
    assert lexemes("The CI box keeps its DB on kq4711") == ["ci", "box", "keep", "db", "kq4711"]
    assert lexemes("Zähler 318, +49 30 5550101") == ["zahl", "318", "49", "30", "5550101"]


def test_it_takes_the_stop_words_of_the_language_a_text_is_in() -> None:
    assert "hat" in lexemes("She bought the hat for him")
    assert "hat" not in lexemes("Sie hat ihm den Schal gekauft")


def test_it_tells_a_language_by_its_stop_words() -> None:
    assert [language(text) for text in ("Das ist der Hund", "This is the dog", "Luna")] == ["de", "en", None]


def test_it_keeps_order_and_repeats() -> None:
    assert lexemes("Tee, dann Kaffee, dann Tee") == ["tee", "kaffe", "tee"]


def test_it_cuts_unspaced_scripts_into_pairs() -> None:
    assert lexemes("東京の友人") == ["東京", "京の", "の友", "友人"]
    assert lexemes("友人") == ["友人"]
    assert lexemes("犬") == ["犬"]


def test_it_bounds_what_becomes_an_index_key() -> None:
    assert {len(lexeme) for lexeme in lexemes("x" * 8000 + " " + "1" * 8000)} == {MAX_LEXEME_CHARS}


@pytest.mark.parametrize("text", ["a" * 100_000, "ü" * 100_000, "1" * 100_000, "東" * 100_000, "a'" * 50_000 + "a"])
def test_a_text_of_one_endless_word_is_read_at_once_and_not_kept(text: str) -> None:
    lexemes("to load the dictionaries")
    start, kept = time.thread_time(), _lexemes_of_word.cache_info().currsize
    assert lexemes(text)
    assert time.thread_time() - start < 1
    assert _lexemes_of_word.cache_info().currsize == kept


@given(st.text(max_size=200))
def test_it_takes_any_text(text: str) -> None:
    assert all(lexeme and len(lexeme) <= MAX_LEXEME_CHARS for lexeme in lexemes(text))


def test_it_reads_thousands_of_turns_a_second() -> None:
    turn = "Gestern war ich mit Lena im Kino, und danach haben wir noch Pizza gegessen. It was great fun!"
    lexemes(turn)
    start = time.thread_time()
    for _ in range(1000):
        lexemes(turn)
    assert 1000 / (time.thread_time() - start) > 5000


def test_a_warm_process_loads_no_dictionary_for_anybody() -> None:
    program = """
from simplemma.strategies.dictionaries import dictionary_factory
from gedaechtnis.common import lexemes
lexemes.warm_up()
dictionary_factory._load_dictionary_from_disk = None
print(lexemes.lexemes("Nurnbreg misspelld"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "['nurnbreg', 'misspelld']\n", done.stderr
