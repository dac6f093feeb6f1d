"""How long the steps of something took."""

from __future__ import annotations

import time


class Stopwatch:
    """`laps`: milliseconds from step to step, and in all (`total`)."""

    def __init__(self) -> None:
        self._begun = self._last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps[step] = round((now - self._last) * 1000, 3)
        self.laps["total"] = round((now - self._begun) * 1000, 3)
        self._last = now
