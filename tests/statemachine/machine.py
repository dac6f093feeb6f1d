"""Random acts on a memory in the database, beside the same acts on the brute-force reference.

Three scopes: a family and a club, each with two people of its own, and a person's private scope,
which says things about the family's. System days pass, stand still and step back; valid time
reaches from before anything to for ever.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from gedaechtnis.common import clock
from gedaechtnis.common.instants import rfc3339
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.answers import FactsAnswer
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, moments
from gedaechtnis.memory.services import following, governance, merges, splits, undo
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping.work import WorkItem
from tests.statemachine.reference import FUNCTIONAL, Beliefs, Change, Merge, Place, Row, Told
from tests.unit.planner.grid import AMBIGUOUS, SINCE_EVER, Forget, Say, Stop

DAYS = 13
PER_DAY = 16
"""Cells of a day: ticks within one day are microseconds apart, one cell each."""
LAST = DAYS * PER_DAY - 1
EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EVER = (EPOCH - timedelta(days=1000), EPOCH + timedelta(days=1000))
_PAIRS = {"family": ("Mia", "Maria"), "club": ("Ole", "Olaf")}
_HOMES = {"family": "family", "mine": "family", "club": "club"}
_RANKS = {"person": 3, "source": 2, "import": 1}


def instant(cell: int) -> datetime:
    """Where a cell begins; the first one lies before all others."""
    days, microseconds = divmod(cell, PER_DAY)
    return EPOCH + timedelta(days=days, microseconds=microseconds if days >= 0 else 0)


def cell_of(at: datetime | None, *, absent: int) -> int:
    """The cell that begins at an instant."""
    if at is None:
        return absent
    since = at - EPOCH
    assert since.seconds == 0
    assert since.microseconds < PER_DAY
    return since.days * PER_DAY + since.microseconds


@dataclass
class Waiting:
    """A proposal: what accepting it states, and what it was judged against."""

    id: UUID
    scope: str
    place: Place
    step: Say
    said: int
    built_on: frozenset[Row]


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


class MemoryMachine(RuleBasedStateMachine):
    """`seen` counts what happened over all runs, so that a test can tell that nothing was left untried."""

    admin: psycopg.Connection[Any]
    seen: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.today = -2
        with self.at():
            user = User.objects.create(username=f"u{uuid4().hex}", language="de", time_zone="Europe/Berlin")
            made = {name: groups.create_group(user=user, name=name) for name in _PAIRS}
            self.anna = person(user)
            self.refs = {name: f"group:{group.pk}" for name, group in made.items()} | {"mine": self.anna.default_scope}
            self.ids = {name: self.introduce(home, name) for home in _PAIRS for name in _PAIRS[home]}
        origins = itertools.count()
        self.beliefs = {name: Beliefs(_PAIRS[home], LAST, origins) for name, home in _HOMES.items()}
        self.ticks = {name: self.stored_tick(name) for name in self.refs}
        self.origins: dict[UUID, int] = {}
        self.pieces: dict[int, tuple[str, list[UUID]]] = {}
        self.waiting: list[Waiting] = []
        self.events: list[tuple[str, UUID, Change | Merge | None]] = []
        self.last: tuple[Principal, str, MemoryMutationProposal] | None = None
        self.stored: dict[UUID, tuple[Any, ...]] = {}
        self.answers: list[tuple[str, str, dict[str, list[Told]]]] = []
        self.today = 3

    def at(self) -> Any:
        return clock.frozen(EPOCH + timedelta(days=self.today))

    def introduce(self, home: str, name: str) -> UUID:
        (result,) = self.commit(
            self.anna, home, {"op": "upsert_entity", "id_hint": "new", "kind": "person", "canonical_name": name}
        )
        assert result.entity_id is not None
        return result.entity_id

    def commit(self, who: Principal, scope: str, *operations: dict[str, Any]) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"run_id": uuid4().hex, "operations": list(operations)})
        self.last = (who, scope, proposal)
        return commit_proposal(principal=who, proposal=proposal, scope_ref=self.refs[scope]).results

    # What people and programs do

    @rule(scope=scopes, entity=either, said=says, who=st.sampled_from([*_RANKS, "person"]), days=moves)
    def state(self, scope: str, entity: int, said: dict[str, Any], who: str, days: int) -> None:
        place, step = self.statement(scope, entity, said, rank=_RANKS[who])
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
        source, target = _PAIRS[scope][turn], _PAIRS[scope][1 - turn]
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
        source = _PAIRS[scope][turn]
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

    # How an act is put, to the memory and to the reference

    def principal(self, who: str) -> Principal:
        kinds = {
            "agent": PrincipalKind.AGENT,
            "import": PrincipalKind.SYSTEM,
            "source": PrincipalKind.INTEGRATION,
        }
        return replace(self.anna, kind=kinds[who], acted_by=f"{who}:test") if who in kinds else self.anna

    def statement(self, scope: str, entity: int, said: dict[str, Any], *, rank: int) -> tuple[Place, Say]:
        start, length = said["start"], said["length"]
        first = start * PER_DAY if isinstance(start, int) and start >= 0 else start
        named = self.survivor(scope, _PAIRS[_HOMES[scope]][entity])
        return (named, said["predicate"]), Say(
            said["value"],
            polarity=said["polarity"],
            start=first,
            end=(max(start or 0, 0) + length) * PER_DAY if isinstance(length, int) else None,
            still=length == "still",
            correction=said["correction"],
            rank=rank,
        )

    def operation(self, scope: str, entity: int, said: dict[str, Any]) -> dict[str, Any]:
        _, step = self.statement(scope, entity, said, rank=3)
        start = {None: None, SINCE_EVER: "unknown"}
        return {
            "op": "assert_fact",
            "subject_ref": str(self.ids[_PAIRS[_HOMES[scope]][entity]]),
            "predicate": said["predicate"],
            "object_value": step.value,
            "polarity": step.polarity,
            "valid_from": start[step.start] if step.start in start else rfc3339(instant(step.start)),
            "valid_to": None if step.end is None else rfc3339(instant(step.end)),
            "still": step.still,
            "correction": step.correction,
        }

    def tell(self, who: Principal, scope: str, operation: dict[str, Any]) -> list[OperationResult]:
        with self.at():
            return self.commit(who, scope, operation)

    def slot(self, scope: str, place: Place, step: Say) -> frozenset[Row]:
        return self.beliefs[scope].slot(place, step.value)

    def survivor(self, scope: str, entity: str) -> str:
        merge = self.merged(_HOMES[scope])
        return merge.target if merge and merge.source == entity else entity

    def merged(self, home: str) -> Merge | None:
        return next((merge for merge in self.beliefs[home].merges if not merge.reversed), None)

    def some_fact(self, number: int, piece: int) -> tuple[int, str, UUID]:
        """An origin, its scope, and the id of a row of it, of any age."""
        origin = list(self.pieces)[-1 - number % len(self.pieces)]
        scope, rows = self.pieces[origin]
        return origin, scope, rows[piece % len(rows)]

    def agree(self, result: OperationResult, expected: str) -> None:
        self.seen[expected] += 1
        assert (result.code or result.outcome) == expected

    def refused(self, code: str, act: Any, **named: Any) -> None:
        self.seen[code] += 1
        with pytest.raises(Problem) as refusal, self.at():
            act(**named)
        assert refusal.value.code == code

    # What must hold after each act

    def next_tick(self, scope: str, days: int) -> int:
        """Move the wall clock; the cell in which the next act of a scope happens."""
        self.today = min(max(self.today + days, 2), 9)
        return cell_of(self.due(scope), absent=0)

    def due(self, scope: str) -> datetime:
        return max(EPOCH + timedelta(days=self.today), self.ticks[scope] + _MICROSECOND)

    def settle(self, scope: str, event_id: UUID | None = None, change: Change | None = None) -> None:
        due = self.due(scope)
        assert self.stored_tick(scope) == due, "one tick an act, later than any before, and no later than that"
        self.ticks[scope] = due
        if event_id is not None and change is not None:
            self.events.append((scope, event_id, change))
        self.follow()
        self.check_rows()
        self.note_origins()
        for entity in _PAIRS[_HOMES[scope]]:
            expected = self.expected(entity)
            answer = self.ask(entity)
            assert self.told(answer) == expected
            self.answers.append((entity, answer.basis, expected))

    def follow(self) -> None:
        """What the merge of the family's things leaves to do in the private scope."""
        columns = "id, kind, scope_ref, acting_sub, org_id, object_id, dedupe_key, seq, attempts"
        found = self.admin.execute(f"SELECT {columns} FROM work WHERE kind = 'follow_merge'").fetchall()
        for row in found:
            with self.at():
                following.follow_merge(
                    WorkItem(**dict(zip(columns.split(", "), row, strict=True)), lease_token=uuid4())
                )
            self.admin.execute("DELETE FROM work WHERE id = %s", [row[0]])
            self.ticks["mine"] = self.stored_tick("mine")

    def stored_tick(self, scope: str) -> datetime:
        found = self.admin.execute("SELECT tick FROM scopes WHERE scope_ref = %s", [self.refs[scope]]).fetchone()
        return found[0] if found else EPOCH - timedelta(days=2)

    def check_rows(self) -> None:
        """Rows never go and never change but to be closed, once; no two of a slot overlap, no X beside not-X."""
        refs = list(self.refs.values())
        closing = ["superseded_at", "closed_reason", "closed_by_fact_id", "reason"]
        rows = self.admin.execute(
            "SELECT id, to_jsonb(f) - %s::text[], superseded_at, closed_reason, closed_by_fact_id, reason"
            " FROM facts f WHERE scope_ref = ANY(%s)",
            [closing, refs],
        ).fetchall()
        now = {row[0]: row[1:] for row in rows}
        for id, row in self.stored.items():
            assert now[id] == row or (now[id][0] == row[0] and row[1] is None)
        self.stored = now
        clash = """
            SELECT a.id FROM facts a JOIN facts b USING (scope_ref, subject_id, predicate)
            WHERE scope_ref = ANY(%s) AND a.id <> b.id AND a.superseded_at IS NULL AND b.superseded_at IS NULL
              AND tstzrange(a.valid_from, a.valid_to) && tstzrange(b.valid_from, b.valid_to)
              AND (a.object_key = b.object_key OR (a.polarity AND b.polarity AND predicate = 'address'))"""
        assert self.admin.execute(clash, [refs]).fetchall() == []

    def note_origins(self) -> None:
        """Tell the new statements of the memory and of the reference apart by the order of their intervals."""
        for scope, beliefs in self.beliefs.items():
            rows = self.admin.execute(
                "SELECT id, origin_fact_id FROM facts WHERE scope_ref = %s AND predicate = ANY(%s)"
                " ORDER BY recorded_at, valid_from, id",
                [self.refs[scope], list(FUNCTIONAL)],
            ).fetchall()
            new = [id for id, origin in rows if id == origin and id not in self.origins]
            runs = sorted((run for _, run in beliefs.rows()), key=lambda run: run[1])
            unknown = dict.fromkeys(mark.origin for mark, _, _ in runs if mark.origin not in self.pieces)
            self.origins |= dict(zip(new, unknown, strict=True))
            for id, origin in rows:
                _, pieces = self.pieces.setdefault(self.origins[origin], (scope, []))
                if id not in pieces:
                    pieces.append(id)

    def expected(self, entity: str) -> dict[str, list[Told]]:
        """What is told of an entity, by scope."""
        return {
            self.refs[scope]: rows
            for scope, beliefs in self.beliefs.items()
            if entity in beliefs.entities and (rows := beliefs.told(self.survivor(scope, entity)))
        }

    def ask(self, entity: str, known_at: moments.Basis | datetime | None = None) -> FactsAnswer:
        with self.at():
            return asof.entity_facts(
                principal=self.anna,
                entity_id=self.ids[entity],
                valid_from=_EVER[0],
                valid_to=_EVER[1],
                known_at=known_at,
            )

    def told(self, answer: FactsAnswer) -> dict[str, list[Told]]:
        told: dict[str, list[Told]] = {}
        for fact in answer.facts:
            if fact.predicate in FUNCTIONAL:
                told.setdefault(fact.scope_ref, []).append(
                    (
                        fact.predicate,
                        fact.object.label if fact.polarity else f"not-{fact.object.label}",
                        cell_of(fact.valid_from, absent=SINCE_EVER),
                        cell_of(fact.valid_to, absent=LAST + 1),
                        fact.rank,
                        self.origins[fact.origin_fact_id],
                    )
                )
        return {scope: sorted(rows) for scope, rows in told.items()}

    def teardown(self) -> None:
        """Answers once given are given again, whatever came after them; also at single instants.

        Of the two people of a home one each time, in turn: rows are compared after each act anyway.
        """
        for number, (entity, basis, expected) in enumerate(self.answers):
            if number % 4 in (0, 3):
                known_at = moments.read_known_at(basis, principal=self.anna)
                assert self.told(self.ask(entity, known_at)) == expected, "no old answer moves"
            if number % 4 == 0:
                self.check_instant(entity, known_at, expected, cell=(number * 37) % LAST)

    def check_instant(
        self, entity: str, known_at: moments.Basis | datetime, expected: dict[str, list[Told]], cell: int
    ) -> None:
        with self.at():
            answer = asof.entity_facts(
                principal=self.anna, entity_id=self.ids[entity], valid_at=instant(cell), known_at=known_at
            )
        assert self.told(answer) == {scope: held for scope, rows in expected.items() if (held := _holding(rows, cell))}


def _holding(rows: Iterable[Told], cell: int) -> list[Told]:
    return [row for row in rows if row[2] <= cell < row[3]]
