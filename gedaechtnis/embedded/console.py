"""Log lines of several processes on one terminal."""

from __future__ import annotations

import sys
from threading import Lock

_WIDTH = 8
_COLOURS = {"web": 36, "worker": 33, "beat": 35, "system": 32}
_lock = Lock()


def say(message: str, source: str = "system") -> None:
    """Write one or more lines, each marked with where it comes from."""
    label = f"{source:<{_WIDTH}}|"
    if sys.stdout.isatty():
        label = f"\x1b[{_COLOURS.get(source, 0)}m{label}\x1b[0m"
    with _lock:
        for line in message.splitlines():
            sys.stdout.write(f"{label} {line}\n")
        sys.stdout.flush()
