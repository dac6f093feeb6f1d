"""Reading literals: lists of things, numbers, telephone numbers. They raise Unresolved for what is none."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

from curator.extractors.builtin import lexicon, phrases
from curator.extractors.builtin.discourse import Unresolved
from curator.extractors.builtin.speaker import Speaker
from gedaechtnis.common import dates

MAX_VALUE_WORDS = 6
"""Longer literals are stories, not values."""


def number(text: str, language: str) -> int:
    """A number in digits or as a word."""
    found = int(text) if text.isdecimal() else dates.number(text, language)
    if found is None:
        raise Unresolved("no number")
    return found


def cut(text: str) -> str:
    """The object without what is said about it afterwards."""
    return re.split(r",\s|\s+(?:mit|weil|wo|zusammen|seitdem|als|with|because|where|together|as)\s", text)[0].strip()


def is_diet(text: str) -> bool:
    """Whether the word names a way of eating rather than a dish."""
    return re.fullmatch(r"vegetari\w*|vegan\w*", text, re.IGNORECASE) is not None


def diet(value: str, language: str) -> str:
    """One word for "a vegetarian" and "vegetarian"; anything else as it is."""
    if not is_diet(value):
        return value
    return "vegan" if value.lower().startswith("vegan") else {"de": "vegetarisch", "en": "vegetarian"}[language]


def literals(text: str, speaker: Speaker, *, pointing: bool = False) -> list[str]:
    """The literals of "tea and coffee"; words that only point ("that", "the …") are refused unless allowed."""
    parts = re.split(speaker.clause.language.coordination, text.strip(), flags=re.IGNORECASE)
    found = [lexicon.ARTICLE.sub("", part.strip(), count=1) for part in parts if part.strip()]
    if not found or not all(_can_be_written_down(value, pointing=pointing) for value in found):
        raise Unresolved("not a thing one can write down")
    return found


def _can_be_written_down(value: str, *, pointing: bool) -> bool:
    if lexicon.DEICTIC.match(value) and not pointing:
        return False
    short = len(value.split()) <= MAX_VALUE_WORDS
    return short and phrases.has_letters(value) and not lexicon.CLAUSE_INSIDE.search(value)


def e164(text: str, speaker: Speaker) -> str:
    """A telephone number as E.164 where its country is told or clear from the zone; else its digits."""
    digits = re.sub(r"\D", "", text)
    if text.startswith("+"):
        return f"+{digits}"
    if digits.startswith("00"):
        return f"+{digits[2:]}"
    zone = speaker.discourse.window.zone
    country = lexicon.DIAL.get(zone.key) if isinstance(zone, ZoneInfo) else None
    country = country or ("49" if speaker.clause.language.code == "de" else None)
    return f"+{country}{digits[1:]}" if country and digits.startswith("0") else digits
