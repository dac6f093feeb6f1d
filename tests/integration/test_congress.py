"""Real rows on both axes: what a source said over thirteen years, said again in its order, answers as it did then."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person, system
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from tests.conftest import make_user

DATA = Path(__file__).parents[1] / "data" / "congress"
BEFORE = datetime(2012, 1, 1, tzinfo=UTC)
PREDICATE = "congress:term"
MOST = 200  # operations a transaction
WITHIN_THE_SECOND = timedelta(microseconds=999_999)
"""The source's system time is exact to the second; ours goes on within it."""


def lines(name: str) -> Iterator[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8") as handle:
        yield from map(json.loads, handle)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def fact_of(result: OperationResult) -> UUID:
    assert result.fact_id is not None
    return result.fact_id


class Source:
    """Tells a scope what the source had to say, each time when it said so."""

    def __init__(self, scope_ref: str) -> None:
        self.scope_ref, self.principal = scope_ref, system(scope_ref, "import")
        self.ids: dict[str, UUID] = {}
        """The fact of each row."""

    def replay(self) -> None:
        rows = {row["id"]: row for row in lines("terms.jsonl")}
        begun: dict[str, list[str]] = defaultdict(list)
        over: dict[str, list[str]] = defaultdict(list)
        for id, row in rows.items():
            begun[row["tx_from"]].append(id)
            if row["tx_to"]:
                over[row["tx_to"]].append(id)
        with clock.frozen(BEFORE):
            self.tell(
                {"op": "upsert_entity", "id_hint": f"person:#{name}", "kind": "person", "canonical_name": name}
                for name in sorted({row["entity"] for row in rows.values()})
            )
        for moment in sorted(begun.keys() | over.keys()):
            with clock.frozen(at(moment)):
                self.tell(
                    {"op": "invalidate_fact", "target_fact_id": str(self.ids[id]), "mode": "retract"}
                    for id in over[moment]
                )
                said = self.tell(self.term(rows[id]) for id in begun[moment])
                self.ids |= {id: fact_of(result) for id, result in zip(begun[moment], said, strict=True)}

    def term(self, row: dict[str, Any]) -> dict[str, Any]:
        return {
            "op": "assert_fact",
            "subject_ref": f"person:{row['entity'].lower()}",
            "predicate": PREDICATE,
            "object_value": row["value"] | {"key": row["key"]},
            "valid_from": f"{row['valid_from']}T00:00:00Z",
            "valid_to": f"{row['valid_to']}T00:00:00Z" if row["valid_to"] else None,
        }

    def tell(self, operations: Iterator[dict[str, Any]]) -> list[OperationResult]:
        results: list[OperationResult] = []
        while chunk := list(itertools.islice(operations, MOST)):
            proposal = MemoryMutationProposal.model_validate({"operations": chunk})
            results += commit_proposal(principal=self.principal, proposal=proposal, scope_ref=self.scope_ref).results
        assert {result.outcome for result in results} <= {"committed"}
        return results


@pytest.fixture
def source(database: None) -> Source:
    with clock.frozen(BEFORE):
        anna = make_user("anna")
    Predicate.objects.create(key=PREDICATE, source="congress")
    catalogue.forget()
    source = Source(person(anna).default_scope)
    source.replay()
    return source


def test_the_source_is_asked_as_it_stood_at_any_time(source: Source) -> None:
    anna = person(User.objects.get(username="anna"))
    rows = {fact: row for row, fact in source.ids.items()}
    found = {}
    questions = list(lines("questions.jsonl"))
    for number, question in enumerate(questions):
        member = entities.get_entity(principal=anna, ref=f"person:{question['entity'].lower()}").id
        answer = asof.entity_facts(
            principal=anna,
            entity_id=member,
            predicate=PREDICATE,
            valid_at=day(question["as_of_valid"]),
            known_at=at(question["as_of_tx"]) + WITHIN_THE_SECOND,
        )
        found[number] = sorted(rows[fact.id] for fact in answer.facts)
    assert len(questions) == 50
    assert found == {number: sorted(question["rows"]) for number, question in enumerate(questions)}
