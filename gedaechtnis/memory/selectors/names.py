"""Finding entities by name in an index, whether or not the database lets policies use it.

The search itself is SQL (`gedaechtnis/world/sql/0004_reads.up.sql`): one body, installed as the caller and as
the definer. Both return the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from gedaechtnis.scoping.context import current_scope

TIERS = 10
"""0 the best: exact, beginning, beginning of a word, inside, alike; each as typed, then as spelt otherwise."""

_OPERATOR_FUNCTIONS = ["similarity_op", "word_similarity_commutator_op"]
_UNDER_POLICIES = "SELECT tier, name, id FROM world_find_names(%s, %s, %s, %s, %s::smallint, %s, %s, %s)"
_AS_DEFINER = (
    "SELECT tier, name, id FROM world_find_names_as_definer(%s, %s::smallint, %s, %s, %s, %s, %s::smallint, %s, %s, %s)"
)


class Place(NamedTuple):
    """Where an entity stands in a search, by the key of the name or alias that fits best, or in a list by name.

    `tier` is None in a list, which is not ranked.
    """

    tier: int | None
    key: str
    id: UUID


def find(
    keys: Sequence[str],
    *,
    status: str,
    kind: str | None = None,
    after: Place | None = None,
    limit: int,
    as_definer: bool | None = None,
) -> list[Place]:
    """The entities with a name that fits any of `keys` in the open scope, the best first.

    Without an open scope there is nothing to find, as in every table. `as_definer` says which way to go;
    by default the database is asked what it allows.
    """
    opened = current_scope()
    if not keys or opened is None:
        return []
    asked = [list(opened.read), list(keys), status, kind, *(after or (None, None, None)), limit]
    with connection.cursor() as cursor:
        if not is_index_usable() if as_definer is None else as_definer:
            cursor.execute(_AS_DEFINER, [opened.org_id, opened.clearance, *asked])
        else:
            cursor.execute(_UNDER_POLICIES, asked)
        return [Place(*row) for row in cursor.fetchall()]


def is_index_usable() -> bool:
    """Whether the trigram operators are leakproof here, so that a search under the policies may use its index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT bool_and(proleakproof) FROM pg_proc WHERE proname = ANY (%s) AND pronargs = 2",
            [_OPERATOR_FUNCTIONS],
        )
        return bool(cursor.fetchone()[0])


def likeness(places: Sequence[Place], keys: Sequence[str]) -> dict[UUID, float]:
    """How alike (0 to 1, by trigrams) the name by which each place was found is to the likest of the keys."""
    if not places:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT found.id, max(similarity(found.name, world_fold(k.key))) "
            "FROM unnest(%s::uuid[], %s::text[]) AS found (id, name) CROSS JOIN unnest(%s::text[]) AS k (key) "
            "GROUP BY found.id",
            [[place.id for place in places], [place.key for place in places], list(keys)],
        )
        return dict(cursor.fetchall())
