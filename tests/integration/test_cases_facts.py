"""Faults that people met in systems of this kind, about single facts: each with the right behaviour."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind, person
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities, export, proposals
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from tests.conftest import make_user


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Memory:
    """Anna's memory, written day by day."""

    def __init__(self, user: User) -> None:
        self.principal = person(user)

    def do(self, day: str, *operations: dict[str, Any], principal: Principal | None = None) -> list[OperationResult]:
        with clock.frozen(at(day)):
            proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
            return commit_proposal(principal=principal or self.principal, proposal=proposal).results

    def meet(self, *refs: str) -> None:
        self.do(
            "2024-01-01",
            *(
                {"op": "upsert_entity", "id_hint": ref, "kind": ref.split(":")[0], "canonical_name": ref.split(":")[1]}
                for ref in refs
            ),
        )

    def say(self, day: str, subject: str, predicate: str, what: Any, **more: Any) -> OperationResult:
        is_ref = isinstance(what, str) and what.split(":")[0] in ("person", "place", "project", "organisation")
        target = {"op": "assert_relationship", "object_ref": what} if is_ref else {"object_value": what}
        operation = {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, **target, **more}
        return self.do(day, operation)[0]

    def id(self, ref: str) -> UUID:
        return entities.get_entity(principal=self.principal, ref=ref).id

    def facts(
        self, subject: str, predicate: str, valid: str = "2027-01-01", known: str | None = None, **more: Any
    ) -> list[FactView]:
        with clock.frozen(at("2027-01-01")):
            answer = asof.entity_facts(
                principal=self.principal,
                entity_id=self.id(subject),
                predicate=predicate,
                valid_at=at(valid),
                known_at=at(known) if known else None,
                **more,
            )
        return list(answer.facts)

    def values(self, *args: Any, **more: Any) -> list[str]:
        return sorted(fact.object.label for fact in self.facts(*args, **more) if fact.polarity)

    def history(self, subject: str, predicate: str) -> list[FactView]:
        found = asof.history(principal=self.principal, entity_id=self.id(subject), predicate=predicate, beliefs="all")
        return sorted(found, key=lambda fact: (fact.recorded_at, fact.valid_from or at("0001-01-02")))

    def waiting(self) -> int:
        return len(proposals.list_proposals(principal=self.principal))


@pytest.fixture
def memory(database: None) -> Memory:
    with clock.frozen(at("2023-12-31")):  # before anything is said: system time never goes back
        memory = Memory(make_user("anna"))
    memory.meet("person:jonas", "person:mira", "person:elin", "place:ulm", "place:graz", "place:turin", "place:malmoe")
    return memory


@pytest.fixture
def register(database: None) -> Callable[..., Predicate]:
    """Registers a predicate for this test alone."""

    def make(key: str, **more: Any) -> Predicate:
        made = Predicate.objects.create(key=key, source="test", **more)
        catalogue.forget()
        return made

    return make


def test_case_c06_a_correction_that_begins_earlier_leaves_the_old_belief_in_the_past(
    memory: Memory, register: Callable[..., Predicate]
) -> None:
    register("test:employer", cardinality="functional")
    memory.say("2026-03-02", "person:jonas", "test:employer", "Firma Nord", valid_from="2025-03-01")
    memory.say("2026-11-30", "person:jonas", "test:employer", "Firma Süd", valid_from="2025-01-01", correction=True)

    def employer(valid: str, known: str) -> list[str]:
        return memory.values("person:jonas", "test:employer", valid, known)

    assert employer("2025-02-01", "2026-12-01") == employer("2025-06-01", "2026-12-01") == ["Firma Süd"]
    assert employer("2025-02-01", "2026-03-03") == []
    assert employer("2025-06-01", "2026-03-03") == ["Firma Nord"]
    nord, sued = memory.history("person:jonas", "test:employer")
    assert all(row.valid_to is None for row in (nord, sued))
    assert (nord.superseded_at, nord.closed_by_fact_id, nord.closed_reason) == (sued.recorded_at, sued.id, "corrected")


def test_case_c07_a_mistake_is_not_a_change(memory: Memory) -> None:
    memory.say("2026-01-10", "person:mira", "born_on", "1990-04-03")
    memory.say("2026-01-10", "person:mira", "phone", "+49 30 5550101", valid_from="2026-01-01")
    first = memory.facts("person:mira", "phone")[0]
    memory.say("2026-11-30", "person:mira", "born_on", "1990-03-04", correction=True)
    memory.say(
        "2026-12-01",
        "person:mira",
        "phone",
        "+49 30 5550102",
        valid_from="2026-12-01",
        replaces_fact_id=str(first.id),
    )
    for valid in ("1990-05-01", "2026-06-01", "2026-12-24"):
        assert memory.values("person:mira", "born_on", valid) == ["1990-03-04"]
        assert memory.values("person:mira", "born_on", valid, "2026-06-01") == ["1990-04-03"]
    assert memory.values("person:mira", "phone", "2026-11-30") == ["+49 30 5550101"]
    assert memory.values("person:mira", "phone", "2026-12-02") == ["+49 30 5550102"]
    reasons = {
        fact.predicate: fact.closed_reason
        for name in ("born_on", "phone")
        for fact in memory.history("person:mira", name)
        if fact.closed_reason
    }
    assert reasons == {"born_on": "corrected", "phone": "changed"}


@pytest.mark.parametrize("old_news_first", [True, False])
def test_case_c09_old_news_does_not_undo_what_holds_now(memory: Memory, old_news_first: bool) -> None:
    def ulm(day: str) -> OperationResult:
        return memory.say(day, "person:jonas", "lives_in", "place:ulm", valid_from="2024-09-21")

    def graz(day: str) -> OperationResult:
        return memory.say(day, "person:jonas", "lives_in", "place:graz", valid_from="2019-05")

    if old_news_first:
        graz("2026-09-21")
        ulm("2026-11-30")
    else:
        ulm("2026-09-21")
        graz("2026-11-30")
        assert len([row for row in memory.history("person:jonas", "lives_in") if row.object.label == "ulm"]) == 1
    assert memory.values("person:jonas", "lives_in", "2020-06-01") == ["graz"]
    assert memory.values("person:jonas", "lives_in", "2024-09-20") == ["graz"]
    assert memory.values("person:jonas", "lives_in", "2024-09-20T22:00") == ["ulm"]
    (now,) = memory.facts("person:jonas", "lives_in")
    (then,) = memory.facts("person:jonas", "lives_in", "2020-06-01")
    assert (now.object.label, now.valid_to) == ("ulm", None)
    assert (then.valid_from_precision, then.valid_to, then.valid_to_stated) == ("month", now.valid_from, False)


def test_case_c11_no_end_has_one_spelling_and_an_unknown_end_is_an_end(memory: Memory) -> None:
    memory.meet("organisation:chor-a", "organisation:verein-b", "organisation:team-c", "organisation:team-d")
    ends = {"chor-a": None, "verein-b": "unknown", "team-c": "9999-12-31T23:59:59Z", "team-d": "infinity"}
    for name, end in ends.items():
        said = memory.say(
            "2026-06-01", "person:jonas", "member_of", f"organisation:{name}", valid_from="2020-01-01", valid_to=end
        )
        assert said.outcome is Outcome.COMMITTED
    assert memory.values("person:jonas", "member_of") == ["chor-a", "team-c", "team-d"]
    assert "verein-b" in memory.values("person:jonas", "member_of", "2020-01-02")
    (left,) = [fact for fact in memory.history("person:jonas", "member_of") if fact.object.label == "verein-b"]
    assert left.valid_to is not None
    assert (left.valid_to.date(), left.valid_to_precision, left.status) == (date(2026, 6, 1), "unknown", "expired")
    with export.export_own(principal=memory.principal) as lines:
        rows = [line["row"] for line in map(json.loads, lines) if line.get("table") == "facts"]
    ends_stored = [row["valid_to"] for row in rows if row["predicate"] == "member_of"]
    assert len(ends_stored) == 4
    assert ends_stored.count(None) == 3


def test_case_c15_saying_it_again_is_evidence(memory: Memory) -> None:
    quotes = {
        "2026-06-01": "My favourite tea is rooibos",
        "2026-06-02": "Rooibos is the tea I like most",
        "2026-06-03": "My favourite tea is rooibos",
    }
    outcomes = [
        memory.say(
            day,
            "me",
            "favourite",
            "rooibos",
            evidence={"kind": "note", "text": quote, "ref": f"day:{day}"},
        ).outcome
        for day, quote in quotes.items()
    ]
    assert outcomes == [Outcome.COMMITTED, Outcome.RESTATED, Outcome.RESTATED]
    (fact,) = memory.history("me", "favourite")
    assert [piece.text for piece in fact.evidence] == list(quotes.values())
    assert (fact.valid_from, fact.superseded_at, fact.mentions) == (at("2026-06-01"), None, 3)
    assert fact.evidence[-1].recorded_at == at("2026-06-03")
    agent = replace(memory.principal, kind=PrincipalKind.AGENT, acted_by=f"agent:a@{memory.principal.acted_by}")
    delete = {"op": "invalidate_fact", "target_fact_id": str(fact.id), "reason": "duplicate"}
    (result,) = memory.do("2026-06-04", delete, principal=agent)
    assert result.outcome is Outcome.PENDING  # what a person said is not an agent's to delete
    assert memory.values("me", "favourite") == ["rooibos"]


def test_case_c17_two_contexts_are_no_contradiction(memory: Memory) -> None:
    contexts = {"work": "context:work", "private": "context:private"}
    memory.meet(*contexts.values())
    said = {
        ("uses_device", "work"): "Fairphone",
        ("uses_device", "private"): "Pixel",
        ("preferred_language", "work"): "English",
        ("preferred_language", "private"): "German",
    }
    for (predicate, where), value in said.items():
        result = memory.say("2026-06-01", "person:mira", predicate, value, applies_to_ref=contexts[where])
        assert result.outcome is Outcome.COMMITTED
    assert memory.waiting() == 0

    def there(where: str) -> list[str]:
        context = memory.id(contexts[where])
        return [
            *memory.values("person:mira", "uses_device", applies_to=context),
            *memory.values("person:mira", "preferred_language", applies_to=context),
        ]

    assert there("work") == ["Fairphone", "English"]
    assert there("private") == ["Pixel", "German"]
    shown = {fact.object.label: fact.applies_to_ref for fact in memory.facts("person:mira", "preferred_language")}
    assert shown == {"English": "context:work", "German": "context:private"}
    memory.say("2026-07-01", "person:mira", "preferred_language", "French", applies_to_ref=contexts["work"])
    assert memory.values("person:mira", "preferred_language") == ["French", "German"]


def test_a_belief_of_another_context_is_replaced_alone(memory: Memory) -> None:
    memory.meet("context:work", "context:private")
    english = memory.say(
        "2026-06-01",
        "person:mira",
        "preferred_language",
        "English",
        applies_to_ref="context:private",
        valid_to="2026-06-15",
    )
    memory.say("2026-06-20", "person:mira", "preferred_language", "German", applies_to_ref="context:private")
    memory.say(
        "2026-07-01",
        "person:mira",
        "preferred_language",
        "English",
        applies_to_ref="context:work",
        valid_from="2026-06-01",
        replaces_fact_id=str(english.fact_id),
        correction=True,
    )
    assert memory.values("person:mira", "preferred_language", "2026-06-10") == ["English"]
    assert memory.values("person:mira", "preferred_language") == ["English", "German"]


def test_case_c19_each_predicate_knows_how_many_values_it_takes(memory: Memory) -> None:
    memory.meet("project:eiche", "project:ulme", "place:bergen", "place:bodoe", "person:maren", "person:tjark")
    turin = memory.say("2026-01-01", "person:elin", "lives_in", "place:turin")
    malmoe = memory.say("2026-06-01", "person:elin", "lives_in", "place:malmoe")
    assert memory.values("person:elin", "lives_in") == ["malmoe"]
    closed = next(fact for fact in memory.history("person:elin", "lives_in") if fact.id == turin.fact_id)
    assert closed.closed_by_fact_id == malmoe.fact_id
    assert memory.facts("person:elin", "lives_in", "2026-03-01")[0].valid_to == at("2026-06-01")

    for other in ("person:maren", "person:tjark"):
        memory.say("2026-01-01", "person:elin", "knows", other)
    assert memory.values("person:elin", "knows") == ["maren", "tjark"]

    eiche = memory.say("2026-07-01", "person:elin", "participates_in", "project:eiche", valid_from="2026-01-01")
    memory.say("2026-08-01", "person:elin", "participates_in", "project:ulme", replaces_fact_id=str(eiche.fact_id))
    assert memory.values("person:elin", "participates_in", "2026-03-01") == ["eiche"]
    assert memory.values("person:elin", "participates_in") == ["ulme"]

    for what in ("stamps", "coins"):
        assert memory.say("2026-01-01", "person:elin", "collects", what).outcome is Outcome.COMMITTED
    assert memory.values("person:elin", "collects") == ["coins", "stamps"]
    listed = Predicate.objects.get(key="collects")
    assert (listed.state, listed.cardinality, listed.source) == ("unreviewed", "set", "person")

    memory.say("2026-01-01", "person:elin", "born_in", "place:bergen")
    second = memory.say("2026-06-01", "person:elin", "born_in", "place:bodoe")
    assert (second.outcome, memory.values("person:elin", "born_in")) == (Outcome.PENDING, ["bergen"])
    assert [view.kind for view in proposals.list_proposals(principal=memory.principal)] == ["conflict"]


def test_a_stale_write_is_refused_with_the_present_value(memory: Memory) -> None:
    seen = memory.say("2026-01-01", "person:elin", "lives_in", "place:turin")
    moved = memory.say("2026-06-01", "person:elin", "lives_in", "place:malmoe", based_on_fact_id=str(seen.fact_id))
    assert moved.outcome is Outcome.COMMITTED
    late = memory.say("2026-06-02", "person:elin", "lives_in", "place:ulm", based_on_fact_id=str(seen.fact_id))
    assert (late.outcome, late.code, late.field) == (Outcome.REJECTED, "stale", "based_on_fact_id")
    (present,) = late.extra["present"]
    assert (present["object_ref"], present["fact_id"]) == ("place:malmoe", str(moved.fact_id))
    assert memory.values("person:elin", "lives_in") == ["malmoe"]


def test_building_on_a_fact_about_something_else_is_refused(memory: Memory) -> None:
    other = memory.say("2026-01-01", "person:mira", "lives_in", "place:turin")
    built = memory.say("2026-06-01", "person:elin", "lives_in", "place:ulm", based_on_fact_id=str(other.fact_id))
    assert built.code == "based_on_another"
    assert memory.values("person:mira", "lives_in") == ["turin"]


@pytest.mark.parametrize(
    ("predicate", "value", "fits"),
    [
        ("born_on", "1990-04-03", True),
        ("born_on", "1990-04", True),
        ("born_on", "--02-29", True),
        ("born_on", "1990-02-30", False),
        ("born_on", "1990-13", False),
        ("born_on", "19900403", False),
        ("born_on", "3. April", False),
        ("age", 28, True),
        ("age", "28", False),
        ("age", True, False),
        ("feeding_time_morning", "07:30", True),
        ("feeding_time_morning", "7 Uhr", False),
        ("feeding_time_morning", "24:00", False),
        ("email", "elin@example.org", True),
        ("email", "elin at example", False),
        ("phone", "+49 30 5550101", True),
        ("phone", "0049 (0)30/555 01 01", True),
        ("phone", "+49 30 5550101 2222 3333", False),
        ("phone", "+0 30 55", False),
        ("phone", "ruf mich an", False),
    ],
)
def test_a_literal_is_of_its_predicates_type(memory: Memory, predicate: str, value: Any, fits: bool) -> None:
    memory.meet("pet:luna")
    subject = "pet:luna" if predicate.startswith("feeding") else "person:elin"
    said = memory.say("2026-01-01", subject, predicate, value)
    assert said.code == (None if fits else "value_misfit"), said.reason
    assert len(memory.facts(subject, predicate)) == (1 if fits else 0)


def test_a_telephone_number_is_the_same_however_it_is_spaced(memory: Memory) -> None:
    spellings = ["+49 30 5550101", "0049 30 555 01 01", "+49 (0)30 5550101", "+49305550101"]
    outcomes = [memory.say("2026-01-01", "person:elin", "phone", number).outcome for number in spellings]
    assert outcomes == [Outcome.COMMITTED, *[Outcome.RESTATED] * 3]
    assert memory.values("person:elin", "phone") == spellings[:1]


def test_a_value_that_breaks_the_schema_is_refused_with_the_reason(
    memory: Memory, register: Callable[..., Predicate]
) -> None:
    schema = {"type": "object", "required": ["grams"], "properties": {"grams": {"type": "number", "maximum": 500}}}
    register("test:portion", value_schema=schema)
    assert memory.say("2026-01-01", "person:elin", "test:portion", {"grams": 60}).outcome is Outcome.COMMITTED
    for value, reason in (("60 g", "object"), ({}, "grams"), ({"grams": 501}, "grams: "), ({"grams": "x"}, "number")):
        said = memory.say("2026-01-01", "person:elin", "test:portion", value)
        assert (said.outcome, said.code, said.field) == (Outcome.REJECTED, "value_misfit", "object_value")
        assert reason in (said.reason or "")
    assert len(memory.facts("person:elin", "test:portion")) == 1


def test_integrations_use_only_what_is_registered(memory: Memory, register: Callable[..., Predicate]) -> None:
    register("test:known")
    vendor = replace(memory.principal, kind=PrincipalKind.INTEGRATION, acted_by="integration:test")
    both = [
        {"op": "assert_fact", "subject_ref": "person:elin", "predicate": key, "object_value": "x"}
        for key in ("test:known", "test:unknown")
    ]
    known, unknown = memory.do("2026-01-01", *both, principal=vendor)
    assert known.code is None
    assert (unknown.outcome, unknown.code, unknown.field) == (Outcome.REJECTED, "unknown_predicate", "predicate")
    assert not Predicate.objects.filter(key="test:unknown").exists()


def test_a_deprecated_predicate_keeps_its_facts_and_takes_no_new_ones(
    memory: Memory, register: Callable[..., Predicate]
) -> None:
    register("test:old")
    first = memory.say("2026-01-01", "person:elin", "test:old", "a")
    Predicate.objects.filter(key="test:old").update(state="deprecated")
    catalogue.forget()
    assert memory.say("2026-01-02", "person:elin", "test:old", "b").code == "deprecated_predicate"
    corrected = memory.say(
        "2026-01-03", "person:elin", "test:old", "c", correction=True, replaces_fact_id=str(first.fact_id)
    )
    assert corrected.outcome is Outcome.COMMITTED
    assert memory.values("person:elin", "test:old") == ["c"]


def test_no_is_said_of_every_predicate(memory: Memory, register: Callable[..., Predicate]) -> None:
    register("test:functional", cardinality="functional")
    register("test:set")
    for predicate in ("test:functional", "test:set"):
        memory.say("2026-01-01", "person:elin", predicate, "x")
        memory.say("2026-02-01", "person:elin", predicate, "x", polarity=False)
        assert [(f.polarity, f.object.label) for f in memory.facts("person:elin", predicate)] == [(False, "x")]
        memory.say("2026-03-01", "person:elin", predicate, "y")
        assert [f.polarity for f in memory.facts("person:elin", predicate)] == [False, True]
        memory.say("2026-04-01", "person:elin", predicate, "x")
        expected = ["x"] if predicate == "test:functional" else ["x", "y"]
        assert memory.values("person:elin", predicate) == expected
