"""The words of a text as search knows them: lemma and stem, German and English at once.

One analysis serves documents and questions, and a word becomes the same lexeme whatever text it stands in: a question
of one word gives no hint of its language. Only which stop words go is decided per text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

import simplemma
import snowballstemmer

from gedaechtnis.common.stopwords import ENGLISH, GERMAN

# A lexeme is part of an index key, and PostgreSQL holds at most 2,700 bytes of one.
MAX_LEXEME_CHARS = 64
# Words kept ready: some 60 MB when full, far more than one person's vocabulary.
CACHED_WORDS = 200_000

# Scripts written without blanks: Thai to Khmer, kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
# Vowel signs and points that belong to the letter before them: Latin, Hebrew, Arabic, India's scripts.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
_WORD = re.compile(
    rf"[{_UNSPACED}\U00020000-\U0003ffff]+|(?:[^\W_{_UNSPACED}]|[{_MARKS}])+(?:['’](?:[^\W_]|[{_MARKS}])+)*"
)
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}\U00020000-\U0003ffff]")
_DIACRITICS = re.compile("[\u0300-\u036f]")
_APOSTROPHE_ENDINGS = frozenset({"s", "t", "d", "m", "n", "ll", "re", "ve"})

# `ae`, `oe`, `ue` as typed for an umlaut: not after a vowel or q ("Bauer", "neue", "Quelle").
_DIGRAPH = re.compile(r"(?<![aeiouäöüyq])([aou])e")
_UMLAUTS = str.maketrans({"a": "ä", "o": "ö", "u": "ü"})
# The shortest word that may stand at the end of a German compound no dictionary has.
_SHORTEST_HEAD = 4
# What is longer is no word: an encoded file, an address. It is neither looked up nor kept ready.
_LONGEST_WORD = 100

_GERMAN_STEMMER = snowballstemmer.stemmer("german")
_ENGLISH_STEMMER = snowballstemmer.stemmer("english")


def lexemes(text: str) -> list[str]:
    """The lexemes of `text` in order, repeats kept, stop words out; [] where nothing is left. Any text is fine."""
    words = _words(text)
    stop_words = _stop_words(words)
    return [lexeme for word in words if word not in stop_words for lexeme in _lexemes_of(word)]


def warm_up() -> None:
    """Load both dictionaries, which takes more than a second, before somebody waits for it."""
    for dictionary in ("de", "en"):
        simplemma.is_known("warm", dictionary)


def language(text: str) -> Literal["de", "en"] | None:
    """The language a text shows by its stop words; None where it shows neither more than the other."""
    return _language(_words(text))


def _language(words: list[str]) -> Literal["de", "en"] | None:
    german = sum(word in GERMAN for word in words)
    english = sum(word in ENGLISH for word in words)
    if german == english:
        return None
    return "de" if german > english else "en"


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    return _WORD.findall(folded)


def _stop_words(words: list[str]) -> frozenset[str]:
    """Those of the language the text shows by its stop words; of both where it does not show one.

    "hat", "war" and "die" are nothing in German and something in English.
    """
    return {"de": GERMAN, "en": ENGLISH, None: _BOTH}[_language(words)]


_BOTH = GERMAN | ENGLISH


def _lexemes_of(word: str) -> tuple[str, ...]:
    if _IS_UNSPACED.match(word):
        return tuple(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    if len(word) > _LONGEST_WORD:
        start = _bare(word[:_LONGEST_WORD])[:MAX_LEXEME_CHARS]
        return (start,) if start else ()
    return _lexemes_of_word(word)


@lru_cache(maxsize=CACHED_WORDS)
def _lexemes_of_word(word: str) -> tuple[str, ...]:
    if "'" in word:
        return tuple(lexeme for part in _apostrophe_parts(word) for lexeme in _lexemes_of_word(part))
    if any(char.isdigit() for char in word):
        return (word[:MAX_LEXEME_CHARS],)
    stem = _bare(_stem(word))[:MAX_LEXEME_CHARS]
    return (stem,) if stem else ()


def _apostrophe_parts(word: str) -> list[str]:
    """The words around an apostrophe, endings off ("anna's"); one word where a part is a letter ("o'neill")."""
    *parts, ending = word.split("'")
    if ending not in _APOSTROPHE_ENDINGS:
        parts.append(ending)
    return parts if all(len(part) > 1 for part in parts) else ["".join(parts)]


def _stem(word: str) -> str:
    """Lemma, then Snowball: English before German where a dictionary of each has the word, or the German lemma.

    Most words both have are the same in both ("hand", "winter"); of 26,500 English words in conversations 11 become
    something else than by an English analysis alone.
    """
    if simplemma.is_known(word, "en"):
        return _english(simplemma.lemmatize(word, "en"))
    if simplemma.is_known(word, "de"):
        lemma = simplemma.lemmatize(word, "de").lower()
        # "Namen" and "Name": only the latter is English too.
        return _english(simplemma.lemmatize(lemma, "en")) if simplemma.is_known(lemma, "en") else _german(lemma)
    spelt = _DIGRAPH.sub(lambda match: match[1].translate(_UMLAUTS), word)
    if spelt != word and simplemma.is_known(spelt, "de"):
        return _german(simplemma.lemmatize(spelt, "de"))
    for at in range(3, len(spelt) - _SHORTEST_HEAD + 1):
        if simplemma.is_known(spelt[at:], "de"):
            return _german(spelt[:at] + simplemma.lemmatize(spelt[at:], "de").lower())
    return _english(_bare(spelt))


def _german(lemma: str) -> str:
    return str(_GERMAN_STEMMER.stemWord(lemma.lower()))


def _english(lemma: str) -> str:
    return str(_ENGLISH_STEMMER.stemWord(lemma.lower()))


def _bare(text: str) -> str:
    """Without the diacritics stemming has left, `ß` as `ss`; the vowel signs of other scripts stay."""
    return _DIACRITICS.sub("", unicodedata.normalize("NFKD", text.replace("ß", "ss")))
