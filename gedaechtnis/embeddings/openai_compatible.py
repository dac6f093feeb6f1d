"""Models behind an endpoint that speaks OpenAI's format: OpenAI, Mistral, Ollama, llama.cpp, vLLM and others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import httpx

from gedaechtnis.embeddings import addresses
from gedaechtnis.memory.ports import EmbeddingsUnavailable

BATCH = 64
TRIES = 3
LONGEST_PAUSE_SECONDS = 10.0
_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
_QUERY_TIMEOUT = httpx.Timeout(2.0)
"""Somebody waits for a question: it is asked once, and then answered without."""
_NOT_THIS_TEXT = frozenset({400, 413, 422})
"""The endpoint refuses what it was sent: too long, most often."""


class OpenAICompatibleModel:
    """The model of one endpoint. Its key goes into a header and nowhere else; redirects are not followed.

    `clearance`: nothing more sensitive than this level is to be sent to it.
    """

    looks_back: ClassVar[bool] = False

    def __init__(self, address: str, *, key: str, clearance: int, pause: Callable[[float], None] = time.sleep) -> None:
        """Raises ValueError where the address is none."""
        endpoint = addresses.endpoint(address)
        self.address, self.name, self.dimensions = address, endpoint.name, endpoint.dimensions
        self.clearance = clearance
        self._model, self._url = endpoint.model, f"{endpoint.url}/embeddings"
        self._client = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=_TIMEOUT)
        self._pause = pause

    def warm_up(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
        """A vector for each text; None for one that is blank, refused, or answered with something that is no vector.

        Raises:
            EmbeddingsUnavailable: the endpoint does not answer, or not so that it could be understood.
        """
        places = [place for place, text in enumerate(texts) if text.strip()]
        vectors: list[list[float] | None] = [None] * len(texts)
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            for place, vector in zip(batch, self._embed([texts[p] for p in batch], as_query), strict=True):
                vectors[place] = vector
        return vectors

    def _embed(self, texts: list[str], as_query: bool) -> list[list[float] | None]:
        answer = self._ask(texts, as_query)
        if answer is not None:
            return [self._vector(entry) for entry in answer]
        if len(texts) == 1:
            return [None]
        # One of them is refused: the others are not to suffer for it.
        half = len(texts) // 2
        return self._embed(texts[:half], as_query) + self._embed(texts[half:], as_query)

    def _ask(self, texts: list[str], as_query: bool) -> list[Any] | None:
        """What was answered for each text, in their order; None where these texts are refused."""
        tries = 1 if as_query else TRIES
        for attempt in range(1, tries + 1):
            try:
                response = self._client.post(
                    self._url,
                    json={"model": self._model, "input": texts, "encoding_format": "float"},
                    timeout=_QUERY_TIMEOUT if as_query else _TIMEOUT,
                )
            except httpx.TransportError as error:
                trouble, asked_for = f"it does not answer ({type(error).__name__})", 0.0
            else:
                if response.is_success:
                    return _in_order(response, len(texts))
                if response.status_code in _NOT_THIS_TEXT:
                    return None
                trouble, asked_for = f"it answers with status {response.status_code}", _retry_after(response)
                if response.status_code != 429 and response.status_code < 500:
                    break
            if attempt < tries:
                self._pause(min(max(asked_for, 0.5 * 2 ** (attempt - 1)), LONGEST_PAUSE_SECONDS))
        raise EmbeddingsUnavailable(trouble)

    def _vector(self, entry: Any) -> list[float] | None:
        """Services that fail softly answer zeros, nothing or too little: that would be near to everything."""
        if not isinstance(entry, list) or len(entry) != self.dimensions:
            return None
        if not all(isinstance(number, int | float) and math.isfinite(number) for number in entry):
            return None
        length = math.hypot(*entry)
        return [number / length for number in entry] if math.isfinite(length) and length > 0 else None


def _in_order(response: httpx.Response, count: int) -> list[Any]:
    try:
        data = response.json()["data"]
        answered = {entry["index"]: entry["embedding"] for entry in data}
    except (ValueError, KeyError, TypeError):
        raise EmbeddingsUnavailable("its answer is not in the format of OpenAI") from None
    if len(data) != count or answered.keys() != set(range(count)):
        raise EmbeddingsUnavailable(f"it answers {len(data)} vectors for {count} texts, or not each of them")
    return [answered[place] for place in range(count)]


def _retry_after(response: httpx.Response) -> float:
    try:
        return max(0.0, float(response.headers.get("Retry-After", "0")))
    except ValueError:  # a date: the usual pause will do
        return 0.0
