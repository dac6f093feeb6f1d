"""From a sentence to clauses: openers, fillers, negation, times and markers taken off, so that rules stay simple."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from curator.extractors.builtin import clock
from curator.extractors.builtin.grammar import Language
from curator.sentences import Sentence
from curator.window import WindowMessage
from gedaechtnis.common import dates

Negated = Literal["no", "not", "no_longer"]

_APOSTROPHES = str.maketrans("’`´", "'''")
_EDGE = ' \t,;:.!?…–—-"„“”»«()'
MAX_CLAUSE_CHARS = 300
"""Longer clauses are not read: nothing that long is one plain statement."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement, ready for the rules.

    `said` is the clause as spoken (without openers); `text` is it without negation and fillers; `bare` also
    without dates, times and parts of the day. `old` is what a contrast ("not 18 but 19") takes back.
    """

    message: WindowMessage
    evidence: str
    language: Language
    said: str
    text: str
    bare: str
    negated: Negated
    unclear: bool
    correction: bool
    before: bool
    momentary: bool
    phrases: tuple[dates.TimePhrase, ...]
    clocks: tuple[clock.Clock, ...]
    old: Clause | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """What the beginning of a sentence says about the rest."""

    rest: str
    correction: bool = False
    forget: bool = False


def opening(sentence: Sentence, language: Language) -> Opening:
    """Take greetings, fillers and markers off the front of a sentence."""
    rest = " ".join(sentence.own.translate(_APOSTROPHES).split()).strip(_EDGE)
    for pattern, replacement in language.rewrites:
        rest = re.sub(pattern, replacement, rest, flags=re.IGNORECASE)
    correction = False
    while True:
        if forget := re.match(language.forget, rest, re.IGNORECASE):
            return Opening(rest[forget.end() :].strip(_EDGE), correction, forget=True)
        if match := re.match(rf"(?:{language.correction})(?:\s*[,:.!–-]+\s*|\s+|$)", rest, re.IGNORECASE):
            correction = True
        else:
            match = re.match(
                rf"(?:{language.remember})|(?:{language.openers})(?:\s*[,:.!–-]+\s*|\s+|$)", rest, re.IGNORECASE
            )
        if match is None or match.end() == 0:
            return Opening(rest.strip(_EDGE), correction)
        rest = rest[match.end() :].lstrip(_EDGE)


def decision(text: str, language: Language) -> re.Match[str] | None:
    """How a sentence tells what several people decided; None where it does not, or says that they did not."""
    match = re.fullmatch(language.decided, text, re.IGNORECASE)
    denied = match and language.finds(f"{language.negated}|{language.unclear_negation}", match["frame"] or "")
    return None if denied else match


def clauses(
    rest: str, *, message: WindowMessage, evidence: str, language: Language, zone: tzinfo, correction: bool
) -> Iterator[Clause]:
    """Cut the rest of a sentence where a new verb begins, and prepare every part."""
    is_whole = decision(rest, language) is not None
    contrasted = None if is_whole else _contrast(rest, language)
    new, old = contrasted or (rest, None)
    for part in (new,) if contrasted or is_whole else _parts(new, language):
        if part and (is_whole or len(part) <= MAX_CLAUSE_CHARS):
            taken_back = (
                _prepare(old, message, evidence, language, zone, correction=True) if old and part == new else None
            )
            yield _prepare(
                part, message, evidence, language, zone, correction=correction or old is not None, old=taken_back
            )


def _contrast(rest: str, language: Language) -> tuple[str, str] | None:
    """("Anna lives in Cologne", "Anna lives in Ulm") for "Anna lives not in Ulm but in Cologne".

    A second verb makes a second statement of it: "I don't like mushrooms, but I love tea".
    """
    for pattern in language.contrast:
        match = re.match(pattern, rest, re.IGNORECASE)
        if match and not language.finds(language.verbs, match["new"]):
            head = f"{match['head']} {match.groupdict().get('verb') or ''}".strip(_EDGE)
            old, new = match["old"].strip(_EDGE), match["new"].strip(_EDGE)
            if re.fullmatch(r"\d{1,2}", old) and re.search("uhr", new, re.IGNORECASE):
                old = f"{old} Uhr"
            return f"{head} {new}".strip(), f"{head} {old}".strip()
    return None


def _parts(text: str, language: Language) -> list[str]:
    parts: list[str] = []
    start = 0
    for joint in re.finditer(language.joint, text, re.IGNORECASE):
        left, right = text[start : joint.start()], text[joint.end() :]
        verbless = not joint.group().strip().isalpha() and re.match(language.verbless, right, re.IGNORECASE)
        if language.finds(language.verbs, left) and (
            verbless or language.finds(language.verbs, _until_next(right, language))
        ):
            parts.append(left.strip(_EDGE))
            start = joint.end()
    last = text[start:]
    if but := re.search(r",?\s+(?:aber|but)\s+", last):
        last = last[: but.start()]
    return [*parts, last.strip(_EDGE)]


def _until_next(text: str, language: Language) -> str:
    joint = re.search(r",\s|;|\s(?:und|and)\s", text)
    head = text[: joint.start()] if joint else text
    return head if language.finds(language.verbs, head) else text if joint and "," not in joint.group() else head


def _prepare(
    part: str,
    message: WindowMessage,
    evidence: str,
    language: Language,
    zone: tzinfo,
    *,
    correction: bool,
    old: Clause | None = None,
) -> Clause:
    said = part.strip(_EDGE)
    text, negated = _without_negation(said, language)
    phrases = dates.find(text, sent_at=message.sent_at, zone=zone, language=language.code)
    undated = _blank(text, [(phrase.start, phrase.end) for phrase in phrases])
    clocks = clock.find(undated, language.code)
    bare = undated
    if clocks:
        bare = clock.without_parts(_blank(undated, [(found.start, found.end) for found in clocks]), language.code)
    fillers = rf"(?<!\w)(?:{language.fillers}|{language.before})(?!\w)"
    return Clause(
        message=message,
        evidence=evidence,
        language=language,
        said=said,
        text=_tidy(re.sub(fillers, " ", text, flags=re.IGNORECASE)),
        bare=_tidy(re.sub(fillers, " ", bare, flags=re.IGNORECASE)),
        negated=negated,
        unclear=language.finds(language.unclear_negation, said),
        correction=correction,
        before=language.finds(language.before, said),
        momentary=language.finds(language.momentary, said),
        phrases=phrases,
        clocks=clocks,
        old=old,
    )


def _without_negation(text: str, language: Language) -> tuple[str, Negated]:
    for pattern in language.no_longer:
        if match := re.search(pattern, text, re.IGNORECASE):
            return _tidy(text[: match.start()] + match["kept"] + text[match.end() :]), "no_longer"
    without, count = re.subn(rf"(?<!\w)(?:{language.negated})(?!\w)", " ", text, flags=re.IGNORECASE)
    return (_tidy(without), "not") if count else (text, "no")


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _tidy(text: str) -> str:
    return re.sub(r"\s+([,;:])", r"\1", " ".join(text.split())).strip(_EDGE)
