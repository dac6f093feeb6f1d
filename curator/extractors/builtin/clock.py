"""Times of day as people say them: "um 19 Uhr", "halb acht", "7:30 pm", "at 7 in the evening"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

DayPart = Literal["morning", "evening"]

_NUMBERS = {
    "de": ("null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"),
    "en": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
}
_MORNING = {
    "de": r"morgens|früh|vormittags|am (?:morgen|vormittag)|in der früh|frühmorgens",
    "en": r"in the mornings?|every morning|mornings|a\.?m\.?",
}
_EVENING = {
    "de": r"abends|nachmittags|mittags|nachts|am (?:abend|nachmittag|mittag)",
    "en": r"in the (?:evening|afternoon)s?|every (?:evening|night)|evenings|at night|p\.?m\.?",
}
_HOUR = {language: rf"\d{{1,2}}|{'|'.join(words)}|eins" for language, words in _NUMBERS.items()}
_PATTERNS = {
    "de": re.compile(
        rf"(?:(?:immer\s+)?(?:um|gegen|ab)\s+)?(?:"
        rf"(?P<half>halb)\s+(?P<halfhour>{_HOUR['de']})(?:\s*uhr)?"
        rf"|(?P<quarter>viertel (?:nach|vor))\s+(?P<quarterhour>{_HOUR['de']})(?:\s*uhr)?"
        rf"|(?P<hour>{_HOUR['de']})(?:[:.](?P<minute>[0-5]\d))?\s*(?:uhr|h)(?:\s+(?P<after>[0-5]?\d)(?!\d))?"
        rf"|(?P<hour2>\d{{1,2}}):(?P<minute2>[0-5]\d)"
        rf")(?!\w)"
        rf"|(?P<hour4>\d{{1,2}})(?=\s*(?:und|oder|,)\s*(?:um\s+)?\d{{1,2}}(?:[:.]\d\d)?\s*uhr)"
        rf"|(?:um|gegen)\s+(?P<hour3>{_HOUR['de']})(?!\w|[.:]\d)"
    ),
    "en": re.compile(
        rf"(?:(?:at|around|by)\s+)?(?:"
        rf"(?P<half>half past)\s+(?P<halfhour>{_HOUR['en']})"
        rf"|(?P<quarter>quarter (?:past|to))\s+(?P<quarterhour>{_HOUR['en']})"
        rf"|(?P<hour>{_HOUR['en']})(?:[:.](?P<minute>[0-5]\d))?\s*(?:o'clock|(?=[ap]\.?m\b))"
        rf"|(?P<hour2>\d{{1,2}}):(?P<minute2>[0-5]\d)"
        rf")(?:\s*(?P<half_of_day>[ap])\.?m\.?)?(?!\w)"
        rf"|(?:at|around)\s+(?P<hour3>{_HOUR['en']})(?!\w|[.:]\d)"
    ),
}
_PATTERNS = {language: re.compile(rf"(?<![\w.:])(?:{p.pattern})", re.IGNORECASE) for language, p in _PATTERNS.items()}
_JOINT = re.compile(r"\b(?:und|and|oder|or)\b|,")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day at `text[start:end]`: `HH:MM`, and the part of the day it was said with."""

    start: int
    end: int
    value: str

    @property
    def part(self) -> DayPart:
        return "morning" if self.value < "12:00" else "evening"


def day_part(text: str, language: str) -> DayPart | None:
    """The part of the day a text names, if it names one."""
    for part, table in (("morning", _MORNING), ("evening", _EVENING)):
        if re.search(rf"(?<!\w)(?:\d{{1,2}}\s*)?(?:{table[language]})(?!\w)", text, re.IGNORECASE):
            return "morning" if part == "morning" else "evening"
    return None


def without_parts(text: str, language: str) -> str:
    """The text with the parts of the day removed."""
    return re.sub(rf"(?<!\w)(?:{_MORNING[language]}|{_EVENING[language]})(?!\w)", " ", text, flags=re.IGNORECASE)


def find(text: str, language: str) -> tuple[Clock, ...]:
    """The times of day in a text, in order. A day part before or behind a time turns 7 into 19:00."""
    found: list[Clock] = []
    previous_end = 0
    matches = list(_PATTERNS[language].finditer(text))
    for index, match in enumerate(matches):
        next_start = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        behind, before = text[match.end() : next_start], text[previous_end : match.start()]
        near = day_part(_JOINT.split(behind)[0], language) or day_part(_JOINT.split(before)[-1], language)
        value = _value(match, language, near or day_part(text, language))
        if value is not None:
            found.append(Clock(match.start(), match.end(), value))
        previous_end = match.end()
    return tuple(found)


def _value(match: re.Match[str], language: str, part: DayPart | None) -> str | None:
    groups = match.groupdict()
    hour_text = next(
        (groups[name] for name in ("halfhour", "quarterhour", "hour", "hour2", "hour3", "hour4") if groups.get(name)),
        "",
    )
    hour = _number(hour_text, language)
    minute = int(groups.get("minute") or groups.get("minute2") or groups.get("after") or 0)
    if groups.get("half"):
        minute = 30
        hour -= language == "de"
    elif quarter := groups.get("quarter"):
        before = quarter.lower().endswith(("vor", "to"))
        minute, hour = (45, hour - 1) if before else (15, hour)
    letter = (groups.get("half_of_day") or "").lower()
    if letter:
        part = "morning" if letter == "a" else "evening"
    if part == "evening" and hour < 12:
        hour += 12
    elif letter == "a" and hour == 12:
        hour = 0
    if hour == 24:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if 0 <= hour <= 23 else None


def _number(text: str, language: str) -> int:
    lowered = text.lower()
    if lowered.isdigit():
        return int(lowered)
    return 1 if lowered == "eins" else _NUMBERS[language].index(lowered)
