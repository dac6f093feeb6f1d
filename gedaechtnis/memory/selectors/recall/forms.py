"""The form of a turn: whether it says when, names a name, speaks of its speaker, or only asks back."""

from __future__ import annotations

import re

from gedaechtnis.common.lexemes import language

_WHEN = re.compile(
    r"""\b(?:
    (?:yester|to)day|tonight|tomorrow|last\s(?:night|week(?:end)?|month|year|summer|winter|spring|fall|autumn)|ago
    |(?:next|this)\s(?:week(?:end)?|month|year|summer|winter|spring|fall|autumn|morning|evening|afternoon)|recently|lately
    |(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:last|next|this|past|few|couple\sof|\d+|two|three|four|five|six|ten)
      \s(?:days?|weeks?|months?|years?)
    |january|february|march|april|june|july|august|september|october|november|december|since|(?:19|20)\d\d
    |(?:vor)?gestern|heute|(?:über)?morgen|neulich|kürzlich|vorhin|seit|vor\s(?:\w+\s)?(?:tag|woche|monat|jahr)(?:e?n?|e)?
    |(?:letzte|vergangene|vorige|nächste|kommende|diese)[nrsm]?\s(?:woche(?:nende)?|monats?|jahr(?:es)?|sommers?|winters?
      |herbst(?:es)?|frühlings?|frühjahr|nacht|tage?n?)
    |(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|januar|februar|märz|mai|juni|juli|oktober|dezember
    |anfang|ende|mitte)\b
    |\b\d{1,2}\.\s?(?:\d{1,2}\.|[a-zäöü][a-zä]+)|\b\d{1,2}(?:st|nd|rd|th)\b""",
    re.VERBOSE,
)
# By its first letters, so that the search skips all others: asked before each word, it takes five times as long.
_FIRST_PERSON = re.compile(r"(?:i(?<!\wi)(?:['’](?:m|ve|d|ll)|ch)?|m(?<!\wm)(?:y|ine|e|ein(?:e[nmrs]?)?|ir|ich))\b")
_CAPITALISED = re.compile(r"(?<=[a-zäöüß,;:] )(?!I\b)[A-ZÄÖÜ][\w'’-]+")
# German writes every noun large; a name is told by the preposition that stands before it without an article.
_GERMAN_NAME = re.compile(r"\b(?:in|aus|nach|mit|bei|von|für|namens|heißt|heisst)\s[A-ZÄÖÜ][\w-]+")
# A question of at most this many words tells next to nothing.
_SHORT = 15


def says_when(text: str) -> bool:
    """Whether a time is named."""
    # In small letters, here and below: to ignore case takes three times as long, and hundreds of turns are looked at.
    return _WHEN.search(text.lower()) is not None


def says_name(text: str) -> bool:
    """Whether a proper name stands in it, other than at the head of a sentence."""
    in_english = _CAPITALISED.search(text) is not None
    in_german = _GERMAN_NAME.search(text) is not None
    # The language is the dearest to tell, and mostly both say the same.
    return in_english if in_english == in_german or language(text) == "en" else in_german


def is_first_person(text: str) -> bool:
    """Whether the speaker speaks of themselves."""
    return _FIRST_PERSON.search(text.lower()) is not None


def asks(text: str) -> bool:
    """Whether it ends in a question, so that what comes next is likely the answer."""
    return text.rstrip().endswith("?")


def is_short_question(text: str) -> bool:
    """Whether it asks rather than tells."""
    return asks(text) and len(text.split()) <= _SHORT
