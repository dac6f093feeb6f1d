"""Whether a memory among many others of all sizes finds what it would find alone, and by which indexes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection

from benchmarks import projections
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.ports import EmbeddingModel
from gedaechtnis.memory.selectors import moments
from gedaechtnis.memory.selectors.recall import candidates, nearest, spelling
from gedaechtnis.memory.selectors.recall.candidates import WantedTerm
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.spaces import index_name
from gedaechtnis.scoping.context import scope

NEAREST = 10
_ALIKE = (
    "SELECT lexeme, sum(documents) FROM lexeme_counts WHERE scope_ref = %s AND similarity(lexeme, %s) >= 0.45 "
    "GROUP BY lexeme ORDER BY similarity(lexeme, %s) DESC, 2 DESC, 1 LIMIT 5"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one memory finds, each as a share of what it should: 1 is all of it.

    `words`: searches that a connection without policies, restricted to the same scopes, answers alike. `alike`: words
    spelt alike that are found alike as the caller, as the definer and without policies. `near`: of the ten nearest, as
    the product looks for them; `near_by_index`: by the index alone. `indexes`: what the server used.
    """

    turns: int
    words: float
    alike: float
    near: float
    near_by_index: float
    indexes: tuple[str, ...]


def look(principal: Principal, turns: int, model: EmbeddingModel, *, rounds: int = 20) -> Seen:
    """Ask a memory of `benchmarks.projections` with so many turns about itself, `rounds` times each."""
    draw = np.random.default_rng(turns)
    own = principal.default_scope
    texts = [_words(draw, 1 + number % 6) for number in range(rounds)]
    vectors = _vectors(draw, own, turns, rounds, model.dimensions)
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin, scope(principal):
        filters = Filters(ticks=moments.settle(principal=principal).ticks, is_of_today=True)
        words = [_is_the_same_without_policies(admin, own, text, filters) for text in texts]
        alike = [_is_spelt_alike(admin, own, text[0].lexeme) for text in texts]
        near, by_index = [], []
        for vector in vectors:
            exact = _ids(nearest.exact(vector, model.name, filters, NEAREST))
            near.append(len(exact & _ids(nearest.nearest(vector, model.name, filters, NEAREST))) / len(exact))
            by_index.append(len(exact & _ids(nearest.by_index(vector, model.name, filters, NEAREST))) / len(exact))
        indexes = tuple(_indexes(texts[-1], vectors[0], model, filters))
    return Seen(
        turns=turns,
        words=float(np.mean(words)),
        alike=float(np.mean(alike)),
        near=float(np.mean(near)),
        near_by_index=float(np.mean(by_index)),
        indexes=indexes,
    )


def found(principal: Principal, turns: int, model: EmbeddingModel, *, rounds: int = 20) -> list[list[UUID]]:
    """What a memory finds by words and by vectors; the same on every run over the same memory."""
    draw = np.random.default_rng(turns)
    texts = [_words(draw, 3) for _ in range(rounds)]
    vectors = _vectors(draw, principal.default_scope, turns, rounds, model.dimensions)
    with scope(principal):
        filters = Filters(ticks=moments.settle(principal=principal).ticks, is_of_today=True)
        return [
            *(candidates.lexical(text, filters, NEAREST) for text in texts),
            *([id for id, _near in nearest.nearest(one, model.name, filters, NEAREST)] for one in vectors),
        ]


def _words(draw: np.random.Generator, many: int) -> list[WantedTerm]:
    ranks = dict.fromkeys(int(30 * 3000**share) for share in draw.random(many))
    return [WantedTerm(f"w{rank}", 1 + rank / 10_000) for rank in ranks]


def _vectors(
    draw: np.random.Generator, scope_ref: str, turns: int, many: int, dimensions: int
) -> list[tuple[float, ...]]:
    """Near some of the memory's own."""
    own = projections.vectors_of(scope_ref, range(min(turns, projections.BATCH)), dimensions)
    chosen = own[draw.integers(0, len(own), many)] + 0.02 * draw.standard_normal((many, dimensions))
    return [tuple(vector) for vector in (chosen / np.linalg.norm(chosen, axis=1, keepdims=True)).tolist()]


def _ids(near: Sequence[tuple[UUID, float]]) -> set[UUID]:
    return {id for id, _similarity in near}


def _is_the_same_without_policies(
    admin: psycopg.Connection[Any], own: str, text: list[WantedTerm], filters: Filters
) -> bool:
    found = candidates.lexical(text, filters, NEAREST)
    rare, common = candidates.by_rarity(text, [own])
    if not rare and not common:
        return not found
    sql, parameters = candidates.statement(rare, common, filters, NEAREST)
    return found == [id for (id,) in admin.execute(sql, parameters)]


def _is_spelt_alike(admin: psycopg.Connection[Any], own: str, word: str) -> bool:
    bare = [(lexeme, int(count)) for lexeme, count in admin.execute(_ALIKE, [own, word, word])]
    ways = [spelling.alike([word], most=5, as_definer=as_definer) for as_definer in (True, False)]
    return all([(one.lexeme, one.documents) for one in way] == bare for way in ways)


def _indexes(text: list[WantedTerm], vector: Sequence[float], model: EmbeddingModel, filters: Filters) -> Iterator[str]:
    """The indexes that a search by words, and one by vectors, reads."""
    plans: list[str] = []

    def explain(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if sql.startswith(("SELECT", "WITH")):
            execute(f"EXPLAIN {sql}", parameters, many, context)
            plans.extend(line for (line,) in context["cursor"].fetchall())
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(explain):
        candidates.lexical(text, filters, NEAREST)
        nearest.nearest(vector, model.name, filters, NEAREST)
    for index in ("projection_terms_search", index_name(model.name), "projection_vectors_model"):
        if any(f"using {index}" in line or f"on {index}" in line for line in plans):
            yield index


def section(seen: Sequence[Seen], others: int, is_unmoved: bool) -> Iterator[str]:
    """The part of a report."""
    yield "## Among others"
    yield ""
    yield (
        "Shares, 1 is all. Words: the same answer as without policies, restricted to the same memory. Alike: words "
        "spelt alike, as the caller, as the definer and without policies. Nearest: of the "
        f"{NEAREST} nearest, as compared one by one; by the index alone beside it."
    )
    yield ""
    yield "| turns | words | alike | nearest | by the index alone | indexes |"
    yield "|---|---|---|---|---|---|"
    for row in seen:
        yield (
            f"| {row.turns} | {row.words:.2f} | {row.alike:.2f} | {row.near:.3f} | {row.near_by_index:.3f} "
            f"| {', '.join(row.indexes)} |"
        )
    yield ""
    yield (
        f"After others wrote {others} turns more, the smallest of these finds "
        f"{'exactly what it found before.' if is_unmoved else '**something else**.'}"
    )
