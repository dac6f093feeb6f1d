"""Units of work for callers that wait on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from django.db import connections

R = TypeVar("R")


async def in_thread(unit: Callable[[], R]) -> R:
    """Run a whole unit of work in a worker thread, and give its database connection back to the pool.

    Never a part of one: what opens a scope must close it in the same thread.
    """
    return await asyncio.to_thread(_returning, unit)


def _returning(unit: Callable[[], R]) -> R:
    try:
        return unit()
    finally:
        connections.close_all()
