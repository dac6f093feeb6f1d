"""From one embedding model to another: new vectors beside the old ones, which are searched until all are there.

What is to be done is read from what is there, so it may be broken off at any place, and asked again goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db import connection, transaction

from gedaechtnis.identity import principals
from gedaechtnis.memory import spaces
from gedaechtnis.memory.ports import EmbeddingModel, EmbeddingsUnavailable
from gedaechtnis.memory.projecting.vectors import BATCH, EMBED, SELECT, Text, read, store
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import ScopeClock
from gedaechtnis.world.models import VectorSpace

_AT_ONCE = 5000

Tell = Callable[[str], None]

_LACKING = f"""{SELECT}
WHERE p.scope_ref = %(scope)s AND (p.source_kind, p.source_id, p.part) > (%(kind)s, %(source)s, %(part)s)
  AND p.classification <= %(clearance)s
  AND NOT EXISTS (SELECT FROM projection_vectors v WHERE v.id = p.id AND v.model = %(model)s)
  AND (p.vector_pending OR p.vector_attempts <> 0 OR EXISTS (SELECT FROM projection_vectors v WHERE v.id = p.id))
ORDER BY p.source_kind, p.source_id, p.part LIMIT %(limit)s
"""  # noqa: S608 (put together from two constants)

_COUNTS = """
SELECT count(*), count(v.id), count(*) FILTER (WHERE p.vector_pending),
       count(*) FILTER (WHERE NOT p.vector_pending AND p.vector_attempts > 0),
       count(*) FILTER (WHERE NOT p.vector_pending AND p.vector_attempts < 0)
FROM memory_projections p LEFT JOIN projection_vectors v ON v.id = p.id AND v.model = %s WHERE p.scope_ref = %s
"""


@dataclass(slots=True, kw_only=True)
class Counts:
    """Texts of all memories: how many there are, have a vector, wait for one, got none in the end, may not be sent."""

    texts: int = 0
    embedded: int = 0
    waiting: int = 0
    failed: int = 0
    withheld: int = 0


def switch(model: EmbeddingModel, tell: Tell) -> None:
    """Give everything a vector of the model, then search these and drop all others. As the owner, outside any scope.

    For the model in use already it completes what is missing. `tell` is told how it goes.

    Raises:
        EmbeddingsUnavailable: the model does not answer, or not with vectors of its length. What is done is kept.
    """
    if model.embed(["Guten Morgen"]) == [None]:
        raise EmbeddingsUnavailable(f"it answers, but with no vector of {model.dimensions} numbers")
    spaces.build(model)
    tell(f"{_complete(model, tell)} vectors made")
    spaces.make_index(model.name, model.dimensions)
    # While the index was made more came; and what came last, until nobody writes for the other model any more.
    _complete(model, tell)
    with transaction.atomic():
        spaces.activate(model)
    tell(f"{model.name} is searched from now on")
    _complete(model, tell)
    for old in VectorSpace.objects.exclude(name=model.name):
        spaces.drop_index(old.name)
        tell(f"{sum(_drop(old.name, ref) for ref in _open_scopes())} vectors of {old.name} dropped")
        old.delete()


def counts(model: str) -> Counts:
    """How far the texts of all memories have vectors of a model."""
    total = Counts()
    for scope_ref in _open_scopes():
        with scope(principals.system(scope_ref, EMBED)), connection.cursor() as cursor:
            cursor.execute(_COUNTS, [model, scope_ref])
            texts, embedded, waiting, failed, withheld = cursor.fetchone()
        total.texts += texts
        total.embedded += embedded
        total.waiting += waiting
        total.failed += failed
        total.withheld += withheld
    return total


def _complete(model: EmbeddingModel, tell: Tell) -> int:
    """Embed what has no vector of the model, in all scopes; returns how many got one."""
    done = told = 0
    for scope_ref in _open_scopes():
        for made in _complete_scope(model, scope_ref):
            done += made
            if done - told >= _AT_ONCE:
                told = done
                tell(f"{done} vectors made, going on")
    return done


def _complete_scope(model: EmbeddingModel, scope_ref: str) -> Iterator[int]:
    principal = principals.system(scope_ref, EMBED)
    sought = {"scope": scope_ref, "model": model.name, "clearance": model.clearance, "limit": BATCH}
    after = {"kind": "", "source": "00000000-0000-0000-0000-000000000000", "part": -1}
    while True:
        with scope(principal):
            texts = read(_LACKING, model, {**sought, **after})
        if not texts:
            return
        vectors = model.embed([text.text for text in texts])
        with scope(principal, write=scope_ref):
            made = store(scope_ref, model, texts, vectors, beside=not spaces.hold(model))
        yield made
        after = _place(texts[-1])


def _place(text: Text) -> dict[str, object]:
    return {"kind": text.source_kind, "source": text.source_id, "part": text.part}


def _drop(name: str, scope_ref: str) -> int:
    dropped = 0
    while True:
        with scope(principals.system(scope_ref, EMBED), write=scope_ref), connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM projection_vectors WHERE (id, model) IN (SELECT id, model FROM projection_vectors "
                "WHERE scope_ref = %s AND model = %s LIMIT %s)",
                [scope_ref, name, _AT_ONCE],
            )
            count: int = cursor.rowcount
        dropped += count
        if count < _AT_ONCE:
            return dropped


def _open_scopes() -> list[str]:
    """Nobody reads or writes the others any more."""
    return list(
        ScopeClock.objects.filter(state=ScopeClock.State.OPEN).order_by("scope_ref").values_list("scope_ref", flat=True)
    )
