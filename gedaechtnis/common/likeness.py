"""When two sentences say the same, and how alike two are by their letters."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Generic, TypeVar

from gedaechtnis.common.text import fold_space

_QUOTES = str.maketrans(dict.fromkeys("„“”«»‹›\"'’‘‚`´"))
_CLOSING = " .!;:…"
_WORD = re.compile(r"\w+")
_SHARED_WORDS = 0.5
"""So many of their words, at least, share two sentences whose letters are nearly the same."""

K = TypeVar("K", bound=Hashable)


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


@dataclass(slots=True)
class SentenceIndex(Generic[K]):
    """Sentences by key, found by the words they share with another one. `of_word`: only the latest so many of each."""

    of_word: int | None = None
    _texts: dict[K, str] = field(default_factory=dict)
    _pieces: dict[K, frozenset[str]] = field(default_factory=dict)
    _words: dict[str, list[K]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: K, text: str) -> None:
        self._texts[key] = text
        for word in words_of(text):
            self._words[word].append(key)

    def same(self, text: str) -> list[K]:
        """Those that say the same: among the ones that have its rarest word."""
        said = essence(text)
        rarest = min((self._words.get(word, []) for word in words_of(text)), key=len, default=[])
        return [key for key in rarest if essence(self._texts[key]) == said]

    def alike(self, text: str, *, least: float, most: int) -> Iterator[tuple[K, float]]:
        """Those whose letters are alike, and how much; of `most` at most, which share the rarest words.

        As a rule they share half of their words, so at least one of the rarer half and one more. Common words are not
        looked at, and of those that share some only the best: else a long list of nearly equal sentences would be
        compared with itself.
        """
        words = sorted(words_of(text), key=lambda word: len(self._words.get(word, ())))
        rare = words[: len(words) - int(len(words) * _SHARED_WORDS) + 1]
        pieces, latest = trigrams(text), slice(-self.of_word if self.of_word else None, None)
        sharing: dict[K, float] = defaultdict(float)
        for word in rare:
            bearing = self._words.get(word, [])
            for key in bearing[latest]:
                sharing[key] += 1 / len(bearing)
        for key in nlargest(most, sharing, key=sharing.__getitem__):
            likeness = overlap(pieces, self._pieces_of(key))
            if likeness >= least:
                yield key, likeness

    def _pieces_of(self, key: K) -> frozenset[str]:
        if key not in self._pieces:
            self._pieces[key] = trigrams(self._texts[key])
        return self._pieces[key]
