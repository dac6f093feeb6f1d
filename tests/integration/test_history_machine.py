"""Random histories through the committer: whatever is told, an answer once given stays as it was.

Two scopes, three predicates (one value, several, immutable), people and agents, the wall clock
stepping back and standing still. After each step everything asked before is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import psycopg
import pytest

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import Group, GroupMembership, User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.answers import FactsAnswer, FactView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities, moments, proposals
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.services.commit import commit_proposal

_S0 = datetime(2030, 1, 1, tzinfo=UTC)
_V = [datetime(year, month, 1, tzinfo=UTC) for year in (2020, 2021, 2022, 2040) for month in (1, 2)]
_STARTS = [None, None, "unknown", "2020", "2020-02", "2020-02-01", "2021-01-01T00:00:00Z", "2022-02", "2040"]
_ENDS = [None, None, None, "2020-02", "2021", "2022-02-01", "2040-02-01T00:00:00Z", "unknown"]
_VALUES = {"address": "ABC", "likes": "AB", "born_on": ["1990", "1990-04-03", "1991"], "name": ["Elin", "Elena"]}
_PREDICATES = ["address", "address", "likes", "born_on", "name"]


class Machine:
    """Anna and an agent of hers tell random things about one person, in her own scope and a group's."""

    def __init__(self, user: User, seed: int, admin: psycopg.Connection[Any]) -> None:
        self.random, self.admin, self.now = Random(seed), admin, _S0  # noqa: S311 (repeatable, not secret)
        self.anna = person(user)
        self.agent = replace(self.anna, kind=PrincipalKind.AGENT, acted_by="agent:test@anna")
        self.importer = replace(self.anna, kind=PrincipalKind.SYSTEM, acted_by="system:test")
        self.source = replace(self.anna, kind=PrincipalKind.INTEGRATION, acted_by="integration:test")
        group = next(ref for ref in self.anna.write_scopes if ref.startswith("group:"))
        self.scopes = [self.anna.default_scope, group]
        self.asked: list[tuple[dict[str, Any], FactsAnswer]] = []
        self.outcomes: set[str] = set()
        with clock.frozen(self.now):
            elin = {"op": "upsert_entity", "id_hint": "person:elin", "kind": "person", "canonical_name": "Elin"}
            self.tell(self.anna, group, elin)
            self.elin = entities.get_entity(principal=self.anna, ref="person:elin").id

    def tell(self, who: Principal, scope_ref: str, *operations: dict[str, Any]) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        results = commit_proposal(principal=who, proposal=proposal, scope_ref=scope_ref).results
        self.outcomes.update(result.outcome for result in results)
        return results

    def ask(self, **moment: Any) -> FactsAnswer:
        return asof.entity_facts(principal=self.anna, entity_id=self.elin, **moment)

    def step(self) -> None:
        self.now += timedelta(seconds=self.random.choice([-3, 0, 0, 1, 60, 86_400]))
        with clock.frozen(self.now):
            if (chance := self.random.random()) < 0.2:
                self.decide()
            elif chance < 0.35:
                self.tell(self.anna, self.scopes[1], self.renaming())
            else:
                who = self.random.choice([self.anna, self.anna, self.agent, self.importer, self.source])
                told = [self.operation() for _ in range(self.random.choice([1, 3, 5]))]
                self.tell(who, self.random.choice(self.scopes), *told)

    def operation(self) -> dict[str, Any]:
        pick = self.random.choice
        if pick(range(5)) == 0 and (id := self.any_fact()):
            mode = pick(["end", "retract"])
            at = pick([None, "2020-02", "2021", "2041"]) if mode == "end" else None
            return {"op": "invalidate_fact", "target_fact_id": id, "mode": mode, "at": at, "piece": pick([True, False])}
        predicate = pick(_PREDICATES)
        return {
            "op": "assert_fact",
            "subject_ref": "person:elin",
            "predicate": predicate,
            "object_value": pick(_VALUES[predicate]),
            "polarity": predicate not in ("address", "likes") or pick(range(4)) > 0,
            "valid_from": pick(_STARTS),
            "valid_to": pick(_ENDS),
            "still": pick(range(8)) == 0,
            "correction": pick(range(6)) == 0,
            "replaces_fact_id": self.any_fact(predicate) if pick(range(6)) == 0 else None,
            "applies_to_ref": pick([None, None, None, "person:elin"]),
            "confidence": 0.5,
        }

    def renaming(self) -> dict[str, Any]:
        name = self.random.choice(["Elin", "Elena", "Helena"])
        return {"op": "assert_fact", "subject_ref": "person:elin", "predicate": "name", "object_value": name}

    def any_fact(self, predicate: str | None = None) -> str | None:
        found = asof.history(principal=self.anna, entity_id=self.elin, predicate=predicate, beliefs="all")
        return str(self.random.choice(found).id) if found else None

    def decide(self) -> None:
        waiting = proposals.list_proposals(principal=self.anna)
        if not waiting:
            return
        chosen = self.random.choice(waiting)
        answer = self.random.choice(
            [governance.accept_proposal, governance.accept_proposal, governance.reject_proposal]
        )
        try:
            result = answer(principal=self.anna, proposal_id=chosen.id)
        except Problem as problem:
            if problem.status not in (409, 422):
                raise
        else:
            assert result.outcome is not Outcome.PENDING
            with pytest.raises(Problem, match="already_decided"):
                answer(principal=self.anna, proposal_id=chosen.id)

    def check(self) -> None:
        with clock.frozen(self.now):
            for moment, answer in self.asked:
                again = self.ask(**moment)
                assert again.facts == answer.facts, moment
            V = self.random.choice(_V)
            today = self.ask(valid_at=V)
            basis = moments.read_known_at(today.basis, principal=self.anna)
            for beliefs in ("believed", "all"):
                moment = {"valid_at": V, "known_at": basis, "beliefs": beliefs}
                self.asked.append((moment, self.ask(**moment)))
            assert self.asked[-2][1].facts == today.facts, "state_at(V) is state_as_known_at(now, V)"
            assert isinstance(basis, moments.Basis)
            for fact in (*today.facts, *self.asked[-1][1].facts):
                self.check_view(fact, basis.ticks)
            self.check_status(V)

    def check_view(self, fact: FactView, ticks: Mapping[str, datetime]) -> None:
        """Nothing written after the moment is shown, and the statement was learned with its origin."""
        tick = ticks[fact.scope_ref]
        written = [fact.recorded_at, fact.learned_at, *(piece.recorded_at for piece in fact.evidence)]
        assert max([*written, fact.superseded_at or tick]) <= tick
        closing = (fact.superseded_at, fact.closed_reason)
        assert all(closing) or not any((*closing, fact.closed_by_fact_id, fact.reason))
        (origin,) = self.admin.execute("SELECT recorded_at FROM facts WHERE id = %s", [fact.origin_fact_id])
        assert fact.learned_at == origin[0]

    def check_status(self, V: datetime) -> None:
        """The status of every row, derived anew from all rows."""
        everything = asof.history(principal=self.anna, entity_id=self.elin, beliefs="all")
        now = max([self.now, *(fact.recorded_at for fact in everything)])
        for fact in everything:
            if fact.closed_reason:
                expected = "invalidated" if fact.closed_reason in ("retracted", "corrected") else "superseded"
            elif fact.valid_to is None or fact.valid_to > now:
                expected = "active"
            else:
                (followed,) = self.admin.execute(
                    "SELECT EXISTS (SELECT 1 FROM facts a JOIN facts b USING (scope_ref, slot) WHERE a.id = %s"
                    " AND b.superseded_at IS NULL AND b.valid_from >= a.valid_to)",
                    [fact.id],
                )
                expected = "superseded" if followed[0] else "expired"
            assert fact.status == expected

    def check_database(self) -> None:
        """What constraints cannot say: X never beside not-X, one value at a time, strict order of ticks."""
        clashes = """
            SELECT a.id FROM facts a JOIN facts b USING (scope_ref, subject_id, predicate)
            WHERE a.id <> b.id AND a.superseded_at IS NULL AND b.superseded_at IS NULL
              AND a.applies_to_id IS NOT DISTINCT FROM b.applies_to_id
              AND tstzrange(a.valid_from, a.valid_to) && tstzrange(b.valid_from, b.valid_to)
              AND (a.object_key = b.object_key OR (a.polarity AND b.polarity AND a.predicate <> 'likes'))"""
        assert self.admin.execute(clashes).fetchall() == []
        orphans = """
            SELECT id FROM facts f WHERE NOT EXISTS (SELECT 1 FROM facts o WHERE o.id = f.origin_fact_id)
              OR NOT EXISTS (SELECT 1 FROM fact_evidence e WHERE e.fact_id = f.origin_fact_id)
              OR NOT EXISTS (SELECT 1 FROM world_events e WHERE e.id = f.event_id AND e.recorded_at = f.recorded_at)
              OR recorded_at > (SELECT tick FROM scopes s WHERE s.scope_ref = f.scope_ref)
              OR superseded_at > (SELECT tick FROM scopes s WHERE s.scope_ref = f.scope_ref)"""
        assert self.admin.execute(orphans).fetchall() == []
        shared = "SELECT tick FROM operations GROUP BY scope_ref, tick HAVING count(*) > 1"
        assert self.admin.execute(shared).fetchall() == []


@pytest.mark.parametrize("seed", range(3))
def test_no_old_answer_ever_moves(anna: User, admin_connection: psycopg.Connection[Any], seed: int) -> None:
    group = Group.objects.create(name="Familie")
    GroupMembership.objects.create(user=anna, group=group, role=GroupMembership.Role.EDITOR)
    machine = Machine(anna, seed, admin_connection)
    for _ in range(14):
        machine.step()
        machine.check()
    machine.check_database()
    assert {"committed", "pending"} <= machine.outcomes
