"""Whether what search reads is what memory says, and making it anew. Differences are counted, never told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.memory.projecting import cards, facts, index, marks, projections
from gedaechtnis.memory.projecting.access import Place, indexing
from gedaechtnis.memory.projecting.projections import Draft
from gedaechtnis.memory.selectors.recall.candidates import WEIGHT
from gedaechtnis.world.models import Entity, Fact, Projection

AT_ONCE = 1_000

Differences = Counter[str]
"""How many rows differ, by what they are."""

_COUNTED = {
    "word counts": """
SELECT count(*) FROM (
  SELECT p.classification, t.lexeme, count(*) AS n FROM memory_projections p CROSS JOIN unnest(p.lexemes) AS t (lexeme)
  WHERE p.scope_ref = %(scope)s AND p.indexed_classification IS NOT NULL GROUP BY 1, 2) a
FULL JOIN (SELECT classification, lexeme, documents AS n FROM lexeme_counts WHERE scope_ref = %(scope)s) b
  USING (classification, lexeme) WHERE a.n IS DISTINCT FROM b.n
""",
    "text counts": """
SELECT count(*) FROM (
  SELECT p.classification, p.source_kind, count(*) AS n, sum(p.length) AS length FROM memory_projections p
  WHERE p.scope_ref = %(scope)s AND p.indexed_classification IS NOT NULL GROUP BY 1, 2) a
FULL JOIN (
  SELECT classification, source_kind, projections AS n, length FROM projection_counts
  WHERE scope_ref = %(scope)s AND (projections, length) <> (0, 0)) b
  USING (classification, source_kind) WHERE (a.n, a.length) IS DISTINCT FROM (b.n, b.length)
""",
    "postings": f"""
SELECT count(*) FROM (
  SELECT p.id, t.lexeme, p.classification, p.superseded_at IS NULL AS is_current, round(1000 * {WEIGHT}) AS weight
  FROM memory_projections p CROSS JOIN unnest(p.lexemes, p.counts) AS t (lexeme, count)
  WHERE p.scope_ref = %(scope)s AND p.indexed_classification IS NOT NULL) a
FULL JOIN (
  SELECT id, lexeme, classification, is_current, weight FROM projection_terms WHERE scope_ref = %(scope)s) b
  USING (id, lexeme)
WHERE (a.classification, a.is_current, a.weight) IS DISTINCT FROM (b.classification, b.is_current, b.weight)
""",  # noqa: S608 (a formula of ours)
    "vectors": """
SELECT count(*) FROM projection_vectors v LEFT JOIN memory_projections p ON p.id = v.id
WHERE v.scope_ref = %(scope)s AND (p.id IS NULL OR (p.scope_ref, p.classification) <> (v.scope_ref, v.classification))
""",
    "indexed too seen": """
SELECT count(*) FROM memory_projections WHERE scope_ref = %(scope)s AND indexed_classification <> classification
""",
}
_STRAYS = """
SELECT p.source_id FROM memory_projections p WHERE p.scope_ref = %s AND p.source_kind = %s
  AND NOT EXISTS (SELECT FROM {} s WHERE s.scope_ref = p.scope_ref AND s.id = p.source_id)
"""


def check(*, scope_ref: str) -> Differences:
    """Compare the projections of a scope's facts and entities, and all its indexes, with what they are made of.

    What is pending is done first; nobody changes projections meanwhile.

    Raises:
        Problem: `scope_denied` (403) while nobody may write there.
    """
    index.run(scope_ref=scope_ref)
    with indexing(scope_ref) as place:
        found: Differences = Counter()
        for ids in _ids(Fact, place):
            found["facts"] += differing(place, Projection.Source.FACT, ids, facts.drafts(ids))
        for ids in _ids(Entity, place):
            found["cards"] += differing(place, Projection.Source.ENTITY, ids, cards.drafts(place, ids))
        for source_kind, table in _TABLES.items():
            found["strays"] += len(_strays(place, source_kind, table))
        found["words"] += sum(_misread(batch) for batch in _batches(place))
        with connection.cursor() as cursor:
            for name, sql in _COUNTED.items():
                cursor.execute(sql, {"scope": scope_ref})
                found[name] += cursor.fetchone()[0]
    return +found


def rebuild(*, scope_ref: str) -> None:
    """Make the projections of a scope's facts and entities again, and all words and counts from the texts.

    Vectors of texts that stay the same are kept. Until it is done, its words find nothing.

    Raises:
        Problem: `scope_denied` (403) while nobody may write there.
    """
    with indexing(scope_ref) as place:
        for source_kind, table in _TABLES.items():
            projections.forget(place, source_kind, _strays(place, source_kind, table))
        with connection.cursor() as cursor:
            for table in ("projection_terms", "lexeme_counts", "projection_counts"):
                cursor.execute(f"DELETE FROM {table} WHERE scope_ref = %s", [scope_ref])  # noqa: S608 (ours)
            cursor.execute(
                "DELETE FROM projection_vectors v WHERE v.scope_ref = %s AND NOT EXISTS (SELECT FROM "
                "memory_projections p WHERE p.id = v.id AND p.classification = v.classification)",
                [scope_ref],
            )
            cursor.execute(
                "UPDATE memory_projections SET indexed_classification = NULL, terms_pending = true "
                "WHERE scope_ref = %s",
                [scope_ref],
            )
        marks.clear(place)
    index.run(scope_ref=scope_ref)


def differing(
    place: Place,
    source_kind: Projection.Source,
    ids: Collection[UUID],
    drafts: Sequence[Draft],
    *,
    but: Collection[str] = (),
) -> int:
    """How many projections of the sources are not as the drafts make them: missing, surplus, or other in a column."""
    rows = [row for draft in drafts for row in projections.rows_of(draft)]
    expected = {(row["source_id"], row["part"]): row for row in rows}
    own = Projection.objects.filter(scope_ref=place.scope_ref, source_kind=source_kind, source_id__in=ids)
    stored = {(row.source_id, row.part): row for row in own}
    changed = [key for key in expected.keys() & stored.keys() if not _equal(expected[key], stored[key], but)]
    return len(expected.keys() ^ stored.keys()) + len(changed)


def _equal(row: dict[str, Any], stored: Projection, but: Collection[str]) -> bool:
    """Also in who is said to see it; use moves `touched_at`."""
    names = row.keys() - {"id", "touched_at", *but}
    return all(_plain(row[name]) == _plain(getattr(stored, name)) for name in names)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


_TABLES: dict[Projection.Source, str] = {
    Projection.Source.FACT: "facts",
    Projection.Source.ENTITY: "entities",
    Projection.Source.EPISODE: "messages",
}


def _strays(place: Place, source_kind: Projection.Source, table: str) -> list[UUID]:
    """Sources that are not there any more."""
    with connection.cursor() as cursor:
        cursor.execute(_STRAYS.format(table), [place.scope_ref, source_kind])
        return [id for (id,) in cursor.fetchall()]


def _ids(model: type[Fact | Entity], place: Place) -> Iterator[list[UUID]]:
    after: UUID | None = None
    while True:
        own = model._default_manager.filter(scope_ref=place.scope_ref).order_by("pk")
        ids = list((own.filter(pk__gt=after) if after else own).values_list("pk", flat=True)[:AT_ONCE])
        if not ids:
            return
        yield ids
        after = ids[-1]


def _batches(place: Place) -> Iterator[list[Projection]]:
    after: UUID | None = None
    while True:
        own = Projection.objects.filter(scope_ref=place.scope_ref).order_by("pk")
        rows = list((own.filter(pk__gt=after) if after else own)[:AT_ONCE])
        if not rows:
            return
        yield rows
        after = rows[-1].pk


def _misread(rows: Sequence[Projection]) -> int:
    """How many hold other words than their text; none waits any more."""
    return sum(not _is_read(row, Counter(lexemes(row.text))) for row in rows)


def _is_read(row: Projection, words: Counter[str]) -> bool:
    return (
        not row.terms_pending
        and row.indexed_classification is not None
        and dict(zip(row.lexemes, row.counts, strict=True)) == words
        and row.length == words.total()
    )
