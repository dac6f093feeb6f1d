"""What of a workspace waits for a person, in numbers: behind every page, so with little to read."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge.policies import ROLE, RULE
from gedaechtnis.memory import references
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, Proposal

MOST = 100
"""Conflicts that are looked at; of more it is enough to know that there are many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Rules that wait, and contradictions: open ones, and statements that wait because of one."""

    rules: int
    conflicts: int

    @property
    def total(self) -> int:
        return self.rules + self.conflicts


def waiting(*, principal: Principal) -> Waiting:
    """What waits for the person wherever they read; of conflicts the latest `MOST`."""
    found = conflicts.list_conflicts(principal=principal, only_open=True, limit=MOST)
    with scope(principal):
        held = Proposal.objects.filter(state=Proposal.State.OPEN)
        rules = held.filter(operation__predicate__in=[RULE, ROLE]).count() + _closings(held)
    return Waiting(rules=rules, conflicts=len(found.items) + len(found.waiting))


def _closings(held: QuerySet[Proposal]) -> int:
    """Proposals that would end a rule or take it back: they name it by its fact."""
    named = held.filter(operation__has_key="target_fact_id").values_list("operation__target_fact_id", flat=True)
    ids = [id for target in named if (id := references.as_uuid(target or ""))]
    return Fact.objects.filter(pk__in=ids, predicate__in=[RULE, ROLE]).count() if ids else 0
