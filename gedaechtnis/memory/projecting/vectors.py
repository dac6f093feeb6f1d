"""Gives projections their vectors: read, leave the scope, ask the model, come back, write what is still as it was.

Work of its own, so that a model that is slow or gone holds up nothing else: what has no vector is found by its words.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.common import clock
from gedaechtnis.identity import principals
from gedaechtnis.memory import spaces
from gedaechtnis.memory.ports import EmbeddingModel, EmbeddingsUnavailable
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import ScopeClock
from gedaechtnis.scoping.work import WorkItem

logger = logging.getLogger(__name__)

EMBED = "embed"
AGAIN = "embed_again"
BATCH = 128
MAX_CHARACTERS = 8000
"""So much of a text is embedded: a vector of more says nothing of any of it. Its words are all indexed."""
MAX_ATTEMPTS = 5
WITHHELD = -1
"""`vector_attempts` of a projection that is too sensitive for the model; `embeddings switch` looks at it again."""

_RUN_SECONDS = 20.0
_REST = timedelta(seconds=60)
_FIRST_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`done` got a vector, `failed` none. `left`: more are waiting. `trouble`: why the model could not be asked."""

    done: int = 0
    failed: int = 0
    left: bool = False
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """What is embedded of a projection, and by what it is recognised as unchanged."""

    id: UUID
    digest: str
    classification: int
    source_kind: str
    source_id: UUID
    part: int
    text: str


def ask(scope_ref: str) -> None:
    """Embed what is waiting in a scope, soon. In the transaction that made it wait."""
    work.enqueue(kind=EMBED, scope_ref=scope_ref, dedupe_key="")


def ask_everywhere() -> None:
    """Embed what is waiting in any scope: it may wait since search by meaning was off."""
    for scope_ref in ScopeClock.objects.filter(state=ScopeClock.State.OPEN).values_list("scope_ref", flat=True):
        ask(scope_ref)


def embed_pending(*, scope_ref: str, limit: int = BATCH, attempts: int = 0) -> Progress:
    """Embed at most `limit` waiting projections of a scope; outside of any scope.

    A text that the model has no vector for is tried again later, a few times; `attempts` picks those that were tried
    so often. Never raises for a model that does not answer: nothing is written then, and the texts wait.
    """
    model = spaces.in_use().model
    if model is None:
        return Progress()
    principal = principals.system(scope_ref, EMBED)
    with scope(principal, write=scope_ref):
        _withhold(scope_ref, model.clearance)
        sought = {"scope": scope_ref, "attempts": attempts, "most": MAX_ATTEMPTS - 1, "limit": limit}
        texts = read(_WAITING, model, sought)
    if not texts:
        return Progress()
    try:
        vectors = model.embed([text.text for text in texts])
    except EmbeddingsUnavailable as unavailable:
        return Progress(left=True, trouble=unavailable.reason)
    with scope(principal, write=scope_ref):
        if not spaces.hold(model):
            return Progress(left=True)
        done = store(scope_ref, model, texts, vectors)
        failed = _count_attempt(scope_ref, [text for text, vector in zip(texts, vectors, strict=True) if not vector])
        if failed and attempts + 1 < MAX_ATTEMPTS:
            _try_again(scope_ref, attempts + 1)
    return Progress(done=done, failed=failed, left=len(texts) == limit)


def store(
    scope_ref: str,
    model: EmbeddingModel,
    texts: Sequence[Text],
    vectors: Sequence[Sequence[float] | None],
    *,
    beside: bool = False,
) -> int:
    """Write the vectors of texts that are still as they were read; returns how many. In the open scope.

    `beside`: another model's are searched, for which a waiting text goes on waiting.
    """
    found = [(text, vector) for text, vector in zip(texts, vectors, strict=True) if vector is not None]
    if not found:
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT world_lock_projections(%s)", [scope_ref])
        cursor.execute(
            _STORE,
            {
                "scope": scope_ref,
                "model": model.name,
                "beside": beside,
                "ids": [text.id for text, _vector in found],
                "digests": [text.digest for text, _vector in found],
                "levels": [text.classification for text, _vector in found],
                "vectors": [spaces.as_text(vector) for _text, vector in found],
            },
        )
        written: int = cursor.rowcount
    return written


SELECT = """
SELECT p.id, md5(p.text), p.classification, p.source_kind, p.source_id, p.part, p.text, p.speaker,
       CASE WHEN %(looks_back)s AND p.source_kind = 'episode' THEN (
         SELECT q.text FROM memory_projections q
         WHERE q.scope_ref = p.scope_ref AND q.session_id = p.session_id AND q.position < p.position
           AND q.source_kind = 'episode' AND q.classification <= p.classification
         ORDER BY q.position DESC, q.part DESC LIMIT 1) END
FROM memory_projections p
"""

_WAITING = f"""{SELECT}
WHERE p.scope_ref = %(scope)s AND p.vector_pending
  AND CASE WHEN p.vector_attempts BETWEEN 1 AND %(most)s THEN p.vector_attempts ELSE 0 END = %(attempts)s
ORDER BY p.id LIMIT %(limit)s
"""

_STORE = """
WITH made AS (
  SELECT * FROM unnest(%(ids)s::uuid[], %(digests)s::text[], %(levels)s::smallint[], %(vectors)s::text[])
    AS made (id, digest, level, vector)
), same AS (
  SELECT p.id, p.scope_ref, p.org_id, p.classification, made.vector
  FROM memory_projections p JOIN made ON p.id = made.id
  WHERE p.scope_ref = %(scope)s AND p.classification = made.level AND md5(p.text) = made.digest
), settled AS (
  UPDATE memory_projections p SET vector_pending = false, vector_attempts = 0 FROM same
  WHERE p.id = same.id AND (p.vector_pending OR p.vector_attempts <> 0) AND NOT (p.vector_pending AND %(beside)s)
)
INSERT INTO projection_vectors (id, model, scope_ref, org_id, classification, vector)
SELECT id, %(model)s, scope_ref, org_id, classification, vector::halfvec FROM same
ON CONFLICT (id, model) DO UPDATE SET vector = EXCLUDED.vector, classification = EXCLUDED.classification
"""


def read(sql: str, model: EmbeddingModel, parameters: dict[str, Any]) -> list[Text]:
    """What the statement picks, each with the turn before it where the model wants that and it is no more sensitive."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {**parameters, "looks_back": model.looks_back})
        rows = cursor.fetchall()
    return [
        Text(id, digest, level, kind, source_id, part, _told(model, kind, *told))
        for id, digest, level, kind, source_id, part, *told in rows
    ]


def _told(model: EmbeddingModel, kind: str, text: str, speaker: str, before: str | None) -> str:
    if before:
        # What is embedded is cut at its end, and that is the turn itself.
        return f"{before[: MAX_CHARACTERS // 2]}\n{text}"[:MAX_CHARACTERS]
    if kind == "episode" and speaker and not model.looks_back:
        text = f"{speaker}: {text}"
    return text[:MAX_CHARACTERS]


def _withhold(scope_ref: str, clearance: int) -> None:
    """What the model may not read does not wait for it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_projections SET vector_pending = false, vector_attempts = %s "
            "WHERE scope_ref = %s AND vector_pending AND classification > %s",
            [WITHHELD, scope_ref, clearance],
        )


def _count_attempt(scope_ref: str, texts: Sequence[Text]) -> int:
    if not texts:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_projections SET vector_attempts = greatest(vector_attempts, 0) + 1, "
            "vector_pending = vector_attempts + 1 < %s WHERE scope_ref = %s AND id = ANY (%s) AND vector_pending",
            [MAX_ATTEMPTS, scope_ref, [text.id for text in texts]],
        )
        counted: int = cursor.rowcount
    return counted


def _try_again(scope_ref: str, attempts: int) -> None:
    """After 1, 4, 16 and 64 minutes, for all of the scope at once."""
    pause = _FIRST_PAUSE * 4 ** (attempts - 1)
    work.enqueue(kind=AGAIN, scope_ref=scope_ref, dedupe_key="", due_at=clock.now() + pause)


@work.handler(EMBED)
def embed(item: WorkItem) -> None:
    """Embed what waits in a scope for a while, then let others go first; while the model does not answer, ask again."""
    _embed_for_a_while(item, 0)


@work.handler(AGAIN)
def embed_again(item: WorkItem) -> None:
    """Try once more what got no vector; what was tried most often first, so that nothing is tried twice in a run."""
    for attempts in reversed(range(1, MAX_ATTEMPTS)):
        _embed_for_a_while(item, attempts)


def _embed_for_a_while(item: WorkItem, attempts: int) -> None:
    is_open = ScopeClock.objects.filter(scope_ref=item.scope_ref, state=ScopeClock.State.OPEN).exists()
    progress = Progress(left=is_open)
    started = time.monotonic()
    while progress.left and progress.trouble is None and time.monotonic() - started < _RUN_SECONDS:
        progress = embed_pending(scope_ref=item.scope_ref, attempts=attempts)
    if progress.trouble is not None:
        logger.warning("texts wait for their vectors: %s", progress.trouble)
    if progress.left:
        rest = _REST if progress.trouble else timedelta()
        work.enqueue(kind=item.kind, scope_ref=item.scope_ref, dedupe_key="", due_at=clock.now() + rest)
