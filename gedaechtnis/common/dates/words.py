"""The date words of German and English, as tables from which `dates` builds its patterns.

In an expression `ROLE` stands for a possible preposition (since, from, until, on …), `WHICH` for last/next/this,
`MONTH`, `WEEKDAY`, `UNIT`, `NUMBER`, `RELATIVE`, `PART`, `DAYPART` and `YEAR` for the words of the grammar.
"""

# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grammar:
    """Words of one language.

    Tuples are indexed: months from January, weekdays from Monday, units day, week, month, year, weekend.
    `relative` pairs a pattern with its distance from today in days.
    """

    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    units: tuple[str, ...]
    numbers: Mapping[str, int]
    which: Mapping[str, str]
    relative: tuple[tuple[str, int], ...]
    since: str
    starting: str
    until: str
    at: str
    part: str
    daypart: str
    expressions: Mapping[str, str]


_COMMON = {
    "iso": r"ROLE(?P<y>YEAR)-(?P<m>\d\d)-(?P<d>\d\d)",
    "unit": r"ROLEWHICH(?P<unit>UNIT)",
    "year": r"ROLE(?:PART)?(?P<y>YEAR)",
    "month": r"ROLE(?P<part>PART)?(?:WHICH)?(?P<month>MONTH)(?:\s+(?P<y>YEAR))?",
    "weekday": r"ROLE(?:WHICH)?(?P<weekday>WEEKDAY)DAYPART",
    "relative": r"ROLE(?P<word>RELATIVE)",
}

_DAYPART_DE = r"(?:\s+(?:früh|morgen|vormittag|mittag|nachmittag|abend|nacht))?"
_DAYPART_EN = r"(?:\s+(?:morning|noon|afternoon|evening|night))?"

_GERMAN_EXPRESSIONS = _COMMON | {
    "numeric": r"ROLE(?P<d>\d{1,2})\.\s?(?P<m>1[0-2]|0?[1-9])\.(?:\s?(?P<y>YEAR|\d\d(?!\s*uhr)))?",
    "day_month": r"ROLE(?P<d>\d{1,2})\.\s?(?P<month>MONTH)(?:\s+(?P<y>YEAR))?",
    "ago": r"vor\s+(?:etwa\s+|ungefähr\s+)?(?P<n>NUMBER)\s+(?P<unit>UNIT)",
    "lasting": r"seit\s+(?:etwa\s+|ungefähr\s+)?(?P<n>NUMBER)\s+(?P<unit>UNIT)",
    "ahead": r"in\s+(?P<n>NUMBER)\s+(?P<unit>UNIT)",
    "now": r"(?:ab (?:jetzt|sofort)|von (?:nun|jetzt) an)",
    "vague": (
        r"(?:neulich|kürzlich|vor kurzem|seit kurzem|seit langem|seit jeher|schon immer|damals|demnächst|bald|irgendwann|"
        r"(?:letzte[nrsm]?|diese[nrsm]?|nächste[nrsm]?|im|seit(?: letztem| dem)?)\s+(?:sommer|winter|herbst|frühling|frühjahr))"
    ),
}
_ENGLISH_EXPRESSIONS = _COMMON | {
    "day_month": r"ROLE(?:the\s+)?(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>MONTH)(?:,?\s+(?P<y>YEAR))?",
    "month_day": r"ROLE(?P<month>MONTH)\s+(?:the\s+)?(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<y>YEAR))?",
    "ago": r"(?:about\s+)?(?P<n>NUMBER)\s+(?P<unit>UNIT)\s+ago",
    "lasting": r"(?:for(?:\s+the\s+(?:past|last))?|since)\s+(?:about\s+)?(?P<n>NUMBER)\s+(?P<unit>UNIT)(?:\s+ago)?",
    "ahead": r"in\s+(?P<n>NUMBER)\s+(?P<unit>UNIT)(?:'\s+time)?",
    "now": r"(?:from now on|as of now|from this moment(?: on)?|effective immediately)",
    "vague": (
        r"(?:recently|lately|the other day|a while ago|long ago|for a while|for ages|back then|soon|some ?day|"
        r"(?:last|this|next|in(?: the)?|since(?: last)?)\s+(?:summer|winter|autumn|fall|spring))"
    ),
}

GERMAN = Grammar(
    months=(
        r"januar|jänner|jan\.?", r"februar|feber|feb\.?", r"märz|maerz|mär\.?", r"april|apr\.?", "mai", r"juni|jun\.?",
        r"juli|jul\.?", r"august|aug\.?", r"september|sept?\.?", r"oktober|okt\.?", r"november|nov\.?", r"dezember|dez\.?",
    ),
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
    units=("tag(?:en?|e)?", "wochen?", "monate?n?", "jahre?n?", "wochenende"),
    numbers={
        "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8,
        "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "zwanzig": 20,
    },
    which={
        "last": "letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?",
        "next": "nächste[nrsm]?|naechste[nrsm]?",
        "coming": "kommende[nrsm]?",
        "this": "diese[nrsm]?",
    },
    relative=(
        (rf"vorgestern{_DAYPART_DE}", -2),
        (rf"gestern{_DAYPART_DE}", -1),
        (rf"heute{_DAYPART_DE}", 0),
        (rf"übermorgen{_DAYPART_DE}", 2),
        (rf"(?<!guten )(?<!jeden )(?<!am )morgen{_DAYPART_DE}", 1),
    ),
    since="seit(?: dem| der)?",
    starting="ab(?: dem| der)?|vom|von",
    until="bis(?: einschließlich)?(?: zum| zur| zu)?(?: dem| der)?",
    at="am|im jahr|im|in(?: der| dem)?|zum|an",
    part=r"(?:anfang|mitte|ende)\s+",
    daypart=_DAYPART_DE,
    expressions=_GERMAN_EXPRESSIONS,
)  # fmt: skip

ENGLISH = Grammar(
    months=(
        r"january|jan\.?", r"february|feb\.?", r"(?-i:March|Mar\.?)", r"april|apr\.?", "(?-i:May)", r"june|jun\.?",
        r"july|jul\.?", r"august|aug\.?", r"september|sept?\.?", r"october|oct\.?", r"november|nov\.?", r"december|dec\.?",
    ),
    weekdays=("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    units=("days?", "weeks?", "months?", "years?", "weekend"),
    numbers={
        "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
        "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20,
    },
    which={"last": "last|past|previous", "next": "next", "coming": "coming|upcoming", "this": "this"},
    relative=(
        ("the day before yesterday", -2),
        (rf"yesterday{_DAYPART_EN}", -1),
        ("last night", -1),
        ("today|tonight|this (?:morning|afternoon|evening)", 0),
        ("the day after tomorrow", 2),
        (rf"tomorrow{_DAYPART_EN}", 1),
    ),
    since="since(?: the)?",
    starting="from|starting(?: on| from| in)?|as of|beginning(?: on| in)?|effective",
    until="until|till|through|up to(?: and including)?",
    at="on|in|at",
    part="(?:early|mid|late|the (?:beginning|start|middle|end) of)[ -]",
    daypart=_DAYPART_EN,
    expressions=_ENGLISH_EXPRESSIONS,
)  # fmt: skip

GRAMMARS: Mapping[str, Grammar] = {"de": GERMAN, "en": ENGLISH}
