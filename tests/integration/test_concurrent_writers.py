"""Many writers at once: one after the other in the database, each told what became of its word, none in a knot."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.db import DatabaseError, connections

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services import merges
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import clocks
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityMerge, Fact
from tests.conftest import ApiClient

WRITERS = 16
TOWNS = [f"Town {number}" for number in range(WRITERS)]
T = TypeVar("T")


def together(acts: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Do all acts at the same moment, each on a connection of its own; what each returned or raised."""
    barrier = threading.Barrier(len(acts))
    results: list[T | Exception] = [RuntimeError("never ran")] * len(acts)

    def run(number: int) -> None:
        try:
            barrier.wait(timeout=60)
            results[number] = acts[number]()
        except Exception as error:  # handed to the test, which names the ones it expects
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    return results


def tell(principal: Principal, *operations: dict[str, Any], run_id: str | None = None) -> list[OperationResult]:
    proposal = MemoryMutationProposal.model_validate({"run_id": run_id, "operations": list(operations)})
    return commit_proposal(principal=principal, proposal=proposal).results


def lives_in(town: str, **more: Any) -> dict[str, Any]:
    return {
        "op": "assert_relationship",
        "subject_ref": "person:mira",
        "predicate": "lives_in",
        "object_ref": f"place:{town.lower().replace(' ', '-')}",
        **more,
    }


@pytest.fixture
def mira(as_anna: Principal) -> UUID:
    """She lives in Ulm; sixteen other towns are known."""
    named = [("person", "Mira"), ("place", "Ulm"), *(("place", town) for town in TOWNS)]
    tell(
        as_anna,
        *(
            {"op": "upsert_entity", "id_hint": f"{kind}:#{name}", "kind": kind, "canonical_name": name}
            for kind, name in named
        ),
        lives_in("Ulm", valid_from="2020-01-01"),
    )
    return entities.get_entity(principal=as_anna, ref="person:mira").id


def lived(principal: Principal, mira: UUID) -> list[Any]:
    return list(asof.history(principal=principal, entity_id=mira, predicate="lives_in"))


def assert_one_timeline(rows: Sequence[Any]) -> None:
    """One value at any time, without gaps, to this day."""
    assert rows[-1].valid_to is None
    for earlier, later in pairwise(rows):
        assert earlier.valid_to == later.valid_from


def test_of_sixteen_writers_who_saw_the_same_fact_one_wins(as_anna: Principal, mira: UUID) -> None:
    (ulm,) = lived(as_anna, mira)
    results = together(
        [lambda town=town: tell(as_anna, lives_in(town, based_on_fact_id=str(ulm.id)))[0] for town in TOWNS]
    )
    told = [result for result in results if isinstance(result, OperationResult)]
    assert len(told) == WRITERS
    won = [result for result in told if result.outcome is Outcome.COMMITTED]
    assert len(won) == 1
    assert {(result.outcome, result.code) for result in told if result not in won} == {(Outcome.REJECTED, "stale")}
    rows = lived(as_anna, mira)
    assert len(rows) == 2
    assert_one_timeline(rows)


def test_sixteen_writers_who_saw_nothing_all_land_in_order(as_anna: Principal, mira: UUID) -> None:
    results = together([lambda town=town: tell(as_anna, lives_in(town))[0] for town in TOWNS])
    assert {result.outcome for result in results if isinstance(result, OperationResult)} == {Outcome.COMMITTED}
    rows = lived(as_anna, mira)
    assert_one_timeline(rows)
    assert [row.object.label for row in rows[:1]] == ["Ulm"]
    assert {row.object.label for row in rows[1:]} == set(TOWNS)
    assert [row.learned_at for row in rows[1:]] == [row.valid_from for row in rows[1:]]


def test_case_c36_one_of_many_corrections_counts_and_the_others_are_told_quietly(
    anna: User, as_anna: Principal, mira: UUID, client_for: Callable[..., ApiClient], caplog: pytest.LogCaptureFixture
) -> None:
    (ulm,) = lived(as_anna, mira)
    clients = [client_for(anna) for _ in range(WRITERS)]
    with caplog.at_level(logging.INFO):
        results = together(
            [
                lambda client=client, town=town: client.post(
                    f"/api/world/facts/{ulm.id}/correct", {"object_ref": f"place:{town.lower().replace(' ', '-')}"}
                )
                for client, town in zip(clients, TOWNS, strict=True)
            ]
        )
    answers = [result for result in results if not isinstance(result, Exception)]
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (WRITERS - 1)
    (now,) = lived(as_anna, mira)
    for answer in answers:
        if answer.status_code == 409:
            assert [(one["fact_id"], one["object_ref"]) for one in answer.json()["present"]] == [
                (str(now.id), now.object.ref)
            ]
    assert (now.valid_from, now.valid_to) == (ulm.valid_from, None)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]


def test_without_the_clocks_lock_the_table_itself_keeps_one_value(
    as_anna: Principal, mira: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = iter(range(1, 1000))

    def unlocked(scope_ref: str, count: int = 1, *, org_id: UUID | None = None) -> list[datetime]:
        first = datetime.now(UTC) + timedelta(milliseconds=next(later))
        return [first + timedelta(microseconds=number) for number in range(count)]

    monkeypatch.setattr(clocks, "take", unlocked)
    results = together([lambda town=town: tell(as_anna, lives_in(town, valid_from="2025-01-01")) for town in TOWNS])
    monkeypatch.undo()
    lost = [result for result in results if isinstance(result, Exception)]
    assert lost
    assert all(isinstance(error, DatabaseError | RuntimeError) for error in lost)
    with scope(as_anna):
        assert Fact.objects.believed().filter(subject_id=mira, predicate="lives_in", valid_to=None).count() == 1


def test_crossing_merges_end_with_one_survivor_and_no_knot(as_anna: Principal, mira: UUID) -> None:
    towns = [entities.get_entity(principal=as_anna, ref=f"place:town-{number}").id for number in range(4)]
    pairs = [(one, other) for one in towns for other in towns if one != other]
    pairs += pairs[: WRITERS - len(pairs)]
    results = together(
        [
            lambda pair=pair: merges.merge_entities(principal=as_anna, source_id=pair[0], target_id=pair[1])
            for pair in pairs
        ]
    )
    refused = [result for result in results if isinstance(result, Exception)]
    assert {(type(error), getattr(error, "code", None)) for error in refused} == {(Problem, "merge_into_self")}
    assert len(results) - len(refused) == len(towns) - 1
    with scope(as_anna):
        assert Entity.objects.filter(pk__in=towns).exclude(status=Entity.Status.MERGED).count() == 1
        assert EntityMerge.objects.count() == len(towns) - 1


def test_of_sixteen_merges_built_on_the_same_view_one_wins(as_anna: Principal, mira: UUID) -> None:
    ulm = entities.get_entity(principal=as_anna, ref="place:ulm").id
    towns = [entities.get_entity(principal=as_anna, ref=f"place:town-{number}").id for number in range(2)]
    with scope(as_anna):
        seen = merges.latest_event((ulm, *towns))
    results = together(
        [
            lambda source=source, target=target: merges.merge_entities(
                principal=as_anna, source_id=source, target_id=target, based_on_event_id=seen
            )
            for source, target in [(towns[0], ulm), (ulm, towns[1])] * (WRITERS // 2)
        ]
    )
    refused = [result for result in results if isinstance(result, Problem)]
    assert len(refused) == WRITERS - 1
    assert {error.code for error in refused} <= {"stale", "merge_into_self"}


def test_case_c37_two_who_meet_somebody_new_at_once_meet_one_person(as_anna: Principal) -> None:
    def meets(said: str) -> list[OperationResult]:
        return tell(
            as_anna,
            {"op": "upsert_entity", "id_hint": "person:nils", "kind": "person", "canonical_name": "Nils Hagen"},
            {"op": "assert_fact", "subject_ref": "person:nils", "predicate": "note", "object_value": said},
        )

    results = together([lambda: meets("called"), lambda: meets("wrote")])
    assert [result[0].entity_id for result in results if not isinstance(result, Exception)] == [
        entities.get_entity(principal=as_anna, ref="person:nils-hagen").id
    ] * 2
    with scope(as_anna):
        assert Entity.objects.filter(canonical_name="Nils Hagen").count() == 1
        assert Fact.objects.believed().filter(predicate="note").count() == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts",
        'INSERT INTO "facts"',
        'INSERT INTO "fact_evidence"',
        'INSERT INTO "world_events"',
        'INSERT INTO "operations"',
    ],
)
def test_case_c37_a_writer_killed_at_any_step_leaves_all_or_nothing(
    anna: User, as_anna: Principal, mira: UUID, statement: str
) -> None:
    before = lived(as_anna, mira)
    died = subprocess.run(
        [sys.executable, "-m", "tests.killed", statement, anna.username, "r-1"], check=False, capture_output=True
    )
    assert died.returncode == -9, died.stderr.decode()
    assert lived(as_anna, mira) == before
    (again,) = tell(as_anna, lives_in("Town 1", valid_from="2025-01-01"), run_id="r-1")
    assert again.outcome is Outcome.COMMITTED
    (twice,) = tell(as_anna, lives_in("Town 1", valid_from="2025-01-01"), run_id="r-1")
    assert (twice.outcome, twice.fact_id) == (Outcome.DUPLICATE, again.fact_id)
    assert [row.object.label for row in lived(as_anna, mira)] == ["Ulm", "Town 1"]
