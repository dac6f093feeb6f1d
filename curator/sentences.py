"""Cutting a message into sentences, and telling what kind of sentence each one is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from curator import words

_MONTH = (
    "januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|"
    "january|february|march|may|june|july|october|december|jan|feb|mär|apr|jun|jul|aug|sep|sept|okt|oct|nov|dez|dec"
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:dr|prof|hr|fr|st|mr|mrs|ms|bzw|ca|nr|usw|etc|vgl|tel|str|inkl|jr|sr|z|b|d|h|a\.m|p\.m|u|\w\.\w))\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 8
_SOMETHING = re.compile(r"\s*\S")
_BREAK = re.compile(r"[.!?…]+[\"”“»«')\]]*(?=\s|$)|\n+")
_GOES_ON = re.compile(rf"\s*(?:[a-zäöüß]|(?i:{_MONTH}|uhr|geburtstag)\b)")
_QUOTES = (("„", '“”"'), ("“", "”"), ('"', '"'), ("»", "«"), ("«", "»"))
_SINGLE_QUOTED = re.compile(r"(?<!\w)'[^'\n]{3,}'(?!\w)")
_BLOCK = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_FOREIGN_LINE = re.compile(
    r"^[ \t]*(?:>|\[(?:memory|system|tool)\]|(?:system|assistant|tool|user|developer)\s*:|#{2,}|<\/?\w[\w-]*>).*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` as it occurs in the message, `own` with quotes of others blanked out."""

    text: str
    own: str
    language: str

    @property
    def is_question(self) -> bool:
        """Whether it asks (by its mark or its first words)."""
        start = words.QUESTION_STARTS.find(self.own, self.language)
        return "?" in self.text or (start is not None and start.start() == 0)

    def holds(self, table: words.Words) -> bool:
        """Whether a word of the table, in the language of the sentence, occurs in the speaker's own words."""
        return table.find(self.own, self.language) is not None

    @property
    def is_doubtful(self) -> bool:
        """A guess, hearsay, a thought experiment or a joke: nothing the speaker vouches for."""
        return self.holds(words.HEDGES) or self.holds(words.HEARSAY) or self.holds(words.HYPOTHETICAL) or self.is_joke

    @property
    def is_joke(self) -> bool:
        return self.holds(words.JOKES) or any(sign in self.text for sign in words.JOKE_SIGNS)


def split(text: str, *, default_language: str = "de") -> tuple[Sentence, ...]:
    """The sentences of a message, in order."""
    own = without_foreign(text)
    language = words.language_of(own, default_language)
    found = []
    for start, end in _spans(own):
        part = text[start:end].strip()
        if part:
            spoken = own[start:end].strip()
            found.append(Sentence(part, spoken, words.language_of(spoken, language)))
    return tuple(found)


def without_foreign(text: str) -> str:
    """The text with quotations, code and pasted transcripts replaced by blanks of the same length."""
    for pattern in (_BLOCK, _FOREIGN_LINE):
        text = pattern.sub(lambda match: _blank(match.group()), text)
    for opening, closing in _QUOTES:
        text = _without_quotes(text, opening, closing)
    return _SINGLE_QUOTED.sub(lambda match: _blank(match.group()), text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _without_quotes(text: str, opening: str, closing: str) -> str:
    """Blank what stands between the marks; a mark nobody closes stays (and is looked for only once)."""
    parts: list[str] = []
    position = 0
    end_mark = re.compile(f"[{closing}]")
    while (start := text.find(opening, position)) >= 0 and (end := end_mark.search(text, start + 1)) is not None:
        parts += [text[position:start], _blank(text[start : end.end()])]
        position = end.end()
    return "".join([*parts, text[position:]])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _BREAK.finditer(text):
        if mark.group() == "." and _is_inside(text, start, mark):
            continue
        yield start, mark.end()
        start = mark.end()
    yield start, len(text)


def _is_inside(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation, an ordinal or a date."""
    before = text[max(start, mark.end() - _LONGEST_ABBREVIATION) : mark.end()]
    if _ABBREVIATED.search(before):
        return _SOMETHING.match(text, mark.end()) is not None
    return before[-2:-1].isdigit() and _GOES_ON.match(text, mark.end()) is not None
