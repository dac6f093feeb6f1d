"""What holds both ways is two rows that always say the same; what has two names is stored under one."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Q

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services import facts
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact

PEOPLE = ("elin", "joss", "kaya", "lior")


class People:
    """Four people in anna's memory who marry and befriend each other."""

    def __init__(self, user: User) -> None:
        self.principal = person(user)
        self.say(
            *(
                {"op": "upsert_entity", "id_hint": f"person:{name}", "kind": "person", "canonical_name": name.title()}
                for name in PEOPLE
            )
        )

    def say(self, *operations: dict[str, Any]) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        return commit_proposal(principal=self.principal, proposal=proposal).results

    def tie(self, one: str, predicate: str, other: str, since: str | None = None, **more: Any) -> OperationResult:
        (result,) = self.say(
            {
                "op": "assert_relationship",
                "subject_ref": f"person:{one}",
                "predicate": predicate,
                "object_ref": f"person:{other}",
                "valid_from": since,
                **more,
            }
        )
        assert result.code is None, result
        return result

    def id(self, name: str) -> UUID:
        return entities.get_entity(principal=self.principal, ref=f"person:{name}").id

    def of(self, name: str, predicate: str, at: str) -> list[str]:
        """To whom somebody was tied at an instant, as believed today."""
        answer = asof.entity_facts(
            principal=self.principal,
            entity_id=self.id(name),
            predicate=predicate,
            valid_at=datetime.fromisoformat(at).replace(tzinfo=UTC),
        )
        return sorted(fact.object.label for fact in answer.facts if fact.polarity)

    def rows(self) -> list[Fact]:
        with scope(self.principal):
            return list(Fact.objects.filter(Q(predicate="married_to") | Q(predicate="friend_of")))

    def check_pairs(self) -> None:
        """Every believed row has exactly one twin, which holds and is believed over the same times."""
        rows = self.rows()
        twins: dict[Any, list[Fact]] = {}
        for row in rows:
            twins.setdefault(row.mirror_of or row.pk, []).append(row)
        for pair in twins.values():
            one, other = pair
            assert {one.mirror_of is None, other.mirror_of is None} == {True, False}
            assert (one.subject_id, one.object_entity_id) == (other.object_entity_id, other.subject_id)
            for name in ("valid_from", "valid_to", "recorded_at", "superseded_at", "closed_reason", "polarity", "rank"):
                assert getattr(one, name) == getattr(other, name), name
            assert one.origin_fact_id == other.origin_fact_id


@pytest.fixture
def people(anna: User) -> People:
    return People(anna)


def test_a_marriage_is_known_from_both_ends_and_worded_from_each(people: People) -> None:
    people.tie("elin", "married_to", "joss", "2010-05-01")
    assert people.of("elin", "married_to", "2015-01-01") == ["Joss"]
    assert people.of("joss", "married_to", "2015-01-01") == ["Elin"]
    assert len({row.statement for row in people.rows()}) == 2
    people.check_pairs()


def test_a_new_marriage_ends_the_old_ones_of_both_for_all_four(people: People) -> None:
    people.tie("elin", "married_to", "joss", "2010-05-01")
    people.tie("kaya", "married_to", "lior", "2012-05-01")
    people.tie("lior", "married_to", "elin", "2020-05-01")
    assert [people.of(name, "married_to", "2015-01-01") for name in PEOPLE] == [["Joss"], ["Elin"], ["Lior"], ["Kaya"]]
    assert [people.of(name, "married_to", "2021-01-01") for name in PEOPLE] == [["Lior"], [], [], ["Elin"]]
    people.check_pairs()


def test_said_from_the_other_end_it_is_the_same_again(people: People) -> None:
    first = people.tie("elin", "married_to", "joss", "2010-05-01")
    again = people.tie("joss", "married_to", "elin", "2010-05-01")
    assert again.outcome is Outcome.RESTATED
    assert len(people.rows()) == 2
    answer = asof.entity_facts(principal=people.principal, entity_id=people.id("joss"), predicate="married_to")
    assert [len(fact.evidence) for fact in answer.facts] == [2]
    assert first.fact_id is not None


def test_old_news_is_cut_by_what_either_of_them_did_later(people: People) -> None:
    people.tie("joss", "married_to", "kaya", "2015-01-01")
    people.tie("elin", "married_to", "joss", "2010-01-01")
    assert people.of("elin", "married_to", "2012-01-01") == ["Joss"]
    assert people.of("elin", "married_to", "2016-01-01") == []
    assert people.of("joss", "married_to", "2016-01-01") == ["Kaya"]
    people.check_pairs()


@pytest.mark.parametrize("mirrored", [False, True])
def test_what_ends_one_row_ends_the_other(people: People, mirrored: bool) -> None:
    people.tie("elin", "friend_of", "joss", "2010-05-01")
    (row,) = [row for row in people.rows() if (row.mirror_of is not None) is mirrored]
    facts.end_fact(principal=people.principal, fact_id=row.pk, at="2018-01-01")
    assert people.of("elin", "friend_of", "2017-01-01") == ["Joss"]
    assert people.of("elin", "friend_of", "2019-01-01") == people.of("joss", "friend_of", "2019-01-01") == []
    people.check_pairs()
    facts.retract_fact(principal=people.principal, fact_id=row.pk)
    assert people.of("elin", "friend_of", "2017-01-01") == people.of("joss", "friend_of", "2017-01-01") == []
    people.check_pairs()


def test_no_friends_any_more_holds_both_ways(people: People) -> None:
    people.tie("elin", "friend_of", "joss", "2010-05-01")
    people.tie("joss", "friend_of", "elin", "2018-01-01", polarity=False)
    assert {row.polarity for row in people.rows() if row.superseded_at is None and row.valid_to is None} == {False}
    people.check_pairs()


_LAST_BEGIN = datetime(2030, 12, 31, tzinfo=UTC)
"""What remains of a marriage behind a corrected one may begin when all others end, and is not ended then."""


def test_pairs_stay_pairs_in_random_histories(people: People) -> None:
    rng = random.Random(7)  # noqa: S311 (no secret)
    for _step in range(60):
        one, other = rng.sample(PEOPLE, 2)
        live = [row for row in people.rows() if row.superseded_at is None]
        act = rng.choice(("marry", "marry", "befriend", "deny", "end", "retract", "correct"))
        since = f"{rng.randint(2000, 2020)}-01-01"
        if act in ("marry", "befriend", "deny"):
            predicate = "married_to" if act == "marry" else "friend_of"
            until = f"{rng.randint(2021, 2030)}-01-01" if rng.random() < 0.3 else None
            people.tie(one, predicate, other, since, valid_to=until, polarity=act != "deny")
        elif live and act == "correct":
            row = rng.choice(live)
            free = [name for name in PEOPLE if name.title() not in row.statement]
            if row.predicate == "married_to" and free:
                facts.correct_fact(
                    principal=people.principal, fact_id=row.pk, changes={"object_ref": f"person:{rng.choice(free)}"}
                )
        elif live and act == "retract":
            facts.retract_fact(principal=people.principal, fact_id=rng.choice(live).pk)
        elif live:
            row = rng.choice([row for row in live if row.valid_to is None] or live)
            if row.valid_to is None and row.valid_from < _LAST_BEGIN:
                facts.end_fact(principal=people.principal, fact_id=row.pk, at="2031-01-01")
        people.check_pairs()


def test_a_relation_said_from_its_object_is_stored_in_the_registered_direction(people: People) -> None:
    made, said = people.say(
        {"op": "upsert_entity", "id_hint": "pet:rex", "kind": "pet", "canonical_name": "Rex"},
        {
            "op": "assert_relationship",
            "subject_ref": "person:elin",
            "predicate": "owns",
            "object_ref": "pet:rex",
        },
    )
    assert (made.outcome, said.outcome) == (Outcome.COMMITTED, Outcome.COMMITTED)
    with scope(people.principal):
        row = Fact.objects.select_related("subject", "object_entity").get(pk=said.fact_id)
    assert (row.subject.ref, row.predicate, row.object_entity and row.object_entity.ref) == (
        "pet:rex",
        "owned_by",
        "person:elin",
    )
