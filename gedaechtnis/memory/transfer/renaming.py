"""Ids made anew: where others live already, imported rows must not stand in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import models

from gedaechtnis.common import canonical
from gedaechtnis.memory.transfer.archive_file import Row, uuid_columns
from gedaechtnis.memory.writing.slots import slot_key
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.scoping.models import ScopedModel
from gedaechtnis.world.models import Fact

_RANDOM_BITS = 62
_RANDOM = (1 << _RANDOM_BITS) - 1
_HASHES = frozenset({"object_key", "slot", "body_hash", "key"})
"""Columns of the type of an id that are none."""
_AUTHORS = frozenset({"acted_by", "principal", "proposed_by", "decided_by"})
_NAMING = frozenset({"run_id", "correlation_id", "ref"})
"""Texts that may name a row, alone or behind a word: `msg:<id>`, `proposal-<id>`."""
_SAID = frozenset(
    {"object_value", "text", "statement", "summary", "canonical_name", "description", "quote", "parts", "original"}
)
"""What was said stays as it was, also where it looks like an id."""
_NAMED = re.compile(r"((?:[a-z]+[:-])?)([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """How the rows of one import are called here. `key` (an id of the import's own) makes the new ids.

    An id keeps its time, and those of one instant keep their order: what is sorted by id stays sorted.
    """

    key: UUID
    keeps_ids: bool
    source_ref: str
    scope_ref: str
    outside: frozenset[UUID]

    def id(self, old: UUID) -> UUID:
        """What a row's id is here; ids of entities outside the file stay."""
        if self.keeps_ids or old in self.outside:
            return old
        random = (old.int + self.key.int) & _RANDOM
        return UUID(int=(old.int & ~_RANDOM) | random)

    def row(self, model: type[ScopedModel], row: Row) -> Row:
        """A row of the file as it is to be stored."""
        renamed = {name: self._author(value) if name in _AUTHORS else value for name, value in row.items()}
        if model.owned:
            renamed["owner_ref"] = self.scope_ref
        if self.keeps_ids:
            return renamed
        for name in uuid_columns(model) - _HASHES:
            if renamed.get(name) is not None:
                renamed[name] = str(self.id(UUID(renamed[name])))
        for name in _json_columns(model) | _NAMING:
            if name in renamed and name not in _SAID:
                renamed[name] = _walk(renamed[name], self._named)
        return _with_keys(renamed) if model is Fact else renamed

    def _author(self, acted_by: Any) -> Any:
        """The person whose memory it was is the one whose it is."""
        return acted_by.replace(self.source_ref, self.scope_ref) if isinstance(acted_by, str) else acted_by

    def _named(self, text: str) -> str:
        found = _NAMED.fullmatch(text)
        if found is None:
            return text
        word, id = found.groups()
        return f"{word}{self.id(UUID(id))}" if word not in {"user:", "group:", "org:"} else self._author(text)


@cache
def _json_columns(model: type[ScopedModel]) -> frozenset[str]:
    return frozenset(
        str(column.column) for column in model._meta.concrete_fields if isinstance(column, models.JSONField)
    )


def _walk(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_walk(inner, change) for inner in value]
    if isinstance(value, Mapping):
        return {change(name): inner if name in _SAID else _walk(inner, change) for name, inner in value.items()}
    return value


def _with_keys(fact: Row) -> Row:
    """The keys under which a fact competes follow from what it names."""
    term = catalogue().predicates.get(fact["predicate"])
    if fact["object_entity_id"] is not None:
        fact["object_key"] = str(canonical.object_key(entity_id=UUID(fact["object_entity_id"])))
    fact["slot"] = str(
        slot_key(
            subject_id=UUID(fact["subject_id"]),
            predicate=fact["predicate"],
            functional=term is not None and term.is_functional,
            applies_to_id=UUID(fact["applies_to_id"]) if fact["applies_to_id"] else None,
            object_key=UUID(fact["object_key"]),
            polarity=fact["polarity"],
        )
    )
    return fact
