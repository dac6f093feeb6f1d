"""Entities as one write transaction finds them: stored ones, and its own not yet stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from gedaechtnis.common.text import name_key
from gedaechtnis.identity.principals import MAX_CLEARANCE
from gedaechtnis.memory.planner.intervals import FOREVER
from gedaechtnis.memory.references import Stored, as_uuid, bearers, split_ref
from gedaechtnis.world.models import Entity, EntityAlias


@dataclass(kw_only=True)
class Directory:
    """A finder (`references.Finder`) that asks the tables once for each name and remembers the answer.

    Made by a write session, which reads with the highest clearance; `seen_by` finds only what a lower one admits.
    """

    scopes: Sequence[str]
    made: list[Entity] = field(default_factory=list)
    named: list[EntityAlias] = field(default_factory=list)
    clearance: int = MAX_CLEARANCE
    _ids: dict[UUID, list[Entity]] = field(default_factory=dict)
    _slugs: dict[tuple[str, str], list[Entity]] = field(default_factory=dict)
    _keys: dict[str, list[Entity]] = field(default_factory=dict)
    _aliases: dict[str, list[EntityAlias]] = field(default_factory=dict)

    def seen_by(self, clearance: int) -> Directory:
        """The same directory as somebody of that clearance finds it."""
        return self if clearance == self.clearance else replace(self, clearance=clearance)

    def by_id(self, id: UUID) -> Entity | None:
        if id not in self._ids:
            self._read_ids({id})
        return next(iter(self._admitted(self._ids[id])), None)

    def by_slug(self, kind: str, slug: str) -> list[Entity]:
        if (kind, slug) not in self._slugs:
            self._read_slugs({(kind, slug)})
        return self._admitted(self._slugs[kind, slug])

    def by_key(self, key: str) -> list[Entity]:
        if key not in self._keys:
            self._read_keys({key})
        return self._admitted(self._keys[key])

    def by_alias(self, key: str, at: datetime) -> list[Entity]:
        if key not in self._aliases:
            self._read_aliases({key})
        known = (*self._aliases[key], *(alias for alias in self.named if alias.key == key))
        return self._admitted([a.entity for a in known if a.valid_from <= at < (a.valid_to or FOREVER)])

    def self_of(self, scope_ref: str) -> Entity | None:
        return Stored(self.scopes).self_of(scope_ref)

    def read(self, *, refs: Iterable[str], names: Iterable[str]) -> None:
        """Ask the tables for many references and names at once."""
        refs = set(refs)
        self._read_ids({id for ref in refs if (id := as_uuid(ref))} - self._ids.keys())
        self._read_slugs({parts for ref in refs if (parts := split_ref(ref))} - self._slugs.keys())
        keys = {name_key(name) for name in names} - {""}
        self._read_keys(keys - self._keys.keys())
        self._read_aliases(keys - self._aliases.keys())

    def add(self, entity: Entity) -> None:
        """Find an entity that is not stored yet (in `made`, as names in `named`)."""
        self.made.append(entity)
        self._index(entity)

    def forget(self) -> None:
        """What names mean may have changed: ask again."""
        self._ids.clear()
        self._slugs.clear()
        self._keys.clear()
        self._aliases.clear()
        for entity in self.made:
            self._index(entity)

    def _index(self, entity: Entity) -> None:
        self.by_slug(entity.kind, entity.slug)
        self.by_key(entity.name_key)
        self._ids[entity.pk] = [entity]
        self._slugs[entity.kind, entity.slug].append(entity)
        self._keys[entity.name_key].append(entity)

    def _admitted(self, found: Iterable[Entity]) -> list[Entity]:
        return [entity for entity in found if entity.classification <= self.clearance]

    def _read_ids(self, ids: set[UUID]) -> None:
        self._ids.update({id: [] for id in ids})
        for entity in self._stored.entities.filter(pk__in=ids) if ids else ():
            self._ids[entity.pk].append(entity)

    def _read_slugs(self, slugs: set[tuple[str, str]]) -> None:
        self._slugs.update({slug: [] for slug in slugs})
        kinds, names = {kind for kind, _slug in slugs}, {slug for _kind, slug in slugs}
        for entity in self._stored.entities.filter(kind__in=kinds, slug__in=names) if slugs else ():
            self._slugs.get((entity.kind, entity.slug), []).append(entity)

    def _read_keys(self, keys: set[str]) -> None:
        self._keys.update({key: [] for key in keys})
        for entity in self._stored.named.filter(name_key__in=keys) if keys else ():
            self._keys[entity.name_key].append(entity)

    def _read_aliases(self, keys: set[str]) -> None:
        self._aliases.update({key: [] for key in keys})
        known = list(bearers(keys)) if keys else []
        bearing = {entity.pk: entity for entity in self._stored.named.filter(pk__in={a.entity_id for a in known})}
        for alias in known:
            if alias.entity_id in bearing:
                alias.entity = bearing[alias.entity_id]
                self._aliases[alias.key].append(alias)

    @property
    def _stored(self) -> Stored:
        return Stored(self.scopes)
