"""The question as a vector: asked before a scope is opened, as the model may be far away."""

from __future__ import annotations

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


def ask(text: str) -> Asked:
    """Ask the model about a question; outside of any scope. Never raises, and waits two seconds at most."""
    used = spaces.in_use()
    notes = (used.note,) if used.note else ()
    if used.model is None:
        return _nothing(*notes)
    end = text.strip()[-MAX_CHARACTERS:]
    if not any(character.isalnum() for character in end):
        return _nothing(*notes)
    try:
        (vector,) = used.model.embed([end], as_query=True)
    except EmbeddingsUnavailable as unavailable:
        return _nothing(*notes, _("the embedding model cannot be asked: %(reason)s") % {"reason": unavailable.reason})
    if vector is None:
        return _nothing(*notes, _("the embedding model has no vector for the question"))
    return Asked(vector=tuple(vector), model=used.model.name, clearance=used.model.clearance, missing=_prefixed(*notes))


def _nothing(*notes: str) -> Asked:
    return Asked(vector=None, missing=_prefixed(*notes))


def _prefixed(*notes: str) -> tuple[str, ...]:
    return tuple(f"semantic: {note}" for note in notes)
