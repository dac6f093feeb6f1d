"""When two sentences say the same, and how alike two are by their letters."""

from __future__ import annotations

import re
import unicodedata

from gedaechtnis.common.text import fold_space

_QUOTES = str.maketrans(dict.fromkeys("„“”«»‹›\"'’‘‚`´"))
_CLOSING = " .!;:…"
_WORD = re.compile(r"\w+")


def essence(text: str) -> str:
    """A sentence without what changes nothing of it: case, white space, quotes, closing punctuation, unicode form."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return fold_space(folded).rstrip(_CLOSING)


def words_of(text: str) -> frozenset[str]:
    """The words of a sentence, of which equal ones have the same."""
    whole = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return frozenset(_WORD.findall(whole.casefold()))


def trigrams(text: str) -> frozenset[str]:
    """The three-letter pieces of each word, as `pg_trgm` makes them: two blanks before it, one behind."""
    padded = (f"  {word} " for word in _WORD.findall(essence(text)))
    return frozenset(word[place : place + 3] for word in padded for place in range(len(word) - 2))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of all pieces two sets share, 0 to 1."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
