"""After the rules of a predicate changed: whoever wrote by the old ones a moment later is found."""

from __future__ import annotations

from datetime import datetime, timedelta

from gedaechtnis.common import clock
from gedaechtnis.identity.principals import GLOBAL_SCOPE
from gedaechtnis.registry import catalogue
from gedaechtnis.scoping import work

CHANGE_PREDICATE = "change_predicate"
"""Kind of the work that lets every memory which uses a predicate follow its rules."""


FIND_ANEW = "find_anew"
"""Kind of the work that lets search follow what may be found, and under which words."""


def announce_findable() -> None:
    """In the transaction of the change: have search look at everything again, when all processes know the new rules."""
    work.enqueue(kind=FIND_ANEW, scope_ref=GLOBAL_SCOPE, dedupe_key="", due_at=_when_all_know())


def announce(key: str) -> None:
    """In the transaction of the change: have memories follow when no process goes on by the old rules any more."""
    work.enqueue(
        kind=CHANGE_PREDICATE,
        scope_ref=GLOBAL_SCOPE,
        dedupe_key=key,
        due_at=_when_all_know(),
    )


def _when_all_know() -> datetime:
    return clock.now() + timedelta(seconds=2 * catalogue.MAX_AGE_SECONDS)
