"""Storing projections and taking them away, with all that is indexed of them. Within `access.indexing`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from pydantic_core import to_json

from gedaechtnis.common.ids import uuid7
from gedaechtnis.memory.projecting.access import Place
from gedaechtnis.world.models import Projection

MAX_PART = 2_000
"""Longest text of one projection, in characters: what is longer becomes several parts."""

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"”“»«')\]]*\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What one source has to be found by: `text` of any length and the columns of its projections."""

    source_kind: Projection.Source
    source_id: UUID
    text: str
    ref: str
    classification: int
    recorded_at: datetime
    touched_at: datetime
    superseded_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None
    kind: str = ""
    predicate: str = ""
    memory_type: str = ""
    entity_ids: tuple[UUID, ...] = ()
    speaker: str = ""
    role: str = ""
    chat_id: UUID | None = None
    session_id: str = ""
    position: int | None = None
    external_id: str | None = None


_OWN = ("touched_at", "source_kind", "source_id")
"""Columns of a draft that a projection keeps once it is stored: use moves the first, the others name it."""


@cache
def _columns() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Draft))


@cache
def _statements() -> tuple[str, str]:
    columns = _columns()
    listed = ", ".join(columns)
    kept = [name for name in columns if name not in _OWN]
    given = "json_populate_recordset(NULL::memory_projections, %s) AS d"
    outdated = f"""
        SELECT p.id FROM memory_projections p JOIN {given}
          ON (p.source_kind, p.source_id, p.part) = (d.source_kind, d.source_id, d.part)
        WHERE p.scope_ref = %s AND (p.text <> d.text OR p.classification <> d.classification)
        UNION ALL
        SELECT p.id FROM memory_projections p JOIN (
          SELECT source_kind, source_id, max(part) AS part FROM {given} GROUP BY 1, 2) d
          ON (p.source_kind, p.source_id) = (d.source_kind, d.source_id)
        WHERE p.scope_ref = %s AND p.part > d.part"""  # noqa: S608 (names of our own columns)
    upsert = f"""
        INSERT INTO memory_projections AS p
          (id, scope_ref, org_id, part, {listed}, recall_count, lexemes, counts, length, terms_pending, vector_pending,
           vector_attempts)
        SELECT d.id, %s, %s, d.part, {", ".join(f"d.{name}" for name in columns)}, 0, '{{}}', '{{}}', 0, true, true, 0
        FROM {given}
        ON CONFLICT (scope_ref, source_kind, source_id, part) DO UPDATE
        SET {", ".join(f"{name} = EXCLUDED.{name}" for name in kept)},
            terms_pending = p.terms_pending OR p.text <> EXCLUDED.text OR p.classification <> EXCLUDED.classification,
            vector_pending = p.vector_pending OR p.text <> EXCLUDED.text OR p.classification <> EXCLUDED.classification,
            vector_attempts = CASE WHEN p.text <> EXCLUDED.text THEN 0 ELSE p.vector_attempts END
        WHERE ({", ".join(f"p.{name}" for name in kept)}) IS DISTINCT FROM
              ({", ".join(f"EXCLUDED.{name}" for name in kept)})
        RETURNING p.id"""  # noqa: S608
    return outdated, upsert


_REPOST = """
UPDATE projection_terms t SET is_current = p.superseded_at IS NULL FROM memory_projections p
WHERE p.id = ANY (%s) AND t.id = p.id AND t.is_current <> (p.superseded_at IS NULL)
"""


def store(place: Place, drafts: Sequence[Draft]) -> None:
    """Make or renew the projections of sources; what stays the same is left alone.

    A text or a classification that changes is out of the indexes until it has been indexed again.
    """
    rows = [row for draft in drafts for row in rows_of(draft)]
    if not rows:
        return
    body = to_json(rows).decode()
    outdated, upsert = _statements()
    with connection.cursor() as cursor:
        cursor.execute(outdated, [body, place.scope_ref, body, place.scope_ref])
        old = [id for (id,) in cursor.fetchall()]
        _unindex(old)
        # Parts that the source no longer has are not among the rows that come.
        cursor.execute(upsert, [place.scope_ref, place.org_id, body])
        changed = [id for (id,) in cursor.fetchall()]
        _delete(set(old).difference(changed))
        repost(changed)


def repost(ids: Sequence[UUID]) -> None:
    """Say in the postings of projections whether they are believed by now."""
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(_REPOST, [list(ids)])


def forget(place: Place, source_kind: Projection.Source, source_ids: Iterable[UUID]) -> None:
    """Take the projections of sources away, with their postings, vectors and part in all counts."""
    found = Projection.objects.filter(
        scope_ref=place.scope_ref, source_kind=source_kind, source_id__in=list(source_ids)
    ).values_list("pk", flat=True)
    ids = list(found)
    _unindex(ids)
    _delete(ids)


def _unindex(ids: Sequence[UUID]) -> None:
    if ids:
        with connection.cursor() as cursor:
            cursor.execute("SELECT world_unindex(%s::uuid[])", [list(ids)])
            cursor.execute("DELETE FROM projection_vectors WHERE id = ANY (%s)", [list(ids)])


def _delete(ids: Iterable[UUID]) -> None:
    if gone := list(ids):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM memory_projections WHERE id = ANY (%s)", [gone])


def rows_of(draft: Draft) -> list[dict[str, Any]]:
    """The columns of each part of a draft; the ids are new ones."""
    shared = {name: getattr(draft, name) for name in _columns()}
    return [shared | {"id": uuid7(), "part": part, "text": text} for part, text in enumerate(parts(draft.text))]


def parts(text: str) -> list[str]:
    """The text in pieces of at most `MAX_PART` characters, cut between sentences or words where there are any."""
    pieces = []
    while len(text) > MAX_PART:
        cut = _cut(text)
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text] if text or not pieces else pieces


def _cut(text: str) -> int:
    """Where the first piece ends; a sentence that fills less than half of it gives way to a word."""
    window = text[: MAX_PART + 1]
    sentences = [found.end() for found in _SENTENCE_END.finditer(window) if found.end() <= MAX_PART]
    if sentences and sentences[-1] > MAX_PART // 2:
        return sentences[-1]
    blank = max(window.rfind(" "), window.rfind("\n"))
    return blank if blank > 0 else MAX_PART
