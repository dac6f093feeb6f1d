"""Then beside today: the rows of an entity page, with what differs now."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from gedaechtnis.memory.answers import FactView


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """One line of the page. `fact` None = nothing was held then; `today` = what is held in its place now."""

    predicate_label: str
    fact: FactView | None
    differs: bool = False
    today: FactView | None = None
    repeats_predicate: bool = False


def rows(then: Iterable[FactView], today: Iterable[FactView] | None = None) -> tuple[FactRow, ...]:
    """Lines in the order of `then`, grouped by predicate; `today` None = then is now and nothing differs.

    A single belief replaced by a single other is one line ("today: …"); among several, each
    line stands for itself: no longer held, or only held now.
    """
    groups = _grouped(then)
    present = _grouped(today) if today is not None else groups
    made: list[FactRow] = []
    for key in [*groups, *(key for key in present if key not in groups)]:
        made.extend(_lines(groups.get(key, []), present.get(key, [])))
    return tuple(made)


def _lines(before: list[FactView], now: list[FactView]) -> Iterable[FactRow]:
    held_then, held_now = {_meaning(fact) for fact in before}, {_meaning(fact) for fact in now}
    new = [fact for fact in now if _meaning(fact) not in held_then]
    is_succession = len(before) == len(now) == 1 and bool(new)
    for place, fact in enumerate(before):
        yield FactRow(
            predicate_label=fact.predicate_label,
            fact=fact,
            differs=_meaning(fact) not in held_now,
            today=new[0] if is_succession else None,
            repeats_predicate=place > 0,
        )
    for place, fact in enumerate([] if is_succession else new):
        yield FactRow(
            predicate_label=fact.predicate_label,
            fact=None,
            differs=True,
            today=fact,
            repeats_predicate=bool(before) or place > 0,
        )


def _grouped(facts: Iterable[FactView]) -> dict[tuple[str, ...], list[FactView]]:
    groups: dict[tuple[str, ...], list[FactView]] = {}
    for fact in facts:
        key = (fact.subject_ref, fact.predicate, fact.applies_to_ref or "", fact.scope_ref)
        groups.setdefault(key, []).append(fact)
    return groups


def _meaning(fact: FactView) -> str:
    thing = fact.object.value if fact.object.kind == "literal" else str(fact.object.entity_id)
    return json.dumps([fact.polarity, fact.object.kind, thing], sort_keys=True, default=str)
