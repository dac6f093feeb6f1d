"""A memory in the database beside its brute-force reference: how both are told things, and what must hold after each.

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
from hypothesis.stateful import RuleBasedStateMachine

from gedaechtnis.common import clock
from gedaechtnis.common.instants import rfc3339
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.answers import FactsAnswer
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, moments
from gedaechtnis.memory.services import following
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping.work import WorkItem
from tests.statemachine.reference import FUNCTIONAL, Beliefs, Change, Merge, Place, Row, Told
from tests.unit.planner.grid import SINCE_EVER, Say

DAYS = 13
PER_DAY = 16
"""Cells of a day: ticks within one day are microseconds apart, one cell each."""
LAST = DAYS * PER_DAY - 1
EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EVER = (EPOCH - timedelta(days=1000), EPOCH + timedelta(days=1000))
PAIRS = {"family": ("Mia", "Maria"), "club": ("Ole", "Olaf")}
HOMES = {"family": "family", "mine": "family", "club": "club"}
RANKS = {"person": 3, "source": 2, "import": 1}


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


class CheckedMemory(RuleBasedStateMachine):
    """`seen` counts what happened over all runs, so that a test can tell that nothing was left untried."""

    admin: psycopg.Connection[Any]
    seen: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.today = -2
        with self.at():
            user = User.objects.create(username=f"u{uuid4().hex}", language="de", time_zone="Europe/Berlin")
            made = {name: groups.create_group(user=user, name=name) for name in PAIRS}
            self.anna = person(user)
            self.refs = {name: f"group:{group.pk}" for name, group in made.items()} | {"mine": self.anna.default_scope}
            self.ids = {name: self.introduce(home, name) for home in PAIRS for name in PAIRS[home]}
        origins = itertools.count()
        self.beliefs = {name: Beliefs(PAIRS[home], LAST, origins) for name, home in HOMES.items()}
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
        named = self.survivor(scope, PAIRS[HOMES[scope]][entity])
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
            "subject_ref": str(self.ids[PAIRS[HOMES[scope]][entity]]),
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
        merge = self.merged(HOMES[scope])
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
        for entity in PAIRS[HOMES[scope]]:
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
