"""Showing in a text which of its words were looked for, also where they were written a little differently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from gedaechtnis.common.lexemes import lexemes

_WORD = re.compile(r"\w[\w'’-]*")
_ALIKE = 0.72
"""From this share of common letters on a word counts as a misspelling of another."""
_SHORTEST_ALIKE = 4
_BEFORE, _LONGEST = 80, 320
"""Characters shown of a long text: before the first word that was looked for, and in all."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question: as they are indexed, and as they were typed."""

    lexemes: frozenset[str]
    typed: tuple[str, ...]


def words_of(q: str) -> Words:
    """The words of a question that say something."""
    typed = tuple(word for word in _words(q) if _lexemes(word))
    return Words(lexemes=frozenset(lexeme for word in typed for lexeme in _lexemes(word)), typed=typed)


def marked(text: str, words: Words) -> SafeString:
    """The text, or of a long one the part around the first word that was looked for, with such words marked."""
    begin, end = _window(text, words)
    pieces: list[SafeString] = [SafeString("… ")] if begin else []
    done = begin
    for match in _WORD.finditer(text, begin, end):
        fit = _fit(match[0], words)
        if fit:
            pieces.append(format_html("{}", text[done : match.start()]))
            pieces.append(format_html('<mark data-fit="{}">{}</mark>', fit, match[0]))
            done = match.end()
    pieces.append(format_html("{}", text[done:end]))
    if end < len(text):
        pieces.append(SafeString(" …"))
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def read_as(texts: Iterable[str], words: Words) -> list[tuple[str, str]]:
    """(typed, found) for typed words that stand in none of the texts, while one that is alike does."""
    found = [word for text in texts for word in _words(text)]
    exact = {lexeme for word in found for lexeme in _lexemes(word)}
    pairs = []
    for word in words.typed:
        if exact.isdisjoint(_lexemes(word)):
            alike = max(found, key=lambda other: _likeness(word, other), default="")
            if _likeness(word, alike) >= _ALIKE:
                pairs.append((word, alike))
    return pairs


def _window(text: str, words: Words) -> tuple[int, int]:
    if len(text) <= _LONGEST:
        return 0, len(text)
    first = next((match.start() for match in _WORD.finditer(text) if _fit(match[0], words)), 0)
    begin = 0 if first <= _BEFORE else text.rfind(" ", 0, first - _BEFORE) + 1
    end = begin + _LONGEST
    return begin, len(text) if end >= len(text) else max(text.rfind(" ", begin, end), first + 1)


def _fit(word: str, words: Words) -> str:
    """`exact`, `alike`, or nothing."""
    if not words.lexemes.isdisjoint(_lexemes(word)):
        return "exact"
    return "alike" if any(_likeness(typed, word) >= _ALIKE for typed in words.typed) else ""


@lru_cache(maxsize=4096)
def _likeness(one: str, other: str) -> float:
    if min(len(one), len(other)) < _SHORTEST_ALIKE or abs(len(one) - len(other)) > 2:
        return 0.0
    return SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio()


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


@lru_cache(maxsize=4096)
def _lexemes(word: str) -> frozenset[str]:
    return frozenset(lexemes(word))
