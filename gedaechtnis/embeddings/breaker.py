"""An endpoint that does not answer is left alone for a while: nobody waits for it over and over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock

from gedaechtnis.memory.ports import EmbeddingModel, EmbeddingsUnavailable

FAILURES = 2
FIRST_REST_SECONDS = 15.0
LONGEST_REST_SECONDS = 300.0


class Breaker:
    """A model that is not asked for a while after it failed twice in a row, longer each time. One a process."""

    def __init__(self, model: EmbeddingModel, *, now: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self.address, self.name, self.dimensions = model.address, model.name, model.dimensions
        self.clearance, self.looks_back = model.clearance, model.looks_back
        self._now = now
        self._lock = Lock()
        self._failures = 0
        self._rests_until = 0.0
        self._trouble = ""

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
        """As the model does.

        Raises:
            EmbeddingsUnavailable: the model does, or it is being left alone.
        """
        with self._lock:
            if self._now() < self._rests_until:
                raise EmbeddingsUnavailable(self._trouble)
        try:
            vectors = self._model.embed(texts, as_query=as_query)
        except EmbeddingsUnavailable as unavailable:
            self._failed(unavailable.reason)
            raise
        with self._lock:
            self._failures = 0
        return vectors

    def warm_up(self) -> None:
        self._model.warm_up()

    def _failed(self, trouble: str) -> None:
        with self._lock:
            self._failures += 1
            self._trouble = trouble
            if self._failures >= FAILURES:
                rest = FIRST_REST_SECONDS * 2 ** (self._failures - FAILURES)
                self._rests_until = self._now() + min(rest, LONGEST_REST_SECONDS)
