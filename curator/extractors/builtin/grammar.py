"""The shape of the tables in `patterns_de` and `patterns_en`: rules, roles and the words of a language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gedaechtnis.common.dates import Lean
from gedaechtnis.memory.schemas import MemoryType
from gedaechtnis.registry import roles as registry

Negation = Literal["refuse", "deny", "stop"]


@dataclass(frozen=True, slots=True)
class Role:
    """What "my <noun>" is to its owner.

    The fact reads `<named> <predicate> <owner>`, or the other way round with `owner_first`
    ("my daughter": I am her parent). `species` marks an animal.
    """

    kind: str
    predicate: str
    owner_first: bool = False
    species: str | None = None


def roles(language: registry.Language) -> dict[str, Role]:
    """The nouns of a language that say what somebody is to somebody."""
    return {
        word.lower(): Role(
            role.kind,
            role.predicates[0],
            owner_first=role.owner_first,
            species=role.words(language)[0] if role.names_species else None,
        )
        for role in registry.roles()
        if role.is_told
        for word in role.words(language)
    }


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of statement: how it is said (`forms`) and which builder makes operations of it.

    Forms are regular expressions that must match the whole clause, with the groups S (subject), O (object)
    and others the builder names. `negation`: `deny` a negated form asserts the opposite, and "no longer" does too;
    `stop` "no longer" ends the known fact; `refuse` a negated form says nothing. `change`: it tells of an event
    ("moved"), so it never corrects. `lean`: which way an incomplete date points. `dated`: the forms see the clause
    with its date phrases.
    """

    name: str
    build: str
    forms: tuple[str, ...]
    predicate: str = ""
    subject_kind: str = "person"
    object_kind: str | None = None
    memory_type: MemoryType = MemoryType.USER_ASSERTION
    negation: Negation = "stop"
    lean: Lean = Lean.NONE
    change: bool = False
    ended: bool = False
    needs_date: bool = False
    dated: bool = False
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class Language:
    """Everything the engine needs to know about one language. All patterns ignore case unless said otherwise.

    `decided` is a sentence that tells what several decided. Its group `frame` is what comes before the verb, None after
    a label ("Decision: …"); only what stands there makes it doubtful or denies it.
    """

    code: str
    rules: tuple[Rule, ...]
    roles: Mapping[str, Role]
    rewrites: tuple[tuple[str, str], ...]
    openers: str
    fillers: str
    remember: str
    forget: str
    forget_last: str
    correction: str
    contrast: tuple[str, ...]
    no_longer: tuple[str, ...]
    negated: str
    unclear_negation: str
    before: str
    momentary: str
    joint: str
    verbs: str
    verbless: str
    family: str
    coordination: str
    myself: str
    they: str
    mine: str
    theirs: str
    role_of: str
    possessive_endings: tuple[str, ...]
    articles: str
    not_names: str
    connectors: str
    decided: str
    attributes: Mapping[str, str]
    enquiries: tuple[tuple[str, str], ...]

    def finds(self, pattern: str, text: str) -> bool:
        """Whether a whole-word pattern occurs in the text."""
        return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE) is not None


def german(verb: str, tail: str, end: str = "") -> tuple[str, ...]:
    """A German statement in all four word orders: S V T E, V S T E, S T E V (after "dass"), T V S E."""
    s, v, e = r"(?P<S>.+?)", rf"(?i:{verb})", rf" (?i:{end})" if end else ""
    return (rf"{s} {v} {tail}{e}", rf"{v} {s} {tail}{e}", rf"{s} {tail}{e} {v}", rf"{tail} {v} {s}{e}")


def english(verb: str, tail: str) -> tuple[str, ...]:
    """An English statement: subject, verb, rest."""
    return (rf"(?P<S>.+?) (?i:{verb}) {tail}",)
