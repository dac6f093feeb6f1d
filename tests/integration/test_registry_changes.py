"""Changing the rules of a predicate in use: its facts follow in every memory, and old answers stay."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.utils import quote
from django.core.management import CommandError, call_command
from django.test import Client

from gedaechtnis.common import clock
from gedaechtnis.identity.models import AuditEntry
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, conflicts, entities
from gedaechtnis.memory.services import facts, predicates
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import Work
from gedaechtnis.world.models import Fact
from tests.conftest import make_user

KEY = "test:tool"
PEOPLE = ("elin", "joss", "kaya")


class Memory:
    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.now = datetime(2030, 1, 1, tzinfo=UTC)
        for name in PEOPLE:
            self.do({"op": "upsert_entity", "id_hint": f"person:{name}", "kind": "person", "canonical_name": name})
        self.ids = {name: entities.get_entity(principal=principal, ref=f"person:{name}").id for name in PEOPLE}

    def do(self, operation: dict[str, Any]) -> OperationResult:
        self.now += timedelta(hours=1)
        with clock.frozen(self.now):
            proposal = MemoryMutationProposal.model_validate({"operations": [operation]})
            (result,) = commit_proposal(principal=self.principal, proposal=proposal).results
        assert result.code is None, result
        return result

    def say(self, name: str, value: str, since: str, until: str | None = None, **more: Any) -> UUID:
        target: dict[str, Any] = {"op": "assert_fact", "object_value": value}
        if value in PEOPLE:
            target = {"op": "assert_relationship", "object_ref": f"person:{value}"}
        bounds = {"valid_from": since, "valid_to": until}
        result = self.do({"subject_ref": f"person:{name}", "predicate": KEY, **target, **bounds, **more})
        assert result.fact_id is not None
        return result.fact_id

    def facts(self, name: str, at: str, known: datetime | None = None) -> list[FactView]:
        answer = asof.entity_facts(
            principal=self.principal,
            entity_id=self.ids[name],
            predicate=KEY,
            valid_at=datetime.fromisoformat(at).replace(tzinfo=UTC),
            known_at=known,
        )
        return [fact for fact in answer.facts if fact.polarity]

    def values(self, name: str, at: str, known: datetime | None = None) -> list[str]:
        return sorted(fact.object.label for fact in self.facts(name, at, known))

    def rows(self) -> list[Fact]:
        with scope(self.principal):
            return list(Fact.objects.filter(predicate=KEY).order_by("recorded_at", "id"))


@pytest.fixture
def register(database: None) -> Callable[..., None]:
    def make(**flags: Any) -> None:
        Predicate.objects.create(key=KEY, source="test", **flags)
        catalogue.forget()

    return make


@pytest.fixture
def memory(as_anna: Principal) -> Memory:
    return Memory(as_anna)


def change(memory: Memory, **flags: Any) -> None:
    """Change the rules and let every memory follow."""
    memory.now += timedelta(hours=1)
    with clock.frozen(memory.now):
        predicates.change_predicate(key=KEY, flags=flags, acted_by="system:test")
    follow(memory)


def follow(memory: Memory) -> None:
    memory.now += timedelta(hours=1)
    catalogue.forget()
    with clock.frozen(memory.now):
        while work.run_due():
            pass


def test_with_one_value_at_a_time_what_began_later_took_over(memory: Memory, register: Callable[..., None]) -> None:
    register()
    memory.say("elin", "Hammer", "2019-01-01")
    memory.say("elin", "Säge", "2021-01-01", "2022-01-01")
    memory.say("elin", "Bohrer", "2024-01-01")
    before = memory.now
    change(memory, cardinality="functional")
    for at, value in (
        ("2020-01-01", "Hammer"),
        ("2021-06-01", "Säge"),
        ("2023-01-01", "Hammer"),
        ("2025-01-01", "Bohrer"),
    ):
        assert memory.values("elin", at) == [value]
        assert value in memory.values("elin", at, before)
    assert memory.values("elin", "2025-01-01", before) == ["Bohrer", "Hammer"]
    assert conflicts.list_conflicts(principal=memory.principal).items == ()
    memory.say("elin", "Zange", "2026-01-01")
    assert memory.values("elin", "2027-01-01") == ["Zange"]


def test_of_two_that_claim_the_same_time_one_stays_and_the_contradiction_is_kept(
    memory: Memory, register: Callable[..., None]
) -> None:
    register()
    first = memory.say("elin", "Hammer", "2019-01-01")
    memory.say("elin", "Säge", "2019-01-01")
    change(memory, cardinality="functional")
    assert memory.values("elin", "2020-01-01") == ["Säge"]
    (kept,) = conflicts.list_conflicts(principal=memory.principal).items
    assert kept.other_fact_id == first


def test_with_several_values_at_a_time_nothing_is_lost_and_more_may_come(
    memory: Memory, register: Callable[..., None]
) -> None:
    register(cardinality="functional")
    memory.say("elin", "Hammer", "2019-01-01")
    memory.say("elin", "Säge", "2021-01-01")
    change(memory, cardinality="set")
    assert memory.values("elin", "2020-01-01") == ["Hammer"]
    memory.say("elin", "Bohrer", "2022-01-01")
    assert memory.values("elin", "2023-01-01") == ["Bohrer", "Säge"]


def test_spellings_that_are_equal_now_are_one_belief(memory: Memory, register: Callable[..., None]) -> None:
    register()
    memory.say("elin", "Hammer", "2019-01-01", "2021-01-01")
    old = memory.say("elin", "hammer", "2020-01-01")
    change(memory, ignore_case=True)
    assert memory.values("elin", "2019-06-01") == ["Hammer"]
    assert memory.values("elin", "2020-06-01") == ["hammer"]
    assert conflicts.list_conflicts(principal=memory.principal).items == ()
    facts.retract_fact(principal=memory.principal, fact_id=old)  # an id of any age is taken
    assert memory.values("elin", "2022-01-01") == []


def test_what_holds_both_ways_now_is_known_from_both_ends(memory: Memory, register: Callable[..., None]) -> None:
    register(value_type="entity")
    memory.say("elin", "joss", "2019-01-01")
    memory.say("joss", "elin", "2020-01-01")
    memory.say("elin", "kaya", "2019-01-01", "2020-01-01")
    change(memory, symmetric=True)
    assert memory.values("joss", "2019-06-01") == ["elin"]
    assert memory.values("joss", "2021-01-01") == ["elin"]
    assert memory.values("kaya", "2019-06-01") == ["elin"]
    believed = [row for row in memory.rows() if row.superseded_at is None]
    assert len(believed) == 2 * sum(row.mirror_of is None for row in believed)
    change(memory, symmetric=False)
    assert memory.values("kaya", "2019-06-01") == []
    assert memory.values("elin", "2019-06-01") == ["joss", "kaya"]
    assert all(row.mirror_of is None for row in memory.rows() if row.superseded_at is None)


def test_every_memory_follows_and_the_log_tells_who_changed_what(memory: Memory, register: Callable[..., None]) -> None:
    register()
    clara = Memory(person(make_user("clara")))
    for each in (memory, clara):
        each.say("elin", "Hammer", "2019-01-01")
        each.say("elin", "Säge", "2020-01-01")
    change(memory, cardinality="functional")
    for each in (memory, clara):
        assert each.values("elin", "2021-01-01") == ["Säge"]
    entry = AuditEntry.objects.get(kind=AuditEntry.Kind.PREDICATE_CHANGED)
    assert (entry.acted_by, entry.details) == ("system:test", {"predicate": KEY, "rules": "cardinality:functional"})


def test_broken_off_it_goes_on_where_it_was(
    memory: Memory, register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    register()
    for name in PEOPLE:
        memory.say(name, "Hammer", "2019-01-01")
        memory.say(name, "Säge", "2020-01-01")
    rewrite, calls = predicates._rewrite, 0

    def fails_at_the_second(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise RuntimeError("power cut")
        rewrite(*args)

    monkeypatch.setattr(predicates, "_SUBJECTS_AT_ONCE", 1)
    monkeypatch.setattr(predicates, "_rewrite", fails_at_the_second)
    change(memory, cardinality="functional")
    first = [row for row in memory.rows() if row.superseded_at is not None]
    assert len(first) == 2  # one subject is done, the others wait
    follow(memory)
    assert [memory.values(name, "2021-01-01") for name in PEOPLE] == [["Säge"]] * 3
    assert len([row for row in memory.rows() if row.superseded_at is not None]) == 6
    assert not Work.objects.filter(dedupe_key=KEY).exists()


@pytest.mark.parametrize("seed", range(8))
def test_no_old_answer_moves_and_no_two_values_hold_at_once(
    memory: Memory, register: Callable[..., None], seed: int
) -> None:
    register(value_type="any")
    chance = random.Random(seed)  # noqa: S311
    moments = [f"20{year}-07-01" for year in range(10, 20)]
    for _step in range(14):
        start = chance.randrange(10, 19)
        until = None if chance.random() < 0.4 else f"20{chance.randrange(start + 1, 21)}-01-01"
        memory.say("elin", chance.choice(["a", "A", "b"]), f"20{start}-01-01", until, polarity=chance.random() < 0.8)
    answered = {(at, memory.now): memory.values("elin", at, memory.now) for at in moments}
    covered = {at: bool(memory.values("elin", at)) for at in moments}
    for flags in ({"ignore_case": True}, {"cardinality": "functional"}, {"cardinality": "set"}, {"ignore_case": False}):
        change(memory, **flags)
        for (at, known), values in answered.items():
            assert memory.values("elin", at, known) == values
        now = {at: memory.values("elin", at) for at in moments}
        answered |= {(at, memory.now): values for at, values in now.items()}
        if flags.get("cardinality") == "functional":
            assert all(len(values) <= 1 for values in now.values())
        if flags == {"cardinality": "functional"}:
            assert {at: bool(values) for at, values in now.items()} == covered_by_opposites(memory, moments, covered)


def covered_by_opposites(memory: Memory, moments: list[str], covered: dict[str, bool]) -> dict[str, bool]:
    """Where something held before, something holds still: only a no that says the opposite takes a value's place."""
    said_no = {
        at
        for at in moments
        for row in memory.rows()
        if row.superseded_at is None
        and not row.polarity
        and row.valid_from <= datetime.fromisoformat(at).replace(tzinfo=UTC)
        and (row.valid_to is None or datetime.fromisoformat(at).replace(tzinfo=UTC) < row.valid_to)
    }
    now = {at: bool(memory.values("elin", at)) for at in moments}
    return {at: now[at] if at in said_no else covered[at] for at in moments}


def test_whoever_wrote_by_the_old_rules_a_moment_too_late_is_found(
    memory: Memory, register: Callable[..., None], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "MAX_AGE_SECONDS", 60)
    register(label_de="Werkzeug", label_en="tool")
    catalogue.catalogue()  # what this process goes on by
    gerda = make_user("gerda")
    gerda.is_staff = gerda.is_superuser = True
    gerda.save()
    client.force_login(gerda)
    old = catalogue._cached
    form = {
        "label_de": "Werkzeug",
        "label_en": "tool",
        "state": "loaded",
        "cardinality": "functional",
        "value_type": "any",
        "authority": "person",
        "classification": "1",
    }
    answer = client.post(f"/admin/registry/predicate/{quote(KEY)}/change/", form)
    assert answer.status_code == 302, answer.content.decode()
    catalogue._cached = old  # another process has not heard of it yet
    memory.say("elin", "Hammer", "2019-01-01")
    memory.say("elin", "Säge", "2020-01-01")
    assert memory.values("elin", "2021-01-01") == ["Hammer", "Säge"]
    follow(memory)
    assert memory.values("elin", "2021-01-01") == ["Säge"]


def test_the_command_changes_waits_and_counts(
    memory: Memory, register: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "MAX_AGE_SECONDS", 0.1)
    register()
    memory.say("elin", "Hammer", "2019-01-01")
    memory.say("elin", "Säge", "2020-01-01")
    call_command("predicate", "usage", KEY)
    assert "2 facts believed, 0 no longer, 0 waiting, in 1 memories" in capsys.readouterr().out
    call_command("predicate", "change", KEY, "--cardinality", "functional", "--immutable")
    assert f"{KEY} is changed." in capsys.readouterr().out
    assert memory.values("elin", "2021-01-01") == ["Säge"]
    with pytest.raises(CommandError):
        call_command("predicate", "change", KEY, "--cardinality", "set")  # what never changes has one value
    with pytest.raises(CommandError):
        call_command("predicate", "change", "test:nothing", "--cardinality", "set")
    with pytest.raises(CommandError, match="no predicate test:nothing"):
        call_command("predicate", "usage", "test:nothing")
    with pytest.raises(CommandError):
        call_command("predicate", "change", KEY)
