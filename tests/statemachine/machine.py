"""What people and programs do to a memory, in any order: the same is done to the reference, and both must agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from gedaechtnis.common.instants import rfc3339
from gedaechtnis.memory.services import governance, merges, splits, undo
from gedaechtnis.memory.services.commit import commit_proposal
from tests.statemachine.checked import PAIRS, PER_DAY, RANKS, CheckedMemory, Waiting, instant
from tests.statemachine.reference import Merge
from tests.unit.planner.grid import AMBIGUOUS, SINCE_EVER, Forget, Stop

says = st.fixed_dictionaries(
    {
        "predicate": st.sampled_from(["address", "address", "likes"]),
        "value": st.sampled_from("ABC"),
        "polarity": st.sampled_from([True, True, True, False]),
        "start": st.sampled_from([*range(10), None, None, SINCE_EVER]),
        "length": st.sampled_from([None, None, None, "still", 1, 2, 3]),
        "correction": st.sampled_from([False, False, False, False, True]),
    }
)
scopes = st.sampled_from(["family", "family", "mine", "club"])
moves = st.sampled_from([0, 0, 1, 2, -1])
numbers = st.integers(0, 30)
either = st.integers(0, 1)


class MemoryMachine(CheckedMemory):
    """The acts."""

    @rule(scope=scopes, entity=either, said=says, who=st.sampled_from([*RANKS, "person"]), days=moves)
    def state(self, scope: str, entity: int, said: dict[str, Any], who: str, days: int) -> None:
        place, step = self.statement(scope, entity, said, rank=RANKS[who])
        now, before = self.next_tick(scope, days), self.slot(scope, place, step)
        outcome, change = self.beliefs[scope].say(place, step, now)
        if outcome == AMBIGUOUS:
            return
        (result,) = self.tell(self.principal(who), scope, self.operation(scope, entity, said))
        self.agree(result, {"proposal": "pending"}.get(outcome, outcome))
        if result.proposal_id:
            self.waiting.append(
                Waiting(result.proposal_id, scope, place, replace(step, rank=3, decided=True), now, before)
            )
        self.settle(scope, result.event_id, change)

    @rule(scope=scopes, entity=either, said=says, days=moves)
    def suggest(self, scope: str, entity: int, said: dict[str, Any], days: int) -> None:
        """An agent says it without a quote: it waits, whatever it is."""
        place, step = self.statement(scope, entity, said, rank=1)
        now = self.next_tick(scope, days)
        outcome = self.beliefs[scope].would_say(place, step, now)
        if outcome == AMBIGUOUS:
            return
        (result,) = self.tell(self.principal("agent"), scope, self.operation(scope, entity, said))
        self.agree(result, {"committed": "pending", "proposal": "pending"}.get(outcome, outcome))
        if result.proposal_id:
            accepted = replace(step, rank=3, decided=True)
            self.waiting.append(Waiting(result.proposal_id, scope, place, accepted, now, self.slot(scope, place, step)))
        self.settle(scope)

    @precondition(lambda self: self.pieces)
    @rule(number=numbers, piece=numbers, at=st.integers(1, 12), days=moves)
    def end(self, number: int, piece: int, at: int, days: int) -> None:
        origin, scope, fact = self.some_fact(number, piece)
        now = self.next_tick(scope, days)
        outcome, change = self.beliefs[scope].stop(Stop(origin, at * PER_DAY), now)
        operation = {"op": "invalidate_fact", "target_fact_id": str(fact), "mode": "end"}
        (result,) = self.tell(self.anna, scope, operation | {"at": rfc3339(instant(at * PER_DAY))})
        self.agree(result, outcome)
        self.settle(scope, result.event_id, change)

    @precondition(lambda self: self.pieces)
    @rule(number=numbers, piece=numbers, days=moves)
    def retract(self, number: int, piece: int, days: int) -> None:
        origin, scope, fact = self.some_fact(number, piece)
        now = self.next_tick(scope, days)
        outcome, change = self.beliefs[scope].stop(Forget(origin), now)
        operation = {"op": "invalidate_fact", "target_fact_id": str(fact), "mode": "retract", "reason": "a mix-up"}
        (result,) = self.tell(self.anna, scope, operation)
        self.agree(result, outcome)
        self.settle(scope, result.event_id, change)

    @precondition(lambda self: self.waiting)
    @rule(number=numbers, days=moves)
    def accept(self, number: int, days: int) -> None:
        waiting = self.waiting[number % len(self.waiting)]
        beliefs, scope = self.beliefs[waiting.scope], waiting.scope
        place = (self.survivor(scope, waiting.place[0]), waiting.place[1])
        self.next_tick(scope, days)
        present = self.slot(scope, place, waiting.step)
        if present != waiting.built_on:
            waiting.built_on = present
            self.refused("stale", governance.accept_proposal, principal=self.anna, proposal_id=waiting.id)
            return self.settle(scope)
        outcome, change = beliefs.say(place, waiting.step, waiting.said)
        if outcome == AMBIGUOUS:
            return None
        if outcome not in ("committed", "restated"):
            return self.refused(outcome, governance.accept_proposal, principal=self.anna, proposal_id=waiting.id)
        with self.at():
            result = governance.accept_proposal(principal=self.anna, proposal_id=waiting.id)
        self.seen["accepted"] += 1
        self.agree(result, outcome)
        self.waiting.remove(waiting)
        return self.settle(scope, result.event_id, change)

    @precondition(lambda self: self.events)
    @rule(number=numbers, days=moves)
    def take_back(self, number: int, days: int) -> None:
        scope, event, what = self.events[-1 - number % len(self.events)]
        self.next_tick(scope, days)
        if isinstance(what, Merge):
            if what.reversed:
                self.refused("moved_since", undo.undo_event, principal=self.anna, event_id=event)
                return self.settle(scope)
            with self.at():
                undo.undo_event(principal=self.anna, event_id=event)
            self.seen["unmerged"] += 1
            return self.part(scope, what)
        outcome, change = self.beliefs[scope].undo(what) if what else ("nothing_to_undo", what)
        if outcome != "undone":
            return self.refused(outcome, undo.undo_event, principal=self.anna, event_id=event)
        with self.at():
            done = undo.undo_event(principal=self.anna, event_id=event)
        self.seen["undone"] += 1
        return self.settle(scope, done.event_id, change)

    @rule(scope=st.sampled_from(["family", "club"]), turn=either, days=moves)
    def merge(self, scope: str, turn: int, days: int) -> None:
        source, target = PAIRS[scope][turn], PAIRS[scope][1 - turn]
        self.next_tick(scope, days)
        ends = {"source_id": self.ids[source], "target_id": self.ids[target]}
        if self.merged(scope):
            return self.refused("merge_into_self", merges.merge_entities, principal=self.anna, **ends)
        with self.at():
            event = merges.merge_entities(principal=self.anna, **ends).event_id
        self.seen["merged"] += 1
        merge = self.beliefs[scope].merge(source, target)
        self.events.append((scope, event, merge))
        if any(place[0] == source for place, _ in self.beliefs["mine"].rows()):
            self.beliefs["mine"].merge(source, target)
        return self.settle(scope)

    @precondition(lambda self: self.beliefs["family"].merges or self.beliefs["club"].merges)
    @rule(scope=st.sampled_from(["family", "club"]), turn=either, days=moves)
    def split(self, scope: str, turn: int, days: int) -> None:
        source = PAIRS[scope][turn]
        earlier = [merge for merge in self.beliefs[scope].merges if merge.source == source]
        self.next_tick(scope, days)
        ask = {"principal": self.anna, "source_id": self.ids[source]}
        if not earlier:
            return self.refused("never_merged", splits.split_entity, **ask)
        with self.at():
            result = splits.split_entity(**ask)
        assert result.already_reversed == earlier[-1].reversed
        if result.already_reversed:
            self.seen["already reversed"] += 1
            return self.settle(scope)
        self.seen["split"] += 1
        return self.part(scope, earlier[-1], result)

    def part(self, scope: str, merge: Merge, result: splits.SplitResult | None = None) -> None:
        short, _ = self.beliefs[scope].split(merge)
        if result is not None:
            assert len(result.not_restored) == short
            assert result.event_id is not None
            self.events.append((scope, result.event_id, None))
        for followed in self.beliefs["mine"].merges:
            if scope == "family" and not followed.reversed:
                self.beliefs["mine"].split(followed)
        self.settle(scope)

    @precondition(lambda self: self.last)
    @rule(days=moves)
    def repeat(self, days: int) -> None:
        """The same run again changes nothing."""
        assert self.last is not None
        who, scope, proposal = self.last
        self.next_tick(scope, days)
        with self.at():
            (result,) = commit_proposal(principal=who, proposal=proposal, scope_ref=self.refs[scope]).results
        assert result.outcome == "duplicate"
        self.settle(scope)
