"""The words of projections: counted for each scope and classification, and posted under each word.

Every step is a transaction of its own that leaves a true index; whoever comes next goes on where it ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from pydantic_core import to_json

from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.memory.projecting import cards, facts, marks, usage, vectors
from gedaechtnis.memory.projecting.access import Place, indexing
from gedaechtnis.memory.selectors.recall.candidates import WEIGHT
from gedaechtnis.memory.writing.session import INDEX
from gedaechtnis.registry.changes import FIND_ANEW
from gedaechtnis.scoping import work
from gedaechtnis.scoping.models import ScopeClock
from gedaechtnis.world.models import Projection

LOOK_AGAIN = "look_again"
"""Kind of the work of looking at all that a scope holds once more."""
_AT_ONCE = 500
_PER_ITEM = 20_000
"""Most projections that one piece of work handles, well within its lease; what remains is the next one's."""

Step = Callable[[Place], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexProgress:
    """Rows of memory that were looked at, projections that were indexed, and whether nothing is left."""

    projected: int
    indexed: int
    is_done: bool


def ask(scope_ref: str) -> None:
    """Let the pending projections of a scope be made and indexed after this transaction."""
    work.enqueue(kind=INDEX, scope_ref=scope_ref, dedupe_key="")


def run(*, scope_ref: str, limit: int | None = None) -> IndexProgress:
    """Do what is pending in a scope, at most about `limit` rows of each step.

    Raises:
        Problem: `scope_denied` (403) while nobody may write there.
    """
    steps = {
        "facts": lambda place: facts.project(place, limit=_AT_ONCE),
        "cards": lambda place: cards.project(place, limit=_AT_ONCE),
        "usage": lambda place: usage.follow(place, limit=_AT_ONCE),
        "terms": lambda place: _index(place, limit=_AT_ONCE),
    }
    done = {name: _repeat(scope_ref, step, limit) for name, step in steps.items()}
    return IndexProgress(
        projected=done["facts"] + done["cards"],
        indexed=done["terms"],
        is_done=limit is None or max(done.values()) < limit,
    )


def _repeat(scope_ref: str, step: Step, limit: int | None) -> int:
    total = 0
    while limit is None or total < limit:
        with indexing(scope_ref) as place:
            done = step(place)
        total += done
        if not done:
            break
    return total


@work.handler(INDEX)
def _run(item: work.WorkItem) -> None:
    """A scope that nobody may write waits: whoever opens it asks again."""
    if ScopeClock.objects.filter(pk=item.scope_ref, state=ScopeClock.State.OPEN).exists():
        progress = run(scope_ref=item.scope_ref, limit=_PER_ITEM)
        if not progress.is_done:
            ask(item.scope_ref)


@work.handler(FIND_ANEW)
def _find_anew(item: work.WorkItem) -> None:
    """What search may find has changed: every scope looks at all it holds once more."""
    for scope_ref in ScopeClock.objects.filter(state=ScopeClock.State.OPEN).values_list("scope_ref", flat=True):
        ask_to_look_again(scope_ref)


def ask_to_look_again(scope_ref: str) -> None:
    """Have all that a scope holds looked at again after this transaction."""
    work.enqueue(kind=LOOK_AGAIN, scope_ref=scope_ref, dedupe_key="")


@work.handler(LOOK_AGAIN)
def _look_again(item: work.WorkItem) -> None:
    if ScopeClock.objects.filter(pk=item.scope_ref, state=ScopeClock.State.OPEN).exists():
        look_again(scope_ref=item.scope_ref)


def look_again(*, scope_ref: str) -> None:
    """Have all facts and entities of a scope looked at again; what stays the same is left alone.

    Raises:
        Problem: `scope_denied` (403) while nobody may write there.
    """
    with indexing(scope_ref) as place:
        marks.clear(place)
        ask(scope_ref)


_SET = """
UPDATE memory_projections p
SET lexemes = n.lexemes, counts = n.counts, length = n.length, indexed_classification = p.classification,
    terms_pending = false
FROM jsonb_to_recordset(%s) AS n (id uuid, lexemes text[], counts smallint[], length integer) WHERE p.id = n.id
"""
_POST = f"""
INSERT INTO projection_terms (id, scope_ref, org_id, classification, lexeme, is_current, weight)
SELECT p.id, p.scope_ref, p.org_id, p.classification, t.lexeme,
       p.superseded_at IS NULL,
       round(1000 * {WEIGHT})
FROM memory_projections p CROSS JOIN unnest(p.lexemes, p.counts) AS t (lexeme, count) WHERE p.id = ANY (%(ids)s)
"""  # noqa: S608 (a formula of ours)
_COUNT_WORDS = """
INSERT INTO lexeme_counts AS c (id, scope_ref, org_id, classification, lexeme, documents)
SELECT gen_random_uuid(), p.scope_ref, p.org_id, p.classification, t.lexeme, count(*)
FROM memory_projections p CROSS JOIN unnest(p.lexemes) AS t (lexeme) WHERE p.id = ANY (%(ids)s) GROUP BY 2, 3, 4, 5
ON CONFLICT (scope_ref, lexeme, classification) DO UPDATE SET documents = c.documents + EXCLUDED.documents
"""
_COUNT_TEXTS = """
INSERT INTO projection_counts AS c (id, scope_ref, org_id, classification, source_kind, projections, length)
SELECT gen_random_uuid(), p.scope_ref, p.org_id, p.classification, p.source_kind, count(*), sum(p.length)
FROM memory_projections p WHERE p.id = ANY (%(ids)s) GROUP BY 2, 3, 4, 5
ON CONFLICT (scope_ref, source_kind, classification) DO UPDATE
SET projections = c.projections + EXCLUDED.projections, length = c.length + EXCLUDED.length
"""


def _index(place: Place, *, limit: int) -> int:
    """Index the next pending projections; returns how many there were."""
    pending = Projection.objects.filter(scope_ref=place.scope_ref, terms_pending=True).order_by("pk")
    texts: Sequence[tuple[UUID, str]] = list(pending.values_list("pk", "text")[:limit])
    if not texts:
        return 0
    ids = [id for id, _text in texts]
    with connection.cursor() as cursor:
        cursor.execute("SELECT world_unindex(%s::uuid[])", [ids])
        cursor.execute(_SET, [to_json([_counted(id, text) for id, text in texts]).decode()])
        for statement in (_POST, _COUNT_WORDS, _COUNT_TEXTS):
            cursor.execute(statement, {"ids": ids})
    vectors.ask(place.scope_ref)
    return len(ids)


def _counted(id: UUID, text: str) -> dict[str, object]:
    counts = Counter(lexemes(text))
    return {"id": id, "lexemes": list(counts), "counts": list(counts.values()), "length": counts.total()}
