"""The one door to the wall clock.

Production code asks `now()`; only tests replace it, with `frozen()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_fixed: ContextVar[datetime | None] = ContextVar("gedaechtnis_fixed_clock", default=None)


def now() -> datetime:
    """The present instant: aware, UTC, microseconds."""
    return _fixed.get() or datetime.now(UTC)


def fixed() -> datetime | None:
    """The instant a test froze the clock at, or None: then the database's clock counts."""
    return _fixed.get()


@contextmanager
def frozen(instant: datetime) -> Iterator[None]:
    """Stop the clock at an aware instant for the enclosed block."""
    if instant.tzinfo is None:
        raise ValueError("a frozen clock needs an aware instant")
    token = _fixed.set(instant.astimezone(UTC))
    try:
        yield
    finally:
        _fixed.reset(token)
