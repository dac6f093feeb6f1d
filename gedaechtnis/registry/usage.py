"""How often a term is used, over all scopes: numbers for those who govern the vocabulary, never what is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateUsage:
    """Rows of belief, those no longer believed, and operations that wait for a person."""

    scopes: int
    believed: int
    closed: int
    waiting: int

    @property
    def is_used(self) -> bool:
        """Whether anything was ever believed: then what decides where beliefs compete is frozen."""
        return bool(self.believed or self.closed)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindUsage:
    scopes: int
    entities: int


def of_predicate(key: str) -> PredicateUsage:
    scopes, believed, closed, waiting = _asked("SELECT * FROM world_predicate_usage(%s)", key)
    return PredicateUsage(scopes=scopes, believed=believed, closed=closed, waiting=waiting)


def of_kind(key: str) -> KindUsage:
    scopes, entities = _asked("SELECT * FROM world_kind_usage(%s)", key)
    return KindUsage(scopes=scopes, entities=entities)


def _asked(sql: str, key: str) -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [key])
        row: tuple[int, ...] = cursor.fetchone()
    return row
