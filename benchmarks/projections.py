"""Fills a database with projections by the million: made-up conversations and statements, their postings and vectors.

Words follow Zipf's law over a long vocabulary, as in real text; vectors lie in clusters, as texts about the same do.
The same rows on every run.
"""

from __future__ import annotations

import os
import struct
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

WORDS_EACH = 13
TURNS_EACH = 20
SESSIONS_EACH = 50
VOCABULARY = 200_000
CLUSTERS = 2_000
_STOP_WORDS = 30
_BEGINNING, _HOURS = datetime(2020, 1, 1, tzinfo=UTC), 50_000
BATCH = 20_000
_SQL, _FACTS_SQL = Path(__file__).with_name("projections.sql"), Path(__file__).with_name("statements.sql")


def fill(scopes: Mapping[str, int], *, first: int = 0, model: str | None, dimensions: int = 512) -> None:
    """Add `scopes[scope_ref]` episodes to each scope, beginning with number `first`; vectors where a model is named.

    Written past the policies by the administrator. Indexes over the vectors are left as they are: whoever fills a lot
    drops them before and makes them again afterwards.
    """
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        admin.execute("SET session_replication_role = replica")
        admin.execute("SET maintenance_work_mem = '2GB'")
        for scope_ref, many in scopes.items():
            for begin in range(0, many, BATCH):
                numbers = range(first + begin, first + min(begin + BATCH, many))
                _copy_projections(admin, scope_ref, numbers)
                if model is not None:
                    _copy_vectors(admin, scope_ref, numbers, model, dimensions)
            _post(admin, scope_ref)
        admin.execute("VACUUM ANALYZE")
        admin.execute("CHECKPOINT")


def fill_facts(scope_ref: str) -> None:
    """Make the facts of `benchmarks.graph` findable, by words that have nothing to do with what they say."""
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        admin.execute("SELECT set_config('bench.scope', %s, false)", [scope_ref])
        admin.execute(_FACTS_SQL.read_bytes())
        _post(admin, scope_ref)
        admin.execute("VACUUM ANALYZE memory_projections, projection_terms, lexeme_counts, projection_counts")
        admin.execute("CHECKPOINT")


def _post(admin: psycopg.Connection[Any], scope_ref: str) -> None:
    admin.execute("SELECT set_config('bench.scope', %s, false)", [scope_ref])
    admin.execute(_SQL.read_bytes())


def id_of(scope_ref: str, number: int) -> uuid.UUID:
    """The id of an episode, and of its message."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{scope_ref}#{number}")


def words_of(scope_ref: str, numbers: range) -> list[list[str]]:
    """The words of these episodes, in order."""
    draw = np.random.default_rng([_seed(scope_ref), numbers.start])
    ranks = _zipf(draw, (len(numbers), WORDS_EACH))
    return [[f"w{rank}" for rank in row] for row in ranks]


def vectors_of(scope_ref: str, numbers: range, dimensions: int) -> np.ndarray[Any, Any]:
    """Unit vectors around cluster centres, (episodes, dimensions)."""
    centres = np.random.default_rng(7).standard_normal((CLUSTERS, dimensions), dtype=np.float32)
    draw = np.random.default_rng([_seed(scope_ref), numbers.start, 1])
    chosen = centres[draw.integers(0, CLUSTERS, len(numbers))]
    vectors = chosen + 0.7 * draw.standard_normal((len(numbers), dimensions), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _seed(scope_ref: str) -> int:
    return uuid.uuid5(uuid.NAMESPACE_URL, scope_ref).int % 2**32


def _zipf(draw: np.random.Generator, shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Ranks by Zipf's law with exponent 1, without the commonest words: those are stop words."""
    return np.asarray(_STOP_WORDS * (VOCABULARY / _STOP_WORDS) ** draw.random(shape)).astype(int)


def _copy_projections(admin: psycopg.Connection[Any], scope_ref: str, numbers: range) -> None:
    columns = (
        "id, scope_ref, classification, source_kind, source_id, part, ref, kind, predicate, memory_type, entity_ids, "
        "speaker, role, chat_id, session_id, position, text, occurred_at, recorded_at, touched_at, recall_count, "
        "lexemes, counts, length, indexed_classification, terms_pending, vector_pending, vector_attempts"
    )
    with admin.cursor() as cursor, cursor.copy(f"COPY memory_projections ({columns}) FROM STDIN") as copy:
        for number, words in zip(numbers, words_of(scope_ref, numbers), strict=True):
            id = id_of(scope_ref, number)
            counts: dict[str, int] = {}
            for word in words:
                counts[word] = counts.get(word, 0) + 1
            chat = uuid.uuid5(uuid.NAMESPACE_URL, f"{scope_ref}/chat {number // TURNS_EACH // SESSIONS_EACH}")
            when = _BEGINNING + timedelta(hours=number // TURNS_EACH % _HOURS)
            copy.write_row(
                (
                    id, scope_ref, 1, "episode", id, 0, f"msg:{id}", "", "", "", [], "Ada" if number % 2 else "Bo",
                    "user", chat, f"session {number // TURNS_EACH}", number % TURNS_EACH, " ".join(words), when, when,
                    when, 0, list(counts), list(counts.values()), len(words), 1, False, False, 0,
                )
            )  # fmt: skip


def _copy_vectors(admin: psycopg.Connection[Any], scope_ref: str, numbers: range, model: str, dimensions: int) -> None:
    with (
        admin.cursor() as cursor,
        cursor.copy(
            "COPY projection_vectors (id, scope_ref, classification, model, vector) FROM STDIN (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["uuid", "text", "int2", "text", "bytea"])
        for number, vector in zip(numbers, _halves(vectors_of(scope_ref, numbers, dimensions)), strict=True):
            copy.write_row((id_of(scope_ref, number), scope_ref, 1, model, vector))


def _halves(vectors: np.ndarray[Any, Any]) -> Iterator[bytes]:
    """`halfvec` as the server reads it: dimensions, a reserved number, then the halves, all big-endian."""
    head = struct.pack(">HH", vectors.shape[1], 0)
    for row in vectors.astype(">f2"):
        yield head + row.tobytes()
