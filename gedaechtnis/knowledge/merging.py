"""Which remembered sentences say the same, so that a person is asked about them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gedaechtnis.common.contrasts import contrasts, tells_more
from gedaechtnis.common.likeness import essence, overlap, trigrams

ALIKE = 0.85
"""Cosine of two vectors, or the share of letters in common where a sentence has none."""


@dataclass(slots=True)
class _Kept:
    """A sentence that others may be merged into, with their places in the list."""

    text: str
    pieces: frozenset[str]
    vector: Sequence[float] | None
    places: list[int]


def merged(texts: Sequence[str], vectors: Mapping[str, Sequence[float]]) -> list[list[int]]:
    """Places of sentences that say the same, those of one sentence together, first the one that stands for them.

    Alike is not enough: two that differ in a number, date, time, name or negation stay apart, and the one that stands
    for others tells every such detail of theirs. So the longest come first.
    """
    kept: list[_Kept] = []
    by_essence: dict[str, _Kept] = {}
    for place in sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place)):
        text = texts[place]
        same = by_essence.get(essence(text))
        if same is None:
            one = _Kept(text, trigrams(text), vectors.get(text), [place])
            same = next((other for other in _alike(one, kept) if _is_told_by(text, other.text)), None)
            if same is None:
                kept.append(one)
                by_essence[essence(text)] = one
                continue
            by_essence[essence(text)] = same
        same.places.append(place)
    return [one.places for one in kept]


def _alike(one: _Kept, kept: Sequence[_Kept]) -> list[_Kept]:
    """The most alike first."""
    with_vectors = [other for other in kept if one.vector is not None and other.vector is not None]
    near: dict[int, float] = {}
    if with_vectors:
        cosines = np.asarray([other.vector for other in with_vectors]) @ np.asarray(one.vector)
        near = {id(other): float(cosine) for other, cosine in zip(with_vectors, cosines, strict=True)}
    weighed = ((near.get(id(other)) or overlap(one.pieces, other.pieces), other) for other in kept)
    return [other for likeness, other in sorted(weighed, key=lambda pair: -pair[0]) if likeness >= ALIKE]


def _is_told_by(text: str, other: str) -> bool:
    return not contrasts(text, other) and not tells_more(text, other)
