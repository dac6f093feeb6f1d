"""In what two sentences that are nearly the same contradict each other: a number, a date, a time, a name, a negation.

A detail that only one of them has is no contrast: it says more, not something else. Only a negation is one by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from gedaechtnis.common import dates
from gedaechtnis.common.lexemes import language
from gedaechtnis.common.stopwords import ENGLISH, GERMAN


class Contrast(StrEnum):
    """What differs."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    NAME = "name"
    NEGATION = "negation"


def contrasts(one: str, other: str) -> frozenset[Contrast]:
    """What of two texts, German or English, differs on both sides; empty where nothing told here does."""
    first, second = _told(one), _told(other)
    found = {contrast for contrast, of in _OF.items() if _differ(of(first), of(second))}
    if first.is_negated != second.is_negated:
        found.add(Contrast.NEGATION)
    return frozenset(found)


def tells_more(one: str, other: str) -> bool:
    """Whether a text tells a number, date, time or name that another does not."""
    first, second = _told(one), _told(other)
    return any(of(first) - of(second) for of in _OF.values())


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other and other - one)


@lru_cache(maxsize=512)
def _told(text: str) -> _Told:
    return _Told(text)


class _Told:
    """What a text tells, each kind of detail in one spelling; what was read as one is not read as another."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("’", "'")
        self.dates = frozenset(self._dates())
        self.times = frozenset(self._times())
        self.numbers = frozenset(self._numbers())
        self.names = frozenset(_names(text))
        self.is_negated = _NEGATION.search(_LIMITS.sub(" ", self.text.casefold())) is not None

    def _take(self, start: int, end: int) -> None:
        self.text = f"{self.text[:start]}{' ' * (end - start)}{self.text[end:]}"

    def _dates(self) -> Iterator[str]:
        spoken = language(self.text)
        for grammar in (spoken,) if spoken else ("de", "en"):
            for phrase in dates.find(self.text, sent_at=_THEN, zone=UTC, language=grammar):
                said = self.text[phrase.start : phrase.end].casefold()
                # A month without a year is read below, as a weekday is: "im März" is no other than "jeden März".
                if phrase.kind in _DATED and (phrase.kind != "month" or said[-1].isdigit()):
                    yield str(phrase.past or phrase.future or said)
                    self._take(phrase.start, phrase.end)
        for match in _CALENDAR.finditer(self.text.casefold()):
            yield _CALENDAR_WORDS[match.group(1)]

    def _times(self) -> Iterator[str]:
        for match in _CLOCK.finditer(self.text):
            hour, minute = int(match["hour"] or match["oclock"]), match["minute"] or "00"
            half = (match["half"] or match["half_alone"] or "").lower()
            yield f"{hour % 12 + 12 if half == 'p' else hour % 12 if half == 'a' else hour:02d}:{minute}"
            self._take(match.start(), match.end())

    def _numbers(self) -> Iterator[str]:
        for match in _NUMBER.finditer(self.text):
            yield _plain(match.group())
        for word in re.findall(r"[^\W\d_]+", self.text.casefold()):
            if word in _NUMBER_WORDS:
                yield str(_NUMBER_WORDS[word])


_OF: dict[Contrast, Callable[[_Told], frozenset[str]]] = {
    Contrast.NUMBER: lambda told: told.numbers,
    Contrast.DATE: lambda told: told.dates,
    Contrast.TIME: lambda told: told.times,
    Contrast.NAME: lambda told: told.names,
}

_THEN = datetime(2000, 1, 3, tzinfo=UTC)
"""Any day: both texts are read as of the same one."""
_DATED = frozenset({"iso", "numeric", "day_month", "month_day", "month", "year", "relative", "today"})

_WEEKDAYS = (
    "montags? monday mondays", "dienstags? tuesday tuesdays", "mittwochs? wednesday wednesdays",
    "donnerstags? thursday thursdays", "freitags? friday fridays", "samstags? sonnabends? saturday saturdays",
    "sonntags? sunday sundays",
)  # fmt: skip
_MONTHS = (
    "januar january", "februar february", "märz march", "april", "mai", "juni june", "juli july", "august",
    "september", "oktober october", "november", "dezember december",
)  # fmt: skip


def _spellings(words: str) -> Iterator[str]:
    for word in words.split():
        yield word.removesuffix("s?")
        if word.endswith("s?"):
            yield word.removesuffix("?")


_CALENDAR_WORDS = {word: words.split()[0] for words in (*_WEEKDAYS, *_MONTHS) for word in _spellings(words)}
_CALENDAR = re.compile(rf"\b({'|'.join(_CALENDAR_WORDS)})\b")

_CLOCK = re.compile(
    r"(?<![\d.:,])(?:(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?:\s*(?P<half>[ap])\.?m\b\.?)?(?:\s*uhr\b)?"
    r"|(?P<oclock>[01]?\d|2[0-4])\s*(?:uhr\b|o'clock\b|(?P<half_alone>[ap])\.?m\b\.?))(?![:\d])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_NUMBER_WORDS = {
    word: number
    for words in (
        "null|keins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dreizehn|vierzehn|fünfzehn|sechzehn|"
        "siebzehn|achtzehn|neunzehn",
        "zero||two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
        "eighteen|nineteen",
    )
    for number, word in enumerate(words.split("|"))
    if number != 1 and word  # "ein" and "one" are articles and pronouns too
} | {
    word: 10 * ten
    for words in (
        "zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|hundert",
        "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred",
    )
    for ten, word in enumerate(words.split("|"), start=2)
}


def _plain(digits: str) -> str:
    """`1.000`, `1,000` and `1000` are one number, and so are `2.50` and `2,5`; a version `1.2.3` stays as it is."""
    if _GROUPED.fullmatch(digits):
        return re.sub(r"[.,]", "", digits)
    decimal = re.fullmatch(r"(\d+)[.,](\d+)", digits)
    if decimal is None:
        return digits.lstrip("0") or "0" if digits.isdigit() else digits
    return f"{decimal[1].lstrip('0') or '0'}.{decimal[2]}"


_NEGATION = re.compile(
    r"\b(?:nicht|kein(?:e[nmrs]?)?|nie(?:mals)?|nirgends|niemand(?:e[nm])?|nichts|weder|"
    r"not|no|never|none|nobody|nothing|nowhere|neither|cannot|without|ohne)\b|n't\b"
)
_LIMITS = re.compile(
    r"\b(?:nicht (?:nur|mehr als|weniger als|später als|länger als|vor)|"
    r"(?:not|no) (?:only|more than|less than|fewer than|later than|longer than|before)|no\.(?= ?\d))"
)
"""Negations that set a bound or add something, and deny nothing."""

_TOKEN = re.compile(r"`[^`\n]+`|[\"„“”«][^\"„“”«»\n]+[\"“”»]|[\w@/.+-]*\w")
_SENTENCE_END = frozenset(".!?:")
_GERMAN_DETERMINERS = """
der die das den dem des ein eine einen einem einer eines zum zur im am vom beim ins ans jede jeder jedes jeden jedem
alle aller allen diese dieser dieses diesen diesem unsere unser unseren unserem unserer ihre ihr ihren ihrem ihrer
seine sein seinen seinem seiner meine mein meinen meinem meiner kein keine keinen keinem keiner
"""
_SINGULAR = "ist war hat wird kann soll muss darf mag will is was has can does shall must may"
_DETERMINERS, _THIRD_PERSON = frozenset(_GERMAN_DETERMINERS.split()), frozenset(_SINGULAR.split())


def _names(text: str) -> Iterator[str]:
    """What is likely a name: quoted, like an identifier, or with a capital where nothing else asks for one.

    German writes every noun large; a name stands without an article or a number.
    """
    is_english = language(text) == "en"
    tokens = [(match.group(), text[: match.start()].rstrip()[-1:]) for match in _TOKEN.finditer(text)]
    for place, (token, before) in enumerate(tokens):
        bare = token.strip("`\"„“”«»'")
        folded = bare.casefold()
        if folded in _CALENDAR_WORDS or folded in GERMAN or folded in ENGLISH or folded in _NUMBER_WORDS:
            continue
        starts = not before or before in _SENTENCE_END
        if bare != token or _is_identifier(bare):
            yield folded
        elif bare[:1].isupper() and (
            _is_subject(tokens, place) if starts else is_english or not _is_determined(tokens, place)
        ):
            yield folded.removesuffix("'s")


def _is_identifier(word: str) -> bool:
    """`svc_a`, `a@b.example`, `src/app`, `iOS`, `README`; not what only has a digit or a point."""
    return any(sign in word for sign in "_@/") or any(
        after.isupper() and before.isalpha() for before, after in pairwise(word)
    )


def _is_subject(tokens: list[tuple[str, str]], place: int) -> bool:
    """Whether the head of a sentence is one thing that does something: "Anna leads", and not "Backups run"."""
    following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
    is_doing = following.islower() and (following.endswith("t") or re.search(r"[^s]s$", following) is not None)
    return following in _THIRD_PERSON or (is_doing and following not in GERMAN and following not in ENGLISH)


def _is_determined(tokens: list[tuple[str, str]], place: int) -> bool:
    """Whether an article or a number stands before it, or one of them and one more word: "die neue", "4 GB"."""
    words = [word for word, _before in tokens[max(0, place - 2) : place]]
    if words and _determines(words[-1]):
        return True
    return len(words) > 1 and _determines(words[0]) and (words[1].islower() or words[0][0].isdigit())


def _determines(word: str) -> bool:
    return word[0].isdigit() or word.casefold() in _DETERMINERS or word.casefold() in _NUMBER_WORDS
