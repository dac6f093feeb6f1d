"""That facts were told: to be called by whoever gives them as an answer, to an agent or to a person.

It is counted later, in each fact's own scope (`projecting/usage.py`), whether or not the reader may write there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from gedaechtnis.scoping import tallies

RECALLED = "count_recalls"
"""Kind of the work that counts what was told."""


def told(facts: Iterable[tuple[str, UUID]]) -> None:
    """Note (scope_ref, fact id) of what an answer tells, each once. Costs a read microseconds and never fails it."""
    by_scope: dict[str, set[UUID]] = defaultdict(set)
    for scope_ref, id in facts:
        by_scope[scope_ref].add(id)
    for scope_ref, ids in by_scope.items():
        tallies.note(kind=RECALLED, scope_ref=scope_ref, ids=ids)
