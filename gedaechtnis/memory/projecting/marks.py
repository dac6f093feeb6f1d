"""How far a scope's rows have been looked at. Ticks of a scope are in the order of its commits, so none is missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.projecting.access import Place
from gedaechtnis.world.models import ProjectionMark


@dataclass(frozen=True, slots=True)
class Stream:
    """The rows of a table in the order in which a tick was put on them, by `clock`."""

    table: str
    clock: str
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.table}.{self.clock}"


@dataclass(frozen=True, slots=True)
class Batch:
    """The next rows of a stream, and where they end."""

    rows: list[tuple[Any, ...]]
    last: tuple[datetime, UUID] | None


def read(stream: Stream, place: Place, *, limit: int) -> Batch:
    """The next rows after the mark, oldest first."""
    marks = ProjectionMark.objects.filter(scope_ref=place.scope_ref, source=stream.name)
    mark = marks.values_list("tick", "after_id").first()
    since = f"AND ({stream.clock}, id) > (%s, %s)" if mark else f"AND {stream.clock} IS NOT NULL"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {stream.clock}, id, {', '.join(stream.columns)} FROM {stream.table} "  # noqa: S608 (our names)
            f"WHERE scope_ref = %s {since} ORDER BY {stream.clock}, id LIMIT %s",
            [place.scope_ref, *(mark or ()), limit],
        )
        found: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return Batch(rows=[row[2:] for row in found], last=(found[-1][0], found[-1][1]) if found else None)


def move(stream: Stream, place: Place, batch: Batch) -> None:
    """Go on after the batch from now on."""
    if batch.last is not None:
        ProjectionMark.objects.update_or_create(
            scope_ref=place.scope_ref,
            source=stream.name,
            defaults={"tick": batch.last[0], "after_id": batch.last[1], "org_id": place.org_id},
        )


def clear(place: Place) -> None:
    """Look at everything again, from the beginning."""
    ProjectionMark.objects.filter(scope_ref=place.scope_ref).delete()
