"""Reading noun phrases: "ich", "Anna", "meine Schwester Anna", "Ben's cat", "Anna, Ben und ich"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from curator.extractors.builtin.grammar import Language, Role

MAX_NAME_WORDS = 6
_ADDRESSED = re.compile(r"(?:Herrn?|Frau|Mrs?|Ms|Miss)\.? (?=[A-ZÄÖÜ])")
"""How a stranger is addressed: "Frau Dr. Schmidt" is nobody's wife."""


@dataclass(frozen=True, slots=True)
class Self:
    """The person who speaks."""


@dataclass(frozen=True, slots=True)
class Pronoun:
    """Somebody mentioned before."""


@dataclass(frozen=True, slots=True)
class Named:
    """A proper name."""

    name: str


@dataclass(frozen=True, slots=True)
class Related:
    """Somebody or something by its role ("my sister"), perhaps with a name. Without an owner: "a cat"."""

    role: Role
    owner: Mention | None
    name: str | None = None


Mention = Self | Pronoun | Named | Related


def parse(text: str, language: Language) -> tuple[Mention, ...] | None:
    """The mentions of a phrase, or None if any part of it is not one."""
    parts = [part.strip() for part in re.split(language.coordination, text.strip(), flags=re.IGNORECASE)]
    found = [parse_one(part, language) for part in parts if part]
    mentions = tuple(mention for mention in found if mention is not None)
    return mentions if mentions and len(mentions) == len(found) else None


def parse_one(text: str, language: Language) -> Mention | None:
    """One mention, or None."""
    text = text.strip(" ,")
    if re.fullmatch(language.myself, text, re.IGNORECASE):
        return Self()
    if re.fullmatch(language.they, text, re.IGNORECASE):
        return Pronoun()
    if address := _ADDRESSED.match(text):
        named_so = text[address.end() :]
        return named(named_so if " " in named_so else text, language)
    return _related(text, language) or named(text, language)


def named(text: str, language: Language) -> Named | None:
    """A proper name: capitalised words, few, none of them an ordinary word of the language."""
    cleaned = re.sub(r"^[^\w]+|[^\w.)]+$", "", text)
    words = cleaned.split()
    if not words or len(words) > MAX_NAME_WORDS:
        return None
    for index, word in enumerate(words):
        inner = 0 < index < len(words) - 1
        if inner and re.fullmatch(language.connectors, word, re.IGNORECASE):
            continue
        if not word[0].isupper() and not (index and word[0].isdigit()):
            return None
        if re.fullmatch(language.not_names, word, re.IGNORECASE) or re.search(r"[@/\\<>{}=|]", word):
            return None
    if not has_letters(cleaned):
        return None
    return Named(cleaned)


def has_letters(text: str) -> bool:
    """Whether the text holds at least one letter."""
    return any(char.isalpha() for char in text)


def possessor(text: str, language: Language) -> Mention | None:
    """Whose: "my", "Annas", "Anna's", "her"."""
    if re.fullmatch(language.mine, text, re.IGNORECASE):
        return Self()
    if re.fullmatch(language.theirs, text, re.IGNORECASE):
        return Pronoun()
    for ending in language.possessive_endings:
        if text.endswith(ending) and len(text) > len(ending) + 1:
            return named(text[: -len(ending)], language)
    return None


def _related(text: str, language: Language) -> Related | None:
    match = _role_pattern(language.code, _alternatives(language), language.role_of, language.articles).fullmatch(text)
    if match is None:
        return None
    role = language.roles[match["role"].lower()]
    if match["of"] is not None:
        owner = parse_one(match["of"], language)
        return Related(role, owner) if owner is not None else None
    if match["whose"] is None:
        return Related(role, Self() if re.fullmatch(language.family, text, re.IGNORECASE) else None)
    owner = possessor(match["whose"], language)
    if owner is None:
        return None
    name = named(match["name"], language) if match["name"] else None
    if match["name"] and name is None:
        return None
    return Related(role, owner, name.name if name else None)


def _alternatives(language: Language) -> str:
    return "|".join(sorted((re.escape(noun) for noun in language.roles), key=len, reverse=True))


@lru_cache(maxsize=4)
def _role_pattern(code: str, roles: str, role_of: str, articles: str) -> re.Pattern[str]:
    adjectives = r"(?:(?-i:[a-zäöüß]+)\s+){0,2}?"
    return re.compile(
        rf"(?:(?:{articles})\s+{adjectives}|(?P<whose>\S+)\s+{adjectives})?(?P<role>{roles})"
        rf"(?:\s+(?:{role_of})\s+(?P<of>.+)|,?\s+(?P<name>\S.*))?",
        re.IGNORECASE,
    )
