"""Search by meaning under the policies: who has little among much finds all of it, who has much finds it fast."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from django.db import connection

from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import spaces
from gedaechtnis.memory.selectors.recall import nearest, records
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.selectors.recall.meaning import NOT_ASKED, Asked
from gedaechtnis.memory.spaces import index_name
from gedaechtnis.scoping.context import scope

MODEL, DIMENSIONS = "crowd/32", 32
TENANTS, MANY, SMALL, GARDEN = 60, 6_000, 300, 60
K = 20
THEN = datetime(2026, 1, 1, tzinfo=UTC)


class Crowd:
    """Vectors around common topics; the garden has a topic of its own, and its own neighbours in other memories."""

    def __init__(self, admin: psycopg.Connection[Any]) -> None:
        self._admin = admin
        self._random = np.random.default_rng(7)
        self._topics = self._random.normal(size=(40, DIMENSIONS))
        self.garden = self._random.normal(size=DIMENSIONS)

    def near(self, centre: Any, count: int, noise: float) -> list[list[float]]:
        made = centre + noise * self._random.normal(size=(count, DIMENSIONS))
        return [vector.tolist() for vector in made / np.linalg.norm(made, axis=1, keepdims=True)]

    def common(self, count: int) -> list[list[float]]:
        return self.near(self._topics[self._random.integers(40, size=count)], count, 1.0)

    def add(self, scope_ref: str, vectors: Sequence[Sequence[float]], **more: Any) -> list[UUID]:
        ids = [uuid7() for _vector in vectors]
        row = {"predicate": "", "superseded_at": None, "occurred_at": None} | more
        with self._admin.transaction(), self._admin.cursor() as cursor:
            with cursor.copy(
                "COPY memory_projections (id, scope_ref, classification, source_kind, source_id, part, ref, kind, "
                "predicate, memory_type, entity_ids, speaker, role, session_id, text, recorded_at, touched_at, "
                "superseded_at, occurred_at, recall_count, lexemes, counts, length, terms_pending, vector_pending, "
                "vector_attempts) FROM STDIN"
            ) as copy:
                for id in ids:
                    copy.write_row(
                        (id, scope_ref, 1, "fact", uuid7(), 0, "f", "", row["predicate"], "", "{}", "", "", "", "x",
                         THEN, THEN, row["superseded_at"], row["occurred_at"], 0, "{}", "{}", 0, False, False, 0)
                    )  # fmt: skip
            with cursor.copy(
                "COPY projection_vectors (id, model, scope_ref, classification, vector) FROM STDIN"
            ) as copy:
                for id, vector in zip(ids, vectors, strict=True):
                    copy.write_row((id, MODEL, scope_ref, 1, str(vector)))
            cursor.execute(
                "INSERT INTO projection_counts (id, scope_ref, classification, source_kind, projections, length) "
                "VALUES (%s, %s, 1, 'fact', %s, 0) ON CONFLICT (scope_ref, source_kind, classification) "
                "DO UPDATE SET projections = projection_counts.projections + EXCLUDED.projections",
                [uuid7(), scope_ref, len(ids)],
            )
        return ids

    def settle(self) -> None:
        """Make the index, as `embeddings switch` does, and let the planner know."""
        spaces.make_index(MODEL, DIMENSIONS)
        self._admin.execute("ANALYZE memory_projections")
        self._admin.execute("ANALYZE projection_vectors")


@pytest.fixture
def crowd(admin_connection: psycopg.Connection[Any]) -> Iterator[Crowd]:
    """Tenants with nearly all there is, among them much that is nearer to the garden than what Anna says of it."""
    crowd = Crowd(admin_connection)
    for _tenant in range(TENANTS):
        tenant = f"user:{uuid7()}"
        crowd.add(tenant, crowd.common(MANY // TENANTS - 10))
        crowd.add(tenant, crowd.near(crowd.garden, 10, 0.2))
    yield crowd
    spaces.drop_index(MODEL)


@pytest.fixture
def own(anna: User, crowd: Crowd) -> str:
    """Anna has little: a garden, and more besides; some of it was believed once, some of it is of a predicate."""
    ref = f"user:{anna.sub}"
    crowd.add(ref, crowd.near(crowd.garden, GARDEN - 20, 0.8))
    crowd.add(ref, crowd.near(crowd.garden, 20, 0.8), superseded_at=datetime(2026, 2, 1, tzinfo=UTC))
    crowd.add(ref, crowd.common(SMALL - GARDEN - 40))
    crowd.add(ref, crowd.common(40), predicate="likes", occurred_at=datetime(2026, 5, 5, tzinfo=UTC))
    crowd.settle()
    return ref


def believed(*refs: str, **more: Any) -> Filters:
    return Filters(ticks=dict.fromkeys(refs, datetime(2026, 6, 1, tzinfo=UTC)), **more)


def truth(admin: psycopg.Connection[Any], ref: str, vector: Sequence[float], condition: str = "true") -> list[UUID]:
    """What is nearest, as the superuser who looks at everything sees it."""
    rows = admin.execute(
        f"SELECT v.id FROM projection_vectors v JOIN memory_projections p ON p.id = v.id "
        f"WHERE v.scope_ref = %s AND {condition} ORDER BY v.vector <=> %s::halfvec LIMIT %s",
        [ref, str(vector), K],
    )
    return [id for (id,) in rows.fetchall()]


def test_case_c69_a_small_memory_among_large_ones_is_found_whole(
    crowd: Crowd, own: str, as_anna: Principal, admin_connection: psycopg.Connection[Any]
) -> None:
    """C69: nothing of others takes the place of what is one's own, also with filters."""
    cases: list[tuple[Filters | None, str]] = [
        (None, "true"),
        (believed(own), "p.superseded_at IS NULL"),
        (believed(own, predicate="likes"), "p.predicate = 'likes'"),
        (
            believed(own, time_range=(datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))),
            "p.occurred_at IS NOT NULL",
        ),
    ]
    questions = crowd.near(crowd.garden, 15, 0.3) + crowd.common(10)
    for filters, condition in cases:
        hits = 0
        for question in questions:
            with scope(as_anna):
                found = nearest.nearest(question, MODEL, filters, K)
            assert len(found) == K
            near = [similarity for _id, similarity in found]
            assert near == sorted(near, reverse=True)
            assert all(math.isfinite(similarity) for similarity in near)
            hits += len({id for id, _ in found} & set(truth(admin_connection, own, question, condition)))
        assert hits / (K * len(questions)) >= 0.95


def test_trap_14_where_the_index_gives_up_everything_is_compared(
    crowd: Crowd, own: str, as_anna: Principal, monkeypatch: pytest.MonkeyPatch,
    admin_connection: psycopg.Connection[Any],
) -> None:  # fmt: skip
    """C69: also with a wrong idea of how much there is, fewer than asked for is a reason to look again."""
    monkeypatch.setattr(nearest, "FEW", 0)
    monkeypatch.setattr(nearest, "_ROWS_PER_STEP", 0)
    monkeypatch.setitem(nearest._INDEX, "hnsw__iterative_scan", "off")
    (question,) = crowd.near(crowd.garden, 1, 0.1)
    with scope(as_anna):
        assert len(nearest.by_index(question, MODEL, None, K)) < K, "the trap is set"
        found = nearest.nearest(question, MODEL, None, K)
    assert [id for id, _ in found] == truth(admin_connection, own, question)


def plan(statement: tuple[str, list[Any]]) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement[0]}", statement[1])
        return "\n".join(line for (line,) in cursor.fetchall())


def test_each_way_is_taken_as_it_is_meant(
    crowd: Crowd, own: str, as_anna: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows: the index over vectors is not touched. Many: it is walked through, the filters are asked on the way."""
    plans: list[str] = []
    run = nearest._run

    def explained(statement: str, parameters: list[Any]) -> list[tuple[UUID, float]]:
        plans.append(plan((statement, parameters)))
        return run(statement, parameters)

    monkeypatch.setattr(nearest, "_run", explained)
    (question,) = crowd.common(1)
    index = index_name(MODEL)
    with scope(as_anna):
        nearest.nearest(question, MODEL, None, K)
        nearest.nearest(question, MODEL, believed(own, predicate="likes"), K)
        assert all(index not in plan for plan in plans)
        assert "projection_vectors_model" in plans[0]
        plans.clear()
        for filters in (None, believed(own), believed(own, predicate="likes")):
            nearest.by_index(question, MODEL, filters, K)
    assert all(f"Index Scan using {index}" in plan for plan in plans)
    assert all("Sort" not in plan for plan in plans)


def test_much_is_found_by_the_index(
    crowd: Crowd, anna: User, as_anna: Principal, monkeypatch: pytest.MonkeyPatch,
    admin_connection: psycopg.Connection[Any],
) -> None:  # fmt: skip
    ref = f"user:{anna.sub}"
    monkeypatch.setattr(nearest, "FEW", 1000)
    crowd.add(ref, crowd.common(3000))
    crowd.settle()
    monkeypatch.setattr(nearest, "exact", None)
    hits = 0
    questions = crowd.common(20)
    for question in questions:
        with scope(as_anna):
            found = nearest.nearest(question, MODEL, believed(ref), K)
        hits += len({id for id, _ in found} & set(truth(admin_connection, ref, question)))
    assert hits / (K * len(questions)) >= 0.95


def test_when_nearly_all_of_it_is_past_it_is_looked_through(crowd: Crowd, anna: User, as_anna: Principal) -> None:
    ref = f"user:{anna.sub}"
    crowd.add(ref, crowd.near(crowd.garden, 200, 0.1), superseded_at=datetime(2026, 2, 1, tzinfo=UTC))
    current = crowd.add(ref, crowd.common(30))
    crowd.settle()
    (question,) = crowd.near(crowd.garden, 1, 0.1)
    with scope(as_anna):
        assert {id for id, _ in nearest.nearest(question, MODEL, believed(ref), 25)} <= set(current)
        assert len(nearest.nearest(question, MODEL, believed(ref), 25)) == 25


def test_what_is_read_is_compared_as_what_is_nearest_and_only_where_one_sees_it(
    crowd: Crowd, own: str, as_anna: Principal, as_clara: Principal
) -> None:
    (question,) = crowd.common(1)
    asked = Asked(vector=tuple(question), model=MODEL)
    with scope(as_anna):
        found = dict(nearest.nearest(question, MODEL, None, K))
        read = {record.id: record.similarity for record in records.read(found, believed(own), asked)}
        assert read == pytest.approx(found)
        assert {record.similarity for record in records.read(found, believed(own), NOT_ASKED)} == {None}
    with scope(as_clara):
        assert records.read(found, believed(own), asked) == []
        assert nearest.nearest(question, MODEL, None, K) == []
