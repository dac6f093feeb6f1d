"""What the reports of all benchmarks say alike."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection


def circumstances(loads: Sequence[float]) -> str:
    """When and on what it ran; `loads` are the machine's before and after."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = cursor.fetchone()[0]
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {_machine()}, {os.cpu_count()} cores, load {loads[0]:.1f} before and "
        f"{loads[-1]:.1f} after (1 is the run itself); Python {platform.python_version()}, PostgreSQL {version}."
    )


def percentile(timings: Sequence[float], share: float) -> float:
    return sorted(timings)[int(len(timings) * share)]


def figures(timings: Sequence[float]) -> str:
    """Median and 95th percentile, as two cells of a table."""
    return f"{statistics.median(timings):.2f} | {percentile(timings, 0.95):.2f}"


def _machine() -> str:
    """The model of the processor, where the system tells it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
