"""Which remembered sentences say the same, so that a person is asked about them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gedaechtnis.common.contrasts import contrasts, tells_more
from gedaechtnis.common.likeness import essence, overlap, trigrams

ALIKE = 0.85
"""Cosine of two vectors, or the share of letters in common where a sentence has none."""


def merged(texts: Sequence[str], vectors: Mapping[str, Sequence[float]]) -> list[list[int]]:
    """Places of sentences that say the same, those of one sentence together, first the one that stands for them.

    Alike is not enough: two that differ in a number, date, time, name or negation stay apart, and the one that stands
    for others tells every such detail of theirs. So the longest come first.
    """
    likeness = _Likeness(texts, vectors)
    standing: dict[int, list[int]] = {}
    by_essence: dict[str, int] = {}
    for place in sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place)):
        said = essence(texts[place])
        if said not in by_essence:
            alike = likeness.alike(place, list(standing))
            told = (other for other in alike if _is_told_by(texts[place], texts[other]))
            by_essence[said] = next(told, place)
        standing.setdefault(by_essence[said], []).append(place)
    return list(standing.values())


class _Likeness:
    """How alike sentences are: by their vectors, by their letters where one has none."""

    def __init__(self, texts: Sequence[str], vectors: Mapping[str, Sequence[float]]) -> None:
        self._has = [text in vectors for text in texts]
        size = len(next(iter(vectors.values()), ()))
        self._vectors = np.array([vectors.get(text, [0.0] * size) for text in texts], dtype=np.float32)
        self._pieces = [trigrams(text) for text in texts]

    def alike(self, place: int, others: Sequence[int]) -> list[int]:
        """Which of the others are, the most alike first."""
        cosines = self._vectors[list(others)] @ self._vectors[place] if others else []
        weighed = [
            (
                float(cosine)
                if self._has[place] and self._has[other]
                else overlap(self._pieces[place], self._pieces[other]),
                other,
            )
            for other, cosine in zip(others, cosines, strict=True)
        ]
        return [other for likeness, other in sorted(weighed, key=lambda pair: -pair[0]) if likeness >= ALIKE]


def _is_told_by(text: str, other: str) -> bool:
    return not contrasts(text, other) and not tells_more(text, other)
