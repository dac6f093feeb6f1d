"""Pages of a long list, counted from one, as the address says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

T = TypeVar("T")

_MOST_DIGITS = 6


def asked_page(params: Mapping[str, str]) -> int:
    """The page an address asks for; the first where it names none."""
    text = params.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 1


def address(asked: Mapping[str, str | None], **changes: str | int | None) -> str:
    """The query of a page with something changed, with its question mark; what is empty is left out."""
    kept = {name: value for name, value in {**asked, **changes}.items() if value}
    return f"?{urlencode(kept)}" if kept else "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaves:
    """Where one is in a list, and the queries of the pages beside."""

    page: int
    pages: int
    previous: str
    next: str


def leaves(asked: Mapping[str, str | None], *, page: int, pages: int) -> Leaves:
    """`asked` is what the list is narrowed by."""
    return Leaves(
        page=page,
        pages=pages,
        previous=address(asked, page=page - 1 if page > 2 else None) if page > 1 else "",
        next=address(asked, page=page + 1) if page < pages else "",
    )


def cut(items: Sequence[T], *, page: int, size: int) -> tuple[Sequence[T], int, int]:
    """One page of a list, its number, and how many there are; beyond the last it is the last."""
    pages = max(1, -(-len(items) // size))
    shown = min(page, pages)
    return items[(shown - 1) * size : shown * size], shown, pages
