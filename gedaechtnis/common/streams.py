"""Sending a file on piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import IO

from asgiref.sync import sync_to_async

_PIECE = 64 * 1024


async def pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The content of a file, which is closed at the end. Asynchronous: a server keeps a plain iterator in memory."""
    with file:
        while piece := await sync_to_async(file.read)(_PIECE):
            yield piece
