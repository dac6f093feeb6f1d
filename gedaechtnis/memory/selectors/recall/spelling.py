"""Words spelt like one that nobody used, found in an index whether or not the database lets policies use it.

The search itself is SQL (`gedaechtnis/world/sql/0015_alike.up.sql`): one body, installed as the caller and as the
definer. Both return the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection

from gedaechtnis.memory.selectors import names
from gedaechtnis.scoping.context import current_scope

_UNDER_POLICIES = "SELECT word, lexeme, likeness, documents FROM world_find_alike(%s, %s, %s)"
_AS_DEFINER = "SELECT word, lexeme, likeness, documents FROM world_find_alike_as_definer(%s, %s::smallint, %s, %s, %s)"


class Alike(NamedTuple):
    """A word in sight that is spelt like `word`, by the share of their trigrams (.45 to 1), and how often it stands."""

    word: str
    lexeme: str
    likeness: float
    documents: int


def alike(words: Sequence[str], *, most: int = 1, as_definer: bool | None = None) -> list[Alike]:
    """At most `most` words for each of `words`, the most alike first. In an open scope.

    `as_definer` says which way to go; by default the database is asked what it allows.
    """
    opened = current_scope()
    if not words or opened is None:
        return []
    asked: list[Any] = [list(opened.read), list(words), most]
    with connection.cursor() as cursor:
        if not names.is_index_usable() if as_definer is None else as_definer:
            cursor.execute(_AS_DEFINER, [opened.org_id, opened.clearance, *asked])
        else:
            cursor.execute(_UNDER_POLICIES, asked)
        return [Alike(word, lexeme, float(likeness), int(count)) for word, lexeme, likeness, count in cursor.fetchall()]
