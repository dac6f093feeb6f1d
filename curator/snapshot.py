"""The part of the registry that judging a proposal needs, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ValueType = Literal["text", "number", "date", "time", "phone", "email", "any", "entity"]


@dataclass(frozen=True, slots=True)
class KindRule:
    """An entity kind; facts about a privileged one always go to review."""

    privileged: bool = False


@dataclass(frozen=True, slots=True)
class PredicateRule:
    """What a predicate allows. Empty kinds = any kind."""

    functional: bool = False
    immutable: bool = False
    privileged: bool = False
    subject_kinds: frozenset[str] = frozenset()
    object_kinds: frozenset[str] = frozenset()
    value: ValueType = "any"


@dataclass(frozen=True, slots=True)
class RegistrySnapshot:
    """The vocabulary at the start of a run."""

    kinds: Mapping[str, KindRule]
    predicates: Mapping[str, PredicateRule]
