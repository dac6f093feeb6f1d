"""The question as a vector: asked before a scope is opened, as the model may be far away."""

from __future__ import annotations

import math
from dataclasses import dataclass

from django.utils.translation import gettext as _

from gedaechtnis.memory import spaces
from gedaechtnis.memory.ports import EmbeddingsUnavailable

MAX_CHARACTERS = 2000
"""So much of a question is embedded, from its end: who pastes a whole log asks below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as the model `model` sees it. Without a `vector` nothing is found by meaning.

    `missing` says, for people, what search by meaning cannot do now. `clearance` is what the model may read: more
    sensitive things have no vector.
    """

    vector: tuple[float, ...] | None
    model: str = ""
    clearance: int = 0
    missing: tuple[str, ...] = ()


NOT_ASKED = Asked(vector=None)
"""Nobody wants to know what is near in meaning."""


def ask(*phrasings: str) -> Asked:
    """Ask the model about a question, put in one way or in several, which are asked at once: their middle is taken.

    Outside of any scope. Never raises, and waits two seconds at most.
    """
    used = spaces.in_use()
    notes = (used.note,) if used.note else ()
    if used.model is None:
        return _nothing(*notes)
    ends = [text.strip()[-MAX_CHARACTERS:] for text in phrasings]
    told = [end for end in ends if any(character.isalnum() for character in end)]
    if not told:
        return _nothing(*notes)
    try:
        vectors = [vector for vector in used.model.embed(told, as_query=True) if vector is not None]
    except EmbeddingsUnavailable as unavailable:
        return _nothing(*notes, _("the embedding model cannot be asked: %(reason)s") % {"reason": unavailable.reason})
    if not vectors:
        return _nothing(*notes, _("the embedding model has no vector for the question"))
    middle = tuple(math.fsum(parts) / len(vectors) for parts in zip(*vectors, strict=True))
    return Asked(vector=middle, model=used.model.name, clearance=used.model.clearance, missing=_prefixed(*notes))


def _nothing(*notes: str) -> Asked:
    return Asked(vector=None, missing=_prefixed(*notes))


def _prefixed(*notes: str) -> tuple[str, ...]:
    return tuple(f"semantic: {note}" for note in notes)
