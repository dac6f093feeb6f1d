from __future__ import annotations

import pytest

from gedaechtnis.web.marking import marked, read_as, words_of


@pytest.mark.parametrize(
    ("q", "text", "shown"),
    [
        ("Garten", "Der Garten blüht", 'Der <mark data-fit="exact">Garten</mark> blüht'),
        ("Katzen", "Eine Katze", 'Eine <mark data-fit="exact">Katze</mark>'),
        ("Gartne", "Der Garten blüht", 'Der <mark data-fit="alike">Garten</mark> blüht'),
        ("der", "Der Garten blüht", "Der Garten blüht"),
        ("", "Der Garten blüht", "Der Garten blüht"),
        ("🌹", "Rosen & <b>mehr</b>", "Rosen &amp; &lt;b&gt;mehr&lt;/b&gt;"),
        ("mehr", "Rosen <b>", "Rosen &lt;b&gt;"),
    ],
)
def test_it_marks_the_words_that_were_looked_for(q: str, text: str, shown: str) -> None:
    assert marked(text, words_of(q)) == shown


def test_of_a_long_text_it_shows_where_they_stand() -> None:
    shown = marked("wort " * 200 + "Garten " + "ende " * 200, words_of("Garten"))
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert '<mark data-fit="exact">Garten</mark>' in shown
    assert len(shown) < 400


def test_a_long_text_without_blanks_is_cut_too() -> None:
    assert len(marked("x" * 5000, words_of("Garten"))) < 400


def test_it_tells_what_a_slip_was_read_as() -> None:
    texts = ["Der Garten blüht", "Eva wohnt in München"]
    assert read_as(texts, words_of("Gartne Muenchen")) == [("Gartne", "Garten")]
    assert read_as(texts, words_of("Garten")) == []
    assert read_as([], words_of("Garten")) == []
