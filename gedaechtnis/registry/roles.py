"""What somebody or something is called by what it is to others: "sister", "Chef", "owner"; one list for all readers.

What is told ("my sister Anna") and what is asked ("where does Tim's sister live?") use the same words.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from gedaechtnis.common.text import finding_keys, name_key
from gedaechtnis.registry import tables

Language = Literal["de", "en"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The fact reads `<named> <predicate> <owner>`, or the other way round with `owner_first` ("Tim's company").

    `predicates`: by which it is told, then by which it may be told too. `kind`: of whoever is called so, "" for any.
    `is_vague`: the predicate says less than the word. `is_told`: statements are read by it, not only questions.
    `names_species`: the first word of each language is a species.
    """

    predicates: tuple[str, ...]
    kind: str
    owner_first: bool
    is_vague: bool
    is_told: bool
    names_species: bool
    de: tuple[str, ...]
    en: tuple[str, ...]

    def words(self, language: Language) -> tuple[str, ...]:
        return self.de if language == "de" else self.en


@cache
def roles() -> tuple[Role, ...]:
    """All of them, as `data/roles.csv` has them."""
    return tuple(_role(row) for row in tables.rows("roles.csv"))


@lru_cache(maxsize=10_000)
def called(word: str, language: Language | None = None) -> Role | None:
    """The role a word of a language (None: of either) stands for, as it is listed or with a possessive ending."""
    known = _by_key(language)
    key = name_key(word)
    return next((known[key] for key in (key, *sorted(finding_keys(word))) if key in known), None)


def _role(row: dict[str, str]) -> Role:
    flags = set(row["flags"].split())
    return Role(
        predicates=tuple(row["predicates"].split()),
        kind=row["kind"],
        owner_first="owner_first" in flags,
        is_vague="vague" in flags,
        is_told="asked" not in flags,
        names_species="species" in flags,
        de=_words(row["de"]),
        en=_words(row["en"]),
    )


def _words(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split(", ")))


@cache
def _by_key(language: Language | None) -> dict[str, Role]:
    languages: Collection[Language] = ("de", "en") if language is None else (language,)
    return {name_key(word): role for role in roles() for one in languages for word in role.words(one)}
