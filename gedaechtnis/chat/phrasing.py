"""Facts as sentences in the reader's language, for the agent that answers without a model."""

from __future__ import annotations

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
    when = wording.period(fact) if dated else ""
    return f"{said} ({when})" if when else said
