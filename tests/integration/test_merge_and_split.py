"""Merging two entities and taking it back: exact on both axes, and nothing is lost on the way."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, conflicts, entities
from gedaechtnis.memory.selectors.moments import read_known_at
from gedaechtnis.memory.services import facts, merges, splits, undo
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias, EntityMerge, Fact, WorldEvent


class Memory:
    """One scope of one person, told what the tests need."""

    def __init__(self, principal: Principal, scope_ref: str | None = None) -> None:
        self.principal = principal
        self.scope_ref = scope_ref or principal.default_scope

    def say(self, *operations: dict[str, Any]) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        results = commit_proposal(principal=self.principal, proposal=proposal, scope_ref=self.scope_ref).results
        assert [result.code for result in results] == [None] * len(results)
        return results

    def meet(self, name: str, kind: str = "person", *aliases: str) -> UUID:
        (result,) = self.say(
            {
                "op": "upsert_entity",
                "id_hint": f"{kind}:#{name}",
                "kind": kind,
                "canonical_name": name,
                "aliases": list(aliases),
            }
        )
        assert result.entity_id is not None
        return result.entity_id

    def state(self, subject: UUID, predicate: str, value: str | UUID, since: str | None = None, **more: Any) -> UUID:
        what: dict[str, Any] = {"op": "assert_fact", "object_value": value}
        if isinstance(value, UUID):
            what = {"op": "assert_relationship", "object_ref": str(value)}
        (result,) = self.say({**what, "subject_ref": str(subject), "predicate": predicate, "valid_from": since, **more})
        assert result.fact_id is not None
        return result.fact_id

    def merge(self, source: UUID, target: UUID, **more: Any) -> merges.MergeResult:
        return merges.merge_entities(principal=self.principal, source_id=source, target_id=target, **more)

    def split(self, source: UUID, *move: UUID) -> splits.SplitResult:
        return splits.split_entity(principal=self.principal, source_id=source, move=move)

    def holds(self, entity: UUID, basis: str | None = None) -> list[tuple[str, str]]:
        """(predicate, object) of what holds about an entity, now or as known at a basis; names aside."""
        known = read_known_at(basis, principal=self.principal) if basis else None
        answer = asof.entity_facts(principal=self.principal, entity_id=entity, known_at=known)
        return sorted((fact.predicate, fact.object.label) for fact in answer.facts if fact.predicate != "name")

    def basis(self) -> str:
        return asof.entity_facts(principal=self.principal, entity_id=UUID(int=0)).basis

    def believed(self) -> list[tuple[Any, ...]]:
        """Every believed row and alias, as far as it says something."""
        with scope(self.principal):
            rows: Iterable[tuple[Any, ...]] = Fact.objects.believed().values_list(
                "subject_id",
                "predicate",
                "polarity",
                "object_value",
                "object_entity_id",
                "applies_to_id",
                "valid_from",
                "valid_to",
                "valid_to_stated",
                "rank",
                "origin_fact_id",
                "made_at",
            )
            aliases = EntityAlias.objects.filter(superseded_at=None).values_list(
                "entity_id", "alias", "key", "valid_from", "valid_to"
            )
            return sorted([*map(tuple, rows), *map(tuple, aliases)], key=str)


@pytest.fixture
def memory(anna: User) -> Memory:
    return Memory(person(anna))


def test_line_16_two_then_one_then_two(memory: Memory) -> None:
    one, other = memory.meet("Gerda Voss"), memory.meet("Frau Voss")
    memory.state(one, "likes", "Tee")
    memory.state(other, "speaks", "Dänisch")
    before = memory.basis()
    memory.merge(other, one)
    merged = memory.basis()
    memory.state(one, "likes", "Schach")
    memory.split(other)
    assert (memory.holds(one, before), memory.holds(other, before)) == ([("likes", "Tee")], [("speaks", "Dänisch")])
    together = [("likes", "Tee"), ("speaks", "Dänisch")]
    assert (memory.holds(one, merged), memory.holds(other, merged)) == (together, together)
    assert memory.holds(one) == [("likes", "Schach"), ("likes", "Tee")]
    assert memory.holds(other) == [("speaks", "Dänisch")]


def test_case_c31_nothing_is_merged_into_itself(memory: Memory) -> None:
    one, other = memory.meet("Arno Beck"), memory.meet("A. Beck")
    memory.merge(other, one)
    before = memory.believed()
    for source, target in ((one, one), (one, other), (other, one), (other, other)):
        with pytest.raises(Problem) as refused:
            memory.merge(source, target)
        assert (refused.value.code, refused.value.status) == ("merge_into_self", 422)
    assert memory.believed() == before
    with scope(memory.principal):
        assert WorldEvent.objects.filter(event_type=merges.ENTITY_MERGED).count() == 1


def test_case_c33_the_merged_id_leads_to_the_survivor(memory: Memory) -> None:
    one, other = memory.meet("Ida Frost"), memory.meet("I. Frost")
    for entity in (one, other):
        for value in ("a", "b", "c"):
            memory.state(entity, "interest", f"{value} von {entity}")
    before = memory.basis()
    own = {entity: memory.holds(entity) for entity in (one, other)}
    memory.merge(other, one)
    found = entities.get_entity(principal=memory.principal, ref=str(other))
    assert (found.id, found.redirected_from) == (one, other)
    assert "I. Frost" in found.aliases
    assert len(memory.holds(other)) == len(memory.holds(one)) == 6
    assert {entity: memory.holds(entity, before) for entity in (one, other)} == own


def test_case_c34_merges_are_undone_in_their_order_and_lose_nothing(memory: Memory) -> None:
    a, b, c = memory.meet("Anton Weiss"), memory.meet("Bernd Weiss"), memory.meet("Anton W. Weiss")
    kept = {a: memory.state(a, "phone", "0101"), b: memory.state(b, "phone", "0202")}
    memory.merge(b, a)
    chess = memory.state(
        a, "likes", "Schach", evidence={"kind": "note", "text": "Bernd Weiss spielt gern Schach", "ref": "n:1"}
    )
    tea = memory.state(a, "likes", "Tee")
    merged = memory.basis()
    memory.merge(a, c)
    unchanged = memory.believed()
    with pytest.raises(Problem) as refused:
        memory.split(b)
    assert (refused.value.status, refused.value.extra["split_first"]) == (409, str(a))
    assert memory.believed() == unchanged
    memory.split(a)
    result = memory.split(b)
    assert not result.already_reversed
    assert {entity: memory.holds(entity) for entity in (a, b)} == {
        a: [("likes", "Schach"), ("likes", "Tee"), ("phone", "0101")],
        b: [("phone", "0202")],
    }
    with scope(memory.principal):
        for entity, origin in kept.items():
            row = Fact.objects.believed().get(subject_id=entity, predicate="phone")
            assert row.origin_fact_id == origin
        learned = {Fact.objects.get(pk=one.fact_id).origin_fact_id: one.belongs_to for one in result.learned_since}
    assert learned == {chess: b, tea: a}
    assert memory.split(b).already_reversed
    assert memory.holds(b, merged) == [("likes", "Schach"), ("likes", "Tee"), ("phone", "0101"), ("phone", "0202")]


def test_what_belongs_to_the_other_goes_with_it_when_a_person_says_so(memory: Memory) -> None:
    a, b = memory.meet("Cleo Rau"), memory.meet("Cleopatra Rau")
    memory.merge(b, a)
    chess, tea = memory.state(a, "likes", "Schach"), memory.state(a, "likes", "Tee")
    memory.split(b, chess)
    assert (memory.holds(a), memory.holds(b)) == ([("likes", "Tee")], [("likes", "Schach")])
    assert tea != chess


def test_clashing_values_are_listed_and_the_later_statement_holds(memory: Memory) -> None:
    ulm, graz = memory.meet("Ulm", "place"), memory.meet("Graz", "place")
    a, b = memory.meet("Dora Klee"), memory.meet("D. Klee")
    memory.state(a, "lives_in", ulm, "2020-01-01")
    memory.state(b, "lives_in", graz, "2022-01-01", valid_to="2023-01-01")
    result = memory.merge(b, a)
    assert len(result.clashes) == 1
    (conflict,) = conflicts.list_conflicts(principal=memory.principal).items
    assert ("Graz" in conflict.fact_statement, "Ulm" in conflict.other_statement, conflict.is_open) == (
        True,
        True,
        True,
    )
    lived = [
        (fact.object.label, fact.valid_from and fact.valid_from.year)
        for fact in asof.history(principal=memory.principal, entity_id=a, predicate="lives_in")
    ]
    assert [label for label, _year in lived] == ["Ulm", "Graz", "Ulm"]
    memory.split(b)
    (only,) = asof.history(principal=memory.principal, entity_id=a, predicate="lives_in")
    assert (only.object.label, only.valid_to) == ("Ulm", None)
    assert [one.is_open for one in conflicts.list_conflicts(principal=memory.principal).items] == [False]


def test_what_links_the_two_is_closed_and_listed(memory: Memory) -> None:
    a, b = memory.meet("Emil Horn"), memory.meet("E. Horn")
    memory.state(a, "friend_of", b)
    result = memory.merge(b, a)
    assert len(result.self_loops) == 1
    assert memory.holds(a) == []
    memory.split(b)
    assert memory.holds(a) == [("friend_of", "E. Horn")]
    assert memory.holds(b) == [("friend_of", "Emil Horn")]


def test_what_others_say_about_the_merged_one_follows(memory: Memory) -> None:
    a, b, dog = memory.meet("Fine Lang"), memory.meet("F. Lang"), memory.meet("Hasso", "pet")
    memory.state(dog, "owned_by", b)
    memory.state(b, "married_to", memory.meet("Ole Lang"))
    memory.merge(b, a)
    assert memory.holds(dog) == [("owned_by", "Fine Lang")]
    assert memory.holds(a) == [("married_to", "Ole Lang")]
    assert memory.holds(memory.meet("Ole Lang")) == [("married_to", "Fine Lang")]


def test_names_of_the_merged_one_find_the_survivor_and_then_its_owner_again(memory: Memory) -> None:
    a, b = memory.meet("Gustav Pohl"), memory.meet("Gust", "person", "Gustl")
    memory.merge(b, a)
    assert memory.meet("Gustl") == memory.meet("Gust") == a
    memory.split(b)
    assert memory.meet("Gustl") == memory.meet("Gust") == b
    assert memory.meet("Gustav Pohl") == a


def test_kinds_differ_only_by_force_and_nobody_is_merged_away_from_themselves(memory: Memory, anna: User) -> None:
    rex, place = memory.meet("Rex", "pet"), memory.meet("Rex", "place")
    with pytest.raises(Problem, match="kinds_differ"):
        memory.merge(place, rex)
    memory.merge(place, rex, force=True)
    myself = entities.get_entity(principal=memory.principal, ref="me").id
    with pytest.raises(Problem, match="merge_self"):
        memory.merge(myself, memory.meet("Jemand"))


def test_a_merge_built_on_an_older_view_is_refused(memory: Memory) -> None:
    a, b = memory.meet("Hella Most"), memory.meet("H. Most")
    with scope(memory.principal):
        seen = merges.latest_event((a, b))
    memory.state(a, "likes", "Tee")
    with pytest.raises(Problem, match="stale"):
        memory.merge(b, a, based_on_event_id=seen)
    with scope(memory.principal):
        seen = merges.latest_event((a, b))
    memory.merge(b, a, based_on_event_id=seen)


def test_a_groups_entity_is_not_merged_into_a_private_one(anna: User, ben: User) -> None:
    group = groups.create_group(user=anna, name="Haus")
    groups.add_member(user=anna, group_id=group.pk, username=ben.username)
    shared, private = Memory(person(anna), f"group:{group.pk}"), Memory(person(anna))
    ours, mine = shared.meet("Katze Mimi", "pet"), private.meet("Mimi", "pet")
    with pytest.raises(Problem, match="target_too_narrow"):
        private.merge(ours, mine)
    private.merge(mine, ours)
    assert entities.get_entity(principal=person(anna), ref=str(mine)).id == ours
    with scope(person(ben)):
        assert not EntityMerge.objects.exists()


def test_private_notes_follow_a_merge_of_the_groups_entities_and_its_split(anna: User, ben: User) -> None:
    group = groups.create_group(user=anna, name="Haus")
    groups.add_member(user=anna, group_id=group.pk, username=ben.username)
    shared, bens = Memory(person(anna), f"group:{group.pk}"), Memory(person(ben))
    a, b = shared.meet("Mimi", "pet"), shared.meet("Mimmi", "pet")
    facts.add_note(principal=person(ben), entity_id=b, text="kratzt", scope_ref=bens.scope_ref)
    shared.merge(b, a)
    assert bens.holds(a) == [("note", "kratzt")]  # before anything has followed
    do_work()
    with scope(person(ben)):
        assert Fact.objects.believed().get(predicate="note").subject_id == a
    assert bens.holds(a) == bens.holds(b) == [("note", "kratzt")]
    shared.split(b)
    do_work()
    assert (bens.holds(a), bens.holds(b)) == ([], [("note", "kratzt")])


def do_work() -> None:
    while items := work.claim():
        for item in items:
            work.run(item)


@pytest.mark.parametrize("seed", range(12))
def test_merge_then_split_leaves_everything_as_it_was(memory: Memory, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (no secret)
    a, b, others = memory.meet("Ada"), memory.meet("Ada L.", "person", "Adl"), [memory.meet("Cyd"), memory.meet("Dov")]
    places = [memory.meet(name, "place") for name in ("Ulm", "Graz", "Köln")]
    for _step in range(rng.randint(4, 14)):
        who = rng.choice((a, b))
        since = f"{rng.randint(2000, 2020)}-01-01"
        until = f"{rng.randint(2021, 2030)}-01-01" if rng.random() < 0.3 else None
        match rng.randrange(5):
            case 0:
                memory.state(who, "lives_in", rng.choice(places), since, valid_to=until)
            case 1:
                memory.state(who, "likes", rng.choice("xyz"), since, valid_to=until, polarity=rng.random() < 0.7)
            case 2:
                memory.state(who, "married_to", rng.choice(others), since, valid_to=until)
            case 3:
                memory.state(rng.choice(others), "friend_of", who, since, valid_to=until)
            case 4:
                memory.state(who, "friend_of", b if who == a else a, since, valid_to=until)
    before, basis = memory.believed(), memory.basis()
    answers = {entity: memory.holds(entity) for entity in (a, b, *others)}
    memory.merge(b, a)
    merged = {entity: memory.holds(entity) for entity in (a, b, *others)}
    merged_basis = memory.basis()
    result = memory.split(b)
    assert result.not_restored == ()
    assert memory.believed() == before
    for entity in (a, b, *others):
        assert memory.holds(entity) == memory.holds(entity, basis) == answers[entity]
        assert memory.holds(entity, merged_basis) == merged[entity]
    with scope(memory.principal):
        assert Entity.objects.get(pk=b).status == Entity.Status.ACTIVE


def test_undo_writes_back_what_an_event_closed_and_can_itself_be_undone(memory: Memory) -> None:
    ulm, graz, a = memory.meet("Ulm", "place"), memory.meet("Graz", "place"), memory.meet("Ivo")
    memory.state(a, "lives_in", ulm, "2020-01-01")
    before = memory.believed()
    memory.state(a, "lives_in", graz, "2022-01-01")
    after = memory.believed()
    undone = undo.undo_event(principal=memory.principal, event_id=_last_event(memory, a))
    assert memory.believed() == before
    undo.undo_event(principal=memory.principal, event_id=undone.event_id)
    assert memory.believed() == after


def test_undo_is_refused_when_something_moved_since(memory: Memory) -> None:
    ulm, graz, a = memory.meet("Ulm", "place"), memory.meet("Graz", "place"), memory.meet("Jutta")
    memory.state(a, "lives_in", ulm, "2020-01-01")
    memory.state(a, "lives_in", graz, "2022-01-01")
    event = _last_event(memory, a)
    memory.state(a, "lives_in", ulm, "2024-01-01")
    unchanged = memory.believed()
    with pytest.raises(Problem, match="moved_since"):
        undo.undo_event(principal=memory.principal, event_id=event)
    assert memory.believed() == unchanged


def test_undo_takes_back_a_retraction_an_alias_and_a_merge(memory: Memory) -> None:
    a, b = memory.meet("Kurt Au"), memory.meet("K. Au")
    fact = memory.state(a, "married_to", b, "2020-01-01")
    before = memory.believed()
    facts.retract_fact(principal=memory.principal, fact_id=fact)
    undo.undo_event(principal=memory.principal, event_id=_last_event(memory, a))
    assert memory.believed() == before
    memory.say({"op": "add_alias", "entity_ref": str(a), "alias": "Kurtl"})
    undo.undo_event(principal=memory.principal, event_id=_last_event(memory, a))
    assert memory.believed() == before
    merged = memory.merge(b, a)
    undo.undo_event(principal=memory.principal, event_id=merged.event_id)
    assert memory.believed() == before


def test_undoing_an_older_merge_leaves_a_newer_one_alone(memory: Memory) -> None:
    a, b = memory.meet("Nele Au"), memory.meet("N. Au")
    memory.state(b, "likes", "Tee")
    older = memory.merge(b, a)
    memory.split(b)
    memory.merge(b, a)
    with pytest.raises(Problem, match="moved_since"):
        undo.undo_event(principal=memory.principal, event_id=older.event_id)
    assert memory.holds(a) == [("likes", "Tee")]


def test_undo_believes_nothing_about_one_who_stands_for_another(memory: Memory) -> None:
    a, b = memory.meet("Paul Ott"), memory.meet("P. Ott")
    memory.state(a, "address", "Am Bach 1")
    fact = memory.state(b, "address", "Am Berg 2")
    facts.retract_fact(principal=memory.principal, fact_id=fact)
    retraction = _last_event(memory, b)
    memory.merge(b, a)
    with pytest.raises(Problem, match="moved_since"):
        undo.undo_event(principal=memory.principal, event_id=retraction)
    memory.split(b)
    undo.undo_event(principal=memory.principal, event_id=retraction)
    assert (memory.holds(a), memory.holds(b)) == ([("address", "Am Bach 1")], [("address", "Am Berg 2")])


def test_an_id_from_before_a_merge_still_ends_and_retracts(memory: Memory) -> None:
    a, b, other = memory.meet("Rosa Lenz"), memory.meet("R. Lenz"), memory.meet("Jan Lenz")
    tea, wedding = memory.state(b, "likes", "Tee", "2020-01-01"), memory.state(b, "married_to", other)
    memory.merge(b, a)
    facts.end_fact(principal=memory.principal, fact_id=tea, at="2021-01-01")
    facts.retract_fact(principal=memory.principal, fact_id=wedding)
    assert memory.holds(a) == memory.holds(other) == []
    (ended,) = asof.history(principal=memory.principal, entity_id=a, predicate="likes")
    assert (ended.origin_fact_id, ended.valid_to and ended.valid_to.year) == (tea, 2020)


def test_undo_of_a_foreign_event_answers_like_a_missing_one(memory: Memory, clara: User) -> None:
    a = memory.meet("Lore")
    memory.state(a, "likes", "Tee")
    event = _last_event(memory, a)
    codes = set()
    for id in (event, UUID(int=7)):
        with pytest.raises(Problem) as refused:
            undo.undo_event(principal=person(clara), event_id=id)
        codes.add((refused.value.code, refused.value.detail.replace(str(id), "…")))
    assert len(codes) == 1


def _last_event(memory: Memory, entity: UUID) -> UUID:
    with scope(memory.principal):
        event = merges.latest_event((entity,))
    assert event is not None
    return event


def test_a_merge_keeps_its_place_in_time(memory: Memory) -> None:
    a, b = memory.meet("Mona"), memory.meet("M.")
    memory.merge(b, a)
    with scope(memory.principal):
        merge = EntityMerge.objects.get()
    assert merge.tick_from <= datetime.now(UTC)
    assert merge.tick_to is None
