"""Whom a message names by a relation to what is linked: of "Tims Schwester" she is told of as well."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from gedaechtnis.common.text import finding_keys
from gedaechtnis.memory.selectors.context.linker import Links
from gedaechtnis.memory.selectors.recall import query, relations
from gedaechtnis.memory.selectors.recall.relations import Relation
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.registry.roles import Role


@dataclass(frozen=True, slots=True)
class Related:
    """Whoever stands in a role to something that is linked, as the facts of it tell."""

    role: Role
    owners: frozenset[UUID]

    @property
    def outgoing(self) -> list[str]:
        """Relations that lead from the owners to whom is meant; what holds both ways is told from either end."""
        terms = catalogue().predicates
        return [key for key in self.role.predicates if self.role.owner_first or terms[key].symmetric]

    @property
    def incoming(self) -> list[str]:
        """Relations that lead from whom is meant to the owners."""
        terms = catalogue().predicates
        return [key for key in self.role.predicates if not self.role.owner_first and not terms[key].symmetric]


def named(text: str, links: Links) -> list[Related]:
    """Relations of what is linked that the beginning of a text names; of several in a row the first."""
    owners = {key: entity for entity in links.entities for key in finding_keys(entity.said)}
    phrases = relations.read(text[: query.MAX_CHARACTERS], owners.keys()).phrases
    found = []
    for first in dict.fromkeys(_first(phrase.relation) for phrase in phrases):
        owner = links.me if first.root is None else owners[first.root]
        if owner is not None and not first.is_former:
            found.append(Related(first.role, frozenset(owner.ids)))
    return found


def _first(relation: Relation) -> Relation:
    return _first(relation.owner) if isinstance(relation.owner, Relation) else relation
