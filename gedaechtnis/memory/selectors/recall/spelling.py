"""Words spelt like one that nobody used, found in an index whether or not the database lets policies use it.

The search itself is SQL (`gedaechtnis/world/sql/0015_alike.up.sql`): one body, installed as the caller and as the
definer. Both return the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection

from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.memory.selectors import names
from gedaechtnis.scoping.context import current_scope

_UNDER_POLICIES = "SELECT word, lexeme, likeness, documents FROM world_find_alike(%s, %s, %s)"
_AS_DEFINER = "SELECT word, lexeme, likeness, documents FROM world_find_alike_as_definer(%s, %s::smallint, %s, %s, %s)"


# Of two letters that changed places: in a short word no three stand as they should, so trigrams do not find it.
_SWAPPED = 0.9


class Alike(NamedTuple):
    """A word in sight that is spelt like `word`, how alike (.45 to 1), and how often it stands."""

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


def swapped(words: Sequence[str]) -> list[Alike]:
    """The words in sight that `words` are when two neighbouring letters change places. In an open scope."""
    opened = current_scope()
    meant = {(word, lexeme) for word in words for other in _swaps(word) for lexeme in lexemes(other)}
    if not meant or opened is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lexeme, sum(documents)::int FROM lexeme_counts "
            'WHERE scope_ref = ANY (%s) AND lexeme = ANY (%s::text[] COLLATE "C") GROUP BY lexeme',
            [list(opened.read), sorted({lexeme for _word, lexeme in meant})],
        )
        documents = dict(cursor.fetchall())
    return [Alike(word, lexeme, _SWAPPED, documents[lexeme]) for word, lexeme in sorted(meant) if lexeme in documents]


def _swaps(word: str) -> set[str]:
    return {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)} - {word}
