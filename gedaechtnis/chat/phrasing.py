"""Facts as sentences in the reader's language, for the agent that answers without a model."""

from __future__ import annotations

from gedaechtnis.common import moments
from gedaechtnis.memory import wording
from gedaechtnis.memory.answers import FactView


def sentence(fact: FactView, *, dated: bool = False) -> str:
    """One sentence without its full stop; `dated` adds when it holds, as far as somebody said so."""
    said = wording.sentence(
        subject=fact.subject_label,
        predicate=fact.predicate,
        label=fact.predicate_label,
        what=fact.object.label,
        polarity=fact.polarity,
        is_relation=fact.object.kind == "entity",
    )
    when = _period(fact) if dated else ""
    return f"{said} ({when})" if when else said


def _period(fact: FactView) -> str:
    started = fact.valid_from if fact.valid_from_stated else None
    return moments.period(started, fact.valid_from_precision, fact.valid_to, fact.valid_to_precision)
