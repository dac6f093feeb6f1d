"""Groups as their members meet them: who may change them, who is told, and what a member reads and when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.test import Client

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import access, groups
from gedaechtnis.identity.models import AuditEntry, GroupMembership, Org, OrgMembership, User
from gedaechtnis.identity.principals import person, user_scope
from gedaechtnis.memory.schemas import MemoryMutationProposal, Outcome
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services import facts
from gedaechtnis.memory.services.commit import commit_proposal

Role = GroupMembership.Role


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scopes whose open windows were told that their access changed."""
    found: list[str] = []
    monkeypatch.setattr(access, "_publish", lambda scope_ref, payload: found.append(scope_ref))
    return found


@pytest.fixture
def family(anna: User, ben: User) -> UUID:
    """Anna's group; Ben edits."""
    made = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=made.pk, username="ben")
    return made.pk


def may_read(user: User, group_id: UUID) -> bool:
    return f"group:{group_id}" in person(user).read_scopes


def may_write(user: User, group_id: UUID) -> bool:
    return f"group:{group_id}" in person(user).write_scopes


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(Problem) as refused:
        act()
    return refused.value.code


def test_its_founder_owns_it_and_lets_people_in(anna: User, ben: User, told: list[str]) -> None:
    made = groups.create_group(user=anna, name="  Familie \n Weber ")
    groups.add_member(user=anna, group_id=made.pk, username=" ben ", role=Role.VIEWER)
    seen = groups.get_group(user=ben, group_id=made.pk)
    assert (seen.name, seen.role, seen.is_owner) == ("Familie Weber", Role.VIEWER, False)
    assert [(one.name, one.role, one.is_self) for one in seen.members] == [
        ("anna", Role.OWNER, False),
        ("ben", Role.VIEWER, True),
    ]
    assert told == [user_scope(anna.sub), user_scope(ben.sub)]
    assert may_read(ben, made.pk)
    assert not may_write(ben, made.pk)


def test_a_role_says_who_writes(anna: User, ben: User, family: UUID, told: list[str]) -> None:
    assert may_write(ben, family)
    groups.change_role(user=anna, group_id=family, sub=ben.sub, role=Role.VIEWER)
    assert may_read(ben, family)
    assert not may_write(ben, family)
    assert told == [user_scope(ben.sub)]


def test_only_owners_change_a_group(anna: User, ben: User, clara: User, family: UUID) -> None:
    acts: list[Callable[[User], object]] = [
        lambda user: groups.rename_group(user=user, group_id=family, name="Anders"),
        lambda user: groups.add_member(user=user, group_id=family, username="clara"),
        lambda user: groups.change_role(user=user, group_id=family, sub=user.sub, role=Role.OWNER),
        lambda user: groups.remove_member(user=user, group_id=family, sub=anna.sub),
        lambda user: groups.close_group(user=user, group_id=family),
    ]
    for act in acts:
        assert code_of(lambda act=act: act(ben)) == "not_owner"  # type: ignore[misc]
        # A group one is not in answers like none at all.
        assert code_of(lambda act=act: act(clara)) == "not_found"  # type: ignore[misc]
    assert [group.name for group in groups.list_groups(user=ben)] == ["Familie"]
    assert groups.list_groups(user=clara) == ()


def test_a_group_keeps_an_owner(anna: User, ben: User, family: UUID) -> None:
    assert code_of(lambda: groups.leave(user=anna, group_id=family)) == "last_owner"
    assert code_of(lambda: groups.remove_member(user=anna, group_id=family, sub=anna.sub)) == "last_owner"
    demotion = {"user": anna, "group_id": family, "sub": anna.sub, "role": Role.EDITOR}
    assert code_of(lambda: groups.change_role(**demotion)) == "last_owner"  # type: ignore[arg-type]
    groups.change_role(user=anna, group_id=family, sub=ben.sub, role=Role.OWNER)
    groups.leave(user=anna, group_id=family)
    assert not may_read(anna, family)
    assert groups.get_group(user=ben, group_id=family).is_owner


def test_a_closed_group_is_read_by_nobody(anna: User, ben: User, family: UUID, told: list[str]) -> None:
    groups.close_group(user=anna, group_id=family)
    assert sorted(told) == sorted([user_scope(anna.sub), user_scope(ben.sub)])
    for user in (anna, ben):
        assert not may_read(user, family)
        with pytest.raises(NotFound):
            groups.get_group(user=user, group_id=family)


def test_what_does_not_fit_is_refused(anna: User, ben: User, family: UUID, told: list[str]) -> None:
    def add(username: str, role: str = Role.EDITOR) -> str:
        return code_of(lambda: groups.add_member(user=anna, group_id=family, username=username, role=role))

    assert add("niemand") == "unknown_user"
    assert add("ben") == "already_member"
    assert add("ben\x00") == "invalid_text"
    User.objects.create(username="dora")
    assert add("dora", "king") == "unknown_role"
    User.objects.filter(username="dora").update(is_active=False)
    assert add("dora") == "unknown_user"
    assert code_of(lambda: groups.create_group(user=anna, name=" \u200b ")) == "empty_name"
    assert code_of(lambda: groups.create_group(user=anna, name="x" * 201)) == "too_long"
    assert told == []


def test_every_change_of_rights_is_on_record(anna: User, ben: User, family: UUID) -> None:
    groups.change_role(user=anna, group_id=family, sub=ben.sub, role=Role.VIEWER)
    groups.leave(user=ben, group_id=family)
    groups.close_group(user=anna, group_id=family)
    shared = f"group:{family}"
    entries = [(entry.kind, entry.acted_by, entry.sub, entry.details) for entry in AuditEntry.objects.order_by("id")]
    assert entries == [
        ("member_added", user_scope(anna.sub), anna.sub, {"scope": shared, "role": "owner"}),
        ("member_added", user_scope(anna.sub), ben.sub, {"scope": shared, "role": "editor"}),
        ("role_changed", user_scope(anna.sub), ben.sub, {"scope": shared, "role": "viewer"}),
        ("member_removed", user_scope(ben.sub), ben.sub, {"scope": shared}),
        ("group_closed", user_scope(anna.sub), None, {"scope": shared}),
    ]


def test_into_a_group_of_an_org_come_only_its_members(anna: User, ben: User, family: UUID) -> None:
    org = Org.objects.create(name="Verein")
    OrgMembership.objects.create(org=org, user=anna)
    made = groups.create_group(user=anna, name="Vorstand")
    made.org = org
    made.save(update_fields=["org"])
    add = {"user": anna, "group_id": made.pk, "username": "ben"}
    assert code_of(lambda: groups.add_member(**add)) == "unknown_user"
    OrgMembership.objects.create(org=org, user=ben)
    groups.add_member(**add)
    assert may_read(ben, made.pk)
    # Who leaves the org has left its groups.
    OrgMembership.objects.filter(user=ben).delete()
    assert [group.name for group in groups.list_groups(user=ben)] == ["Familie"]


@pytest.mark.parametrize(
    "sent", [{"name": "x" * 501}, {"name": "\x00"}, {"name": ""}, {"kind": "x" * 101}, {"kind": "policy\x00"}, {}]
)
def test_the_form_for_something_new_refuses_in_words(
    anna: User, page_for: Callable[[User], Client], sent: dict[str, str]
) -> None:
    response = page_for(anna).post("/wissen/neu/", {"name": "Garten", "kind": "place", "scope": "group:x", **sent})
    assert response.status_code == 422
    assert b'role="alert"' in response.content


# ── The conformance table's lines about groups ───────────────────────────────


def tell(user: User, scope_ref: str, *operations: dict[str, object]) -> list[UUID | None]:
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    results = commit_proposal(principal=person(user), proposal=proposal, scope_ref=scope_ref).results
    assert {result.outcome for result in results} == {Outcome.COMMITTED}, results
    return [result.entity_id for result in results]


def values_of(user: User, entity_id: UUID, predicate: str, **moment: datetime) -> list[object]:
    answer = asof.entity_facts(principal=person(user), entity_id=entity_id, **moment)
    return sorted(fact.object.value for fact in answer.facts if fact.predicate == predicate)


GARDEN = {"op": "upsert_entity", "id_hint": "place:garten", "kind": "place", "canonical_name": "Garten"}


def note(text: str, subject: str = "place:garten") -> dict[str, object]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": "description", "object_value": text}


def test_line_19_todays_membership_governs_every_as_of(anna: User, ben: User, clara: User, family: UUID) -> None:
    shared, then = f"group:{family}", datetime(2026, 11, 2, tzinfo=UTC)
    with clock.frozen(datetime(2026, 11, 1, tzinfo=UTC)):
        garden = tell(anna, shared, GARDEN, note("mit Teich"))[0]
    assert garden is not None
    with clock.frozen(datetime(2026, 11, 20, tzinfo=UTC)):
        groups.add_member(user=anna, group_id=family, username="clara", role=Role.VIEWER)
        # Clara joined later than that: she may read the past of the group all the same.
        assert values_of(clara, garden, "description", valid_at=then, known_at=then) == ["mit Teich"]
        groups.remove_member(user=anna, group_id=family, sub=ben.sub)
        for moment in ({}, {"valid_at": then}, {"known_at": then}, {"valid_at": then, "known_at": then}):
            assert values_of(ben, garden, "description", **moment) == []
        with pytest.raises(NotFound):
            entities.get_entity(principal=person(ben), ref=str(garden))
        assert values_of(anna, garden, "description", known_at=then, valid_at=then) == ["mit Teich"]


def test_line_24_a_private_note_and_the_groups_fact_leave_each_other_alone(anna: User, ben: User, family: UUID) -> None:
    shared = f"group:{family}"
    garden = tell(anna, shared, GARDEN, note("mit Teich"))[0]
    assert garden is not None
    tell(ben, user_scope(ben.sub), note("verwildert", str(garden)))
    assert values_of(ben, garden, "description") == ["mit Teich", "verwildert"]
    assert values_of(anna, garden, "description") == ["mit Teich"]
    assert entities.get_entity(principal=person(anna), ref=str(garden)).fact_count == 2  # name and description
    # Neither closes the other, also where the group changes its mind.
    tell(anna, shared, {**note("mit Brunnen", str(garden)), "correction": True})
    assert values_of(ben, garden, "description") == ["mit Brunnen", "verwildert"]
    private = next(
        fact
        for fact in asof.entity_facts(principal=person(ben), entity_id=garden).facts
        if fact.object.value == "verwildert"
    )
    facts.retract_fact(principal=person(ben), fact_id=private.id)
    assert values_of(ben, garden, "description") == ["mit Brunnen"]
    assert values_of(anna, garden, "description") == ["mit Brunnen"]
