"""The files of the core vocabulary in `data/`."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

_DATA = Path(__file__).parent / "data"


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of one file, by column."""
    with (_DATA / name).open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle, delimiter=";")
