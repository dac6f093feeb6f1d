"""Pages of listings that are read whole: the cursor names the last row told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.answers import Page


class Identified(Protocol):
    @property
    def id(self) -> UUID | str: ...


R = TypeVar("R", bound=Identified)


def page_of(
    rows: Sequence[R], *, cursor: str | None, limit: int, shown: Callable[[R], bool] = lambda row: True
) -> Page[R]:
    """The `limit` shown rows behind `cursor`.

    `rows` holds hidden ones too, so that a row that is hidden between two pages still marks its
    place: nothing comes twice and nothing is lost.

    Raises:
        Problem: `invalid_cursor`.
    """
    start = 0
    if cursor is not None:
        places = {str(row.id): place for place, row in enumerate(rows)}
        if cursor not in places:
            raise Problem("invalid_cursor", _("This page marker cannot be read."), field="cursor")
        start = places[cursor] + 1
    wanted = [row for row in rows[start:] if shown(row)]
    items = tuple(wanted[:limit])
    return Page(items=items, cursor=str(items[-1].id) if len(wanted) > limit else None)
