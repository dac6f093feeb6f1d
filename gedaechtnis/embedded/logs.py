"""Log files of the services."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

_MAXIMUM_BYTES = 10 * 1024 * 1024


def open_log(path: Path) -> BinaryIO:
    """Open for appending; a log that has grown large moves aside first, replacing the one before."""
    if path.exists() and path.stat().st_size > _MAXIMUM_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return path.open("ab")


def tail(path: Path, lines: int = 15) -> str:
    """The last lines of a log."""
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
