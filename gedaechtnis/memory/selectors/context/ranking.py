"""Which facts come first, and which of several that answer the same holds where the reader is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from gedaechtnis.memory import decay
from gedaechtnis.memory.selectors.context.facts import ContextFact
from gedaechtnis.registry.catalogue import catalogue

_GENERAL = 1
_OTHER_CONTEXT = 3
_SPECIFICITY = {"device": 5, "task": 5, "session": 5, "chat": 4, "person": 2}
"""How special a context is, by its kind; projects, folders, repositories and all others are in the middle."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """`facts` in order; `winners` among those that compete; `elsewhere`: how many hold in other contexts only."""

    facts: tuple[ContextFact, ...]
    winners: frozenset[UUID]
    elsewhere: int


def specificity(fact: ContextFact) -> int:
    """5 for a device, task or session; 4 for a chat; 3 for a project and the like; 2 for a person; 1 for anywhere."""
    if fact.applies_to_ref is None:
        return _GENERAL
    return _SPECIFICITY.get(fact.applies_to_ref.rpartition(":")[0], _OTHER_CONTEXT)


def rank(facts: Iterable[ContextFact], *, here: Collection[str], is_confined: bool, at: datetime) -> Ranked:
    """How special, how weighty a word (rank), how sure after decay, how recent: in this order.

    `here` are the contexts the reader is in. `is_confined` leaves out what holds in others only; else all are shown,
    with what they hold for.
    """
    known = list(facts)
    applicable = [fact for fact in known if fact.applies_to_ref is None or fact.applies_to_ref in here]
    shown = applicable if is_confined else known
    ranked = sorted(sorted(shown, key=attrgetter("predicate", "id")), key=lambda fact: _weight(fact, at))
    return Ranked(tuple(ranked), _winners(applicable), len(known) - len(shown))


def _weight(fact: ContextFact, at: datetime) -> tuple[float, ...]:
    left = decay.left(fact.memory_type, at - fact.touched_at)
    return (-specificity(fact), -fact.rank, -round(fact.confidence * left, 3), -fact.recorded_at.timestamp())


def _winners(applicable: Iterable[ContextFact]) -> frozenset[UUID]:
    """Where one value holds at a time and several are believed for different contexts: the one that holds here.

    The most special context wins, then the weightier word, then the newer. The others stay active.
    """
    slots: dict[tuple[UUID, str], list[ContextFact]] = defaultdict(list)
    terms = catalogue().predicates
    for fact in applicable:
        term = terms.get(fact.predicate)
        if term is not None and term.is_functional and fact.polarity:
            slots[fact.subject_id, fact.predicate].append(fact)
    return frozenset(
        max(competing, key=lambda fact: (specificity(fact), fact.rank, fact.recorded_at, fact.id)).id
        for competing in slots.values()
        if len(competing) > 1
    )
