"""A question taken apart: what is kept of it, what kind of answer it wants, whom it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum

from django.utils.translation import gettext as _

from gedaechtnis.common.lexemes import language, lexemes
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.stopwords import ENGLISH, GERMAN
from gedaechtnis.common.text import finding_keys

MAX_CHARACTERS = 2_000
"""So much of a question is used, from its end: who pastes a whole log asks below it."""
MAX_SIZE = 512 * 1024
"""A longer question is refused, in bytes of UTF-8: nobody asks that."""
MAX_LEXEMES = 64
"""So many different words are looked up, the last ones."""

NAME_WORDS = 3
"""So many words of a question may be one name."""

_MOST_NAMES = 120
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_POSSESSIVE = r"(?:['’]s|s?['’]|s)?"

_WHEN = re.compile(
    r"\b(?:when|since when|how long|how often|what (?:date|day|month|year|time)|which (?:date|day|month|year)"
    r"|wann|seit wann|bis wann|wie lange|wie oft|wievielten|welche[mnrs]? (?:tag|datum|monat|jahr|woche|uhrzeit)"
    r"|um wie ?viel uhr|an welchem)\b",
    re.IGNORECASE,
)
_WHO_OR_WHERE = re.compile(
    r"\b(?:who|whom|whose|where|which (?:city|country|state|town|place|company|restaurant|person)"
    r"|what (?:city|country|state|town|company)|what (?:is|was|are|were) the names?"
    r"|wer|wem|wen|wessen|wo|wohin|woher|wie hei(?:ß|ss)(?:en?|t)"
    r"|(?:welche[mnrs]?|was für eine?) (?:stadt|land|ort|dorf|firma|person|restaurant|straße|strasse))\b",
    re.IGNORECASE,
)
# How a question begins that a statement does not: "When did I", "Wie viele", "Wo ist".
_ASKING = re.compile(
    r"""\W*(?:(?:in|on|at|for|to|from|with)\s)?
    (?:what|when|where|who|whom|whose|how|which|why|wann|was|wer|wo|wie|wohin|woher|welche[rsnm]?|warum|wem|wen)\b
    (?:\s(?:many|much|often|long|lange|viele?|oft)\b)?\s*
    (?:(?:did|does|do|has|have|had|is|was|are|were|will|would|can|could|hat|haben|ist|war|sind)\b)?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_CALLED = re.compile(
    r"\b(?:hei(?:ß|ss)(?:t|e|en|est)|hie(?:ß|ss)(?:t|en|est)?|nam(?:e|en|ens)|genannt|called|named?|names)\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:before|previous(?:ly)?|formerly|used to|earlier|in the past|back then|ex|former|(?<!how )old"
    r"|fr(?:ü|u|ue)her(?:e[nrsm]?)?|vorher|damals|ehemalige?[nrsm]?|alte[nrsm]?|davor|zuvor|bisher|ursprünglich)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:will|going to|plan(?:s|ned|ning)?|upcoming|next|tomorrow|soon"
    r"|wird|werden|werde|wirst|geplant|plant|nächste[nrsm]?|kommende[nrsm]?|morgen|bald|demnächst)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:,?\s*(?:and|or|und|oder)|,|&)\s*", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    r"\b(?:i|my|mine|me|myself|we|our|us|ich|mein(?:e[nmrs]?)?|mir|mich|wir|unser(?:e[nmrs]?)?|uns)\b", re.IGNORECASE
)


class Intent(Enum):
    """What kind of answer a question wants."""

    TIME = "time"
    NAME = "name"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The end of a question that is used, and whether that is less than all of it."""

    text: str
    is_truncated: bool

    @property
    def used_length(self) -> int:
        return len(self.text)


def keep(text: str) -> Kept:
    """The part of a question that is used: its last `MAX_CHARACTERS`, from the beginning of a word on.

    Raises:
        Problem: `empty_query` where nothing is asked, `too_large` (413) above `MAX_SIZE`.
    """
    if len(text) > MAX_SIZE or len(text.encode("utf-8", "replace")) > MAX_SIZE:
        detail = _("The query has more than %(max)s bytes.") % {"max": MAX_SIZE}
        raise Problem("too_large", detail, 413, field="query")
    asked = text.strip()
    if not asked:
        raise Problem("empty_query", _("The query is empty."), field="query")
    if len(asked) <= MAX_CHARACTERS:
        return Kept(text=asked, is_truncated=False)
    tail = asked[-MAX_CHARACTERS:]
    cut_a_word = not asked[-MAX_CHARACTERS - 1].isspace() and not tail[0].isspace()
    _rest, blank, from_next_word = tail.partition(" ")
    return Kept(text=(from_next_word if cut_a_word and blank else tail).strip(), is_truncated=True)


def terms(text: str) -> tuple[str, ...]:
    """The different lexemes of a question, in order; of too many the last."""
    return tuple(dict.fromkeys(reversed(lexemes(text))))[:MAX_LEXEMES][::-1]


def intent(text: str) -> Intent:
    """Whether a time is asked for, or a person or place."""
    if _WHEN.search(text):
        return Intent.TIME
    return Intent.NAME if _WHO_OR_WHERE.search(text) else Intent.OTHER


def asks_of_earlier(text: str) -> bool:
    """Whether it asks for what no longer holds."""
    return _EARLIER.search(text) is not None


def asks_for_names(text: str) -> bool:
    """Whether it asks what something is called; "who" and "where" do not: things say their names themselves."""
    return _CALLED.search(text) is not None


def looks_ahead(text: str) -> bool:
    """Whether it asks for what is yet to come."""
    return _AHEAD.search(text) is not None


def is_first_person(text: str) -> bool:
    """Whether the asker asks about themselves."""
    return _FIRST_PERSON.search(text) is not None


def words(text: str) -> list[str]:
    """Its words as they stand there, in order."""
    return [match.group() for match in _WORD.finditer(text)]


def name_keys(text: str) -> dict[str, str]:
    """Key → words of the question that could be somebody's name, the longest first: runs of words, none a stop word."""
    keys: dict[str, str] = {}
    for run in _runs(words(text)):
        for key in finding_keys(run):
            keys.setdefault(key, run)
        if len(keys) >= _MOST_NAMES:
            break
    return keys


def _runs(words: list[str]) -> Iterator[str]:
    for length in range(NAME_WORDS, 0, -1):
        for at in range(len(words) - length, -1, -1):
            run = words[at : at + length]
            if not any(word.lower() in GERMAN or word.lower() in ENGLISH for word in run):
                yield " ".join(run)


def without(text: str, names: Collection[str]) -> str:
    """The question with names of persons cut out: who is asked about is told by who speaks."""
    return _pattern(names).sub(" ", text) if names else text


def foremost(text: str, names: Collection[str]) -> frozenset[str]:
    """Which of the names, all in the question, it is about: the first, and what "and" joins to it."""
    found = [(match.span(), match[1]) for match in _pattern(names).finditer(text)] if names else []
    about: list[str] = []
    end = 0
    for (start, after), name in found:
        if about and not _JOINED.fullmatch(text, end, start):
            break
        about.append(name.lower())
        end = after
    return frozenset(name for name in names if name.lower() in about)


def told_by(text: str, names: Collection[str]) -> str:
    """The question as those it names would say it, "I" and "my" for their names: so their turns are near in meaning.

    In English alone: a German verb would no longer agree, and measured, less is found.
    """
    if not names or language(text) != "en":
        return text
    return _pattern(names).sub(lambda match: "my" if len(match[0]) > len(match[1]) else "I", text)


def phrasings(text: str, names: Collection[str]) -> tuple[str, ...]:
    """The question in the ways an answer may be put, which together are nearer to it than one of them.

    As those it names would say it; that as a statement; and the statement without their names.
    """
    told = told_by(text, names)
    said = (told, _statement(told), _statement(without(text, names)))
    return tuple(dict.fromkeys(one for one in said if one))


def _statement(question: str) -> str:
    return question[begins.end() if (begins := _ASKING.match(question)) else 0 :].strip("? ")


def _pattern(names: Collection[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest_first))}){_POSSESSIVE}(?!\w)", re.IGNORECASE)
