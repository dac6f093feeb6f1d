"""Organisations as their members meet them: who changes them, what leaving means, and in which one somebody acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from curator.control import CURATE
from gedaechtnis.chat import selectors, services
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import access, groups, orgs
from gedaechtnis.identity.models import AuditEntry, Group, GroupMembership, Org, OrgMembership, User
from gedaechtnis.identity.principals import PrincipalKind, person, user_scope
from gedaechtnis.memory.schemas import MemoryMutationProposal, Outcome
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.models import Work
from tests.conftest import ApiClient

Role = OrgMembership.Role
GARDEN = {"op": "upsert_entity", "id_hint": "place:garten", "kind": "place", "canonical_name": "Vereinsgarten"}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scopes whose open windows were told that their access changed."""
    found: list[str] = []
    monkeypatch.setattr(access, "_publish", lambda scope_ref, payload: found.append(scope_ref))
    return found


def found(founder: User, name: str, *members: User) -> UUID:
    """An organisation that `founder` administers."""
    org = Org.objects.create(name=name)
    OrgMembership.objects.create(org=org, user=founder, role=Role.ADMIN)
    for member in members:
        OrgMembership.objects.create(org=org, user=member)
    return UUID(str(org.pk))


@pytest.fixture
def north(anna: User, ben: User) -> UUID:
    """Anna administers it, Ben is a member."""
    return found(anna, "Nord", ben)


@pytest.fixture
def south(north: UUID, anna: User, clara: User) -> UUID:
    """The second organisation of Anna, who administers it; Clara is a member."""
    return found(anna, "Süd", clara)


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(Problem) as refused:
        act()
    return refused.value.code


# ── Who changes it ───────────────────────────────────────────────────────────


def test_staff_found_one_and_lead_it(anna: User, ben: User, told: list[str]) -> None:
    assert code_of(lambda: orgs.create_org(user=anna, name="Verein")) == "staff_required"
    anna.is_staff = True
    made = orgs.create_org(user=anna, name="  Verein \n Nord ")
    orgs.add_member(user=anna, org_id=made.pk, username=" ben ")
    seen = orgs.get_org(user=ben, org_id=made.pk)
    assert (seen.name, seen.role, seen.is_admin) == ("Verein Nord", Role.MEMBER, False)
    assert [(one.name, one.role) for one in seen.members] == [("anna", Role.ADMIN), ("ben", Role.MEMBER)]
    assert told == [user_scope(anna.sub), user_scope(ben.sub)]


def test_staff_who_are_not_in_it_see_nothing_of_it(north: UUID, clara: User) -> None:
    clara.is_staff = clara.is_superuser = True
    clara.save()
    assert f"org:{north}" not in person(clara).read_scopes
    assert code_of(lambda: orgs.get_org(user=clara, org_id=north)) == "not_found"
    assert code_of(lambda: orgs.add_member(user=clara, org_id=north, username="clara")) == "not_found"


def test_admins_write_members_read(anna: User, ben: User, north: UUID) -> None:
    shared = f"org:{north}"
    assert shared in person(anna).write_scopes
    assert shared in person(ben).read_scopes
    assert shared not in person(ben).write_scopes
    orgs.change_role(user=anna, org_id=north, sub=ben.sub, role=Role.ADMIN)
    assert shared in person(ben).write_scopes


def test_only_admins_change_one(anna: User, ben: User, clara: User, north: UUID) -> None:
    acts: list[Callable[[User], object]] = [
        lambda user: orgs.rename_org(user=user, org_id=north, name="Anders"),
        lambda user: orgs.add_member(user=user, org_id=north, username="clara"),
        lambda user: orgs.change_role(user=user, org_id=north, sub=user.sub, role=Role.ADMIN),
        lambda user: orgs.remove_member(user=user, org_id=north, sub=anna.sub),
        lambda user: orgs.create_group(user=user, org_id=north, name="Vorstand"),
    ]
    for act in acts:
        assert code_of(lambda act=act: act(ben)) == "not_admin"  # type: ignore[misc]
        # One that somebody is not in answers like none at all.
        assert code_of(lambda act=act: act(clara)) == "not_found"  # type: ignore[misc]
    assert [org.name for org in orgs.list_orgs(user=ben)] == ["Nord"]
    assert orgs.list_orgs(user=clara) == ()
    assert not Group.objects.exists()


def test_it_keeps_an_admin(anna: User, ben: User, north: UUID) -> None:
    assert code_of(lambda: orgs.leave(user=anna, org_id=north)) == "last_admin"
    assert code_of(lambda: orgs.remove_member(user=anna, org_id=north, sub=anna.sub)) == "last_admin"
    demotion = {"user": anna, "org_id": north, "sub": anna.sub, "role": Role.MEMBER}
    assert code_of(lambda: orgs.change_role(**demotion)) == "last_admin"  # type: ignore[arg-type]
    orgs.change_role(user=anna, org_id=north, sub=ben.sub, role=Role.ADMIN)
    User.objects.filter(pk=ben.pk).update(is_active=False)
    assert code_of(lambda: orgs.leave(user=anna, org_id=north)) == "last_admin"
    User.objects.filter(pk=ben.pk).update(is_active=True)
    orgs.leave(user=anna, org_id=north)
    assert f"org:{north}" not in person(anna).read_scopes


def test_what_does_not_fit_is_refused(anna: User, north: UUID, told: list[str]) -> None:
    def add(username: str, role: str = Role.MEMBER) -> str:
        return code_of(lambda: orgs.add_member(user=anna, org_id=north, username=username, role=role))

    assert [add("niemand"), add("ben"), add("ben\x00")] == ["unknown_user", "already_member", "invalid_text"]
    User.objects.create(username="dora")
    assert add("dora", "owner") == "unknown_role"
    assert code_of(lambda: orgs.rename_org(user=anna, org_id=north, name=" \u200b ")) == "empty_name"
    assert code_of(lambda: orgs.create_group(user=anna, org_id=north, name="x" * 201)) == "too_long"
    assert code_of(lambda: orgs.change_role(user=anna, org_id=north, sub=uuid4(), role=Role.ADMIN)) == "not_found"
    assert told == []


def test_every_change_of_rights_is_on_record(anna: User, ben: User, north: UUID) -> None:
    orgs.change_role(user=anna, org_id=north, sub=ben.sub, role=Role.ADMIN)
    orgs.leave(user=ben, org_id=north)
    orgs.add_member(user=anna, org_id=north, username="ben")
    entries = [(entry.kind, entry.acted_by, entry.sub, entry.details) for entry in AuditEntry.objects.order_by("id")]
    shared = f"org:{north}"
    assert entries == [
        ("role_changed", user_scope(anna.sub), ben.sub, {"scope": shared, "role": "admin"}),
        ("member_removed", user_scope(ben.sub), ben.sub, {"scope": shared}),
        ("member_added", user_scope(anna.sub), ben.sub, {"scope": shared, "role": "member"}),
    ]


# ── Its groups ───────────────────────────────────────────────────────────────


def test_an_admin_founds_groups_that_only_its_members_join(anna: User, ben: User, clara: User, north: UUID) -> None:
    made = orgs.create_group(user=anna, org_id=north, name="Vorstand")
    shared = f"group:{made.pk}"
    assert code_of(lambda: groups.add_member(user=anna, group_id=made.pk, username="clara")) == "unknown_user"
    groups.add_member(user=anna, group_id=made.pk, username="ben")
    assert shared in person(ben).write_scopes
    assert person(ben).group_orgs[shared] == north
    # Admins of the organisation read a group only by being in it.
    orgs.change_role(user=anna, org_id=north, sub=ben.sub, role=Role.ADMIN)
    groups.leave(user=ben, group_id=made.pk)
    assert shared not in person(ben).read_scopes


def test_who_goes_loses_its_groups_and_what_they_led_goes_on(
    anna: User, ben: User, clara: User, north: UUID, told: list[str]
) -> None:
    orgs.add_member(user=anna, org_id=north, username="clara")
    led, alone, private = (
        orgs.create_group(user=anna, org_id=north, name="Vorstand"),
        orgs.create_group(user=anna, org_id=north, name="Allein"),
        groups.create_group(user=ben, name="Familie"),
    )
    groups.add_member(user=anna, group_id=led.pk, username="clara", role="viewer")
    groups.add_member(user=anna, group_id=led.pk, username="ben", role="owner")
    groups.leave(user=anna, group_id=led.pk)
    groups.add_member(user=anna, group_id=alone.pk, username="ben", role="owner")
    groups.leave(user=anna, group_id=alone.pk)
    told.clear()

    orgs.remove_member(user=anna, org_id=north, sub=ben.sub)
    assert {f"group:{led.pk}", f"group:{alone.pk}", f"org:{north}"}.isdisjoint(person(ben).read_scopes)
    assert f"group:{private.pk}" in person(ben).write_scopes
    assert groups.get_group(user=clara, group_id=led.pk).is_owner
    assert Group.objects.get(pk=alone.pk).closed_at is not None
    assert f"group:{led.pk}" not in person(anna).read_scopes  # removing gives nothing to read to who removes
    assert set(told) == {user_scope(ben.sub), user_scope(clara.sub)}
    # Coming back to the organisation brings no old role back.
    orgs.add_member(user=anna, org_id=north, username="ben")
    assert f"group:{led.pk}" not in person(ben).read_scopes


def test_an_editor_leads_on_before_a_viewer_does(anna: User, ben: User, clara: User, north: UUID) -> None:
    orgs.add_member(user=anna, org_id=north, username="clara")
    orgs.change_role(user=anna, org_id=north, sub=ben.sub, role=Role.ADMIN)
    made = orgs.create_group(user=anna, org_id=north, name="Vorstand")
    groups.add_member(user=anna, group_id=made.pk, username="clara", role="viewer")
    groups.add_member(user=anna, group_id=made.pk, username="ben", role="editor")
    orgs.leave(user=anna, org_id=north)
    roles = GroupMembership.objects.filter(group=made).values_list("user__username", "role")
    assert dict(roles) == {"ben": "owner", "clara": "viewer"}


# ── In which one somebody acts ───────────────────────────────────────────────


def tell(user: User, org_id: UUID, scope_ref: str, *operations: dict[str, Any], agent: bool = False) -> list[Any]:
    principal = person(user, org_id)
    if agent:
        principal = replace(principal, kind=PrincipalKind.AGENT, acted_by=f"agent:assistant@{principal.acted_by}")
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    return list(commit_proposal(principal=principal, proposal=proposal, scope_ref=scope_ref).results)


def test_nobody_is_moved_by_being_let_in_somewhere(anna: User, clara: User) -> None:
    """The one they are in longest counts, not the one that is older."""
    older, newer = found(clara, "Alt"), found(anna, "Neu")
    assert person(anna).org_id == newer
    orgs.add_member(user=clara, org_id=older, username="anna")
    assert person(anna).org_id == newer


def test_the_pages_show_and_write_within_the_chosen_one(
    anna: User, north: UUID, south: UUID, page_for: Callable[[User], Client], told: list[str]
) -> None:
    tell(anna, north, f"org:{north}", {**GARDEN, "canonical_name": "Nordgarten"})
    tell(anna, south, f"org:{south}", {**GARDEN, "canonical_name": "Südgarten"})
    page = page_for(anna)

    def shown() -> str:
        return page.get("/wissen/").content.decode()

    assert "Nordgarten" in shown()
    assert "Südgarten" not in shown()
    answer = page.post("/organisation/", {"org": str(south), "next": "/wissen/"})
    assert (answer.status_code, answer["Location"]) == (302, "/wissen/")
    assert told == [user_scope(anna.sub)]
    assert "Südgarten" in shown()
    assert "Nordgarten" not in shown()
    # The choice of who sees a new thing follows, and so does what may be written.
    assert f'value="org:{south}"' in shown()
    assert f'value="org:{north}"' not in shown()
    made = page.post("/wissen/neu/", {"name": "Halle", "kind": "place", "scope": f"org:{south}"})
    assert made.status_code == 302
    refused = page.post("/wissen/neu/", {"name": "Halle", "kind": "place", "scope": f"org:{north}"})
    assert refused.status_code in (403, 422)
    names = [one.name for one in entities.search_entities(principal=person(anna, south), q="Halle").items]
    assert names == ["Halle"]
    # So does the API for the same session, unless its header says otherwise.
    listed = page.get("/api/world/entities", {"q": "garten"}).json()
    assert [item["name"] for item in listed["items"]] == ["Südgarten"]
    listed = page.get("/api/world/entities", {"q": "garten"}, headers={"Gedaechtnis-Org": str(north)}).json()
    assert [item["name"] for item in listed["items"]] == ["Nordgarten"]


def test_one_who_was_put_out_acts_in_the_other_at_once(
    anna: User, clara: User, south: UUID, page_for: Callable[[User], Client]
) -> None:
    east = found(anna, "Ost", clara)
    page = page_for(clara)
    page.post("/organisation/", {"org": str(east)})
    tell(anna, east, f"org:{east}", GARDEN)
    assert "Vereinsgarten" in page.get("/wissen/").content.decode()
    orgs.remove_member(user=anna, org_id=east, sub=clara.sub)
    response = page.get("/wissen/")
    assert response.status_code == 200
    assert "Vereinsgarten" not in response.content.decode()
    assert "Süd" in page.get("/einstellungen/organisationen/").content.decode()


@pytest.mark.parametrize("org", ["", "x", "019ff000-0000-7000-8000-000000000001", "foreign"])
def test_a_foreign_one_cannot_be_chosen(
    ben: User, north: UUID, south: UUID, page_for: Callable[[User], Client], org: str
) -> None:
    page = page_for(ben)
    before = page.get("/einstellungen/organisationen/").status_code
    answer = page.post("/organisation/", {"org": str(south) if org == "foreign" else org})
    assert (before, answer.status_code) == (200, 404)
    assert not any("org" in session.get_decoded() for session in Session.objects.all())


def test_an_admin_writes_for_all_over_rest(
    anna: User, ben: User, north: UUID, client_for: Callable[..., ApiClient]
) -> None:
    body = {"operations": [GARDEN]}
    written = client_for(anna).post("/api/world/proposals", body, **{"Gedaechtnis-Scope": f"org:{north}"})
    assert written.json()["results"][0]["outcome"] == "committed"
    refused = client_for(ben).post("/api/world/proposals", body, **{"Gedaechtnis-Scope": f"org:{north}"})
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_denied")
    found_by_ben = client_for(ben).get("/api/world/entities", {"q": "vereins"}).json()
    assert [item["scope_ref"] for item in found_by_ben["items"]] == [f"org:{north}"]


# ── Work ─────────────────────────────────────────────────────────────────────


def test_a_question_of_a_group_in_the_second_one_reaches_its_person(anna: User, south: UUID) -> None:
    """Its review work reads as Anna in that organisation: in her first one the group is out of sight."""
    made = orgs.create_group(user=anna, org_id=south, name="Vorstand")
    shared = f"group:{made.pk}"
    garden = tell(anna, south, shared, GARDEN)[0].entity_id
    guess = {
        "op": "assert_fact",
        "subject_ref": str(garden),
        "predicate": "note",
        "object_value": "Der Zaun ist morsch",
        "source": "inference",
        "memory_type": "hypothesis",
    }
    assert [result.outcome for result in tell(anna, south, shared, guess, agent=True)] == [Outcome.PENDING]
    assert Work.objects.get(kind="post_review").org_id == south
    work.run_due()
    assert not Work.objects.filter(kind="post_review").exists()
    chat = services.main_chat(principal=person(anna))
    seen = {
        org: [len(m.review_items) for m in selectors.messages(principal=person(anna, org), chat_id=chat.id)]
        for org in (None, south)
    }
    # The message is Anna's own; what it asks shows only where its group does.
    assert seen == {None: [0], south: [1]}


def test_the_curator_reads_as_where_the_person_spoke(anna: User, north: UUID, south: UUID) -> None:
    """A name means what it means in the organisation of the last message, although the other one comes first."""
    luna = {"op": "upsert_entity", "id_hint": "pet:luna", "kind": "pet", "canonical_name": "Luna"}
    of_north, of_south = (tell(anna, org, f"org:{org}", luna)[0].entity_id for org in (north, south))
    chat = services.main_chat(principal=person(anna))
    services.post_message(principal=person(anna), chat_id=chat.id, text="Hallo")
    services.post_message(principal=person(anna, south), chat_id=chat.id, text="Merk dir: Luna mag Fisch.")
    assert Work.objects.get(kind=CURATE).org_id == south
    work.run_due()

    def likes(org: UUID, entity_id: UUID | None) -> list[object]:
        assert entity_id is not None
        facts = asof.entity_facts(principal=person(anna, org), entity_id=entity_id).facts
        return [fact.object.value for fact in facts if fact.predicate == "likes"]

    assert (likes(north, of_north), likes(south, of_south)) == ([], ["Fisch"])


def test_work_runs_in_the_first_one_for_who_has_left_its_own(anna: User, clara: User, north: UUID, south: UUID) -> None:
    chat = services.main_chat(principal=person(anna))
    services.post_message(principal=person(anna, south), chat_id=chat.id, text="Merk dir: Luna mag Fisch.")
    item = next(item for item in work.claim() if item.kind == CURATE)
    assert item.person().org_id == south
    orgs.change_role(user=anna, org_id=south, sub=clara.sub, role=Role.ADMIN)
    orgs.leave(user=anna, org_id=south)
    assert item.person().org_id == north
    work.run(item)
    assert work.pending(kind=CURATE, scope_ref=item.scope_ref, dedupe_key=item.dedupe_key) is None


# ── Pages ────────────────────────────────────────────────────────────────────


def test_pages_of_a_foreign_one_are_missing(clara: User, north: UUID, page_for: Callable[[User], Client]) -> None:
    page = page_for(clara)
    base = f"/einstellungen/organisationen/{north}/"
    assert page.get(base).status_code == 404
    for act in ("umbenennen", "aufnehmen", "gruppe", "verlassen", f"{clara.sub}/rolle", f"{clara.sub}/entfernen"):
        assert page.post(f"{base}{act}/", {"name": "x", "username": "clara", "role": "admin"}).status_code == 404


def test_a_member_may_look_and_leave_only(ben: User, north: UUID, page_for: Callable[[User], Client]) -> None:
    page = page_for(ben)
    base = f"/einstellungen/organisationen/{north}/"
    shown, _for_later, _rest = page.get(base).content.decode().partition("<template")
    assert shown.count("<form") == 3  # searching, leaving, and signing out
    assert page.post(f"{base}aufnehmen/", {"username": "ben", "role": "admin"}).status_code == 403
    assert page.post("/einstellungen/organisationen/", {"name": "Meine"}).status_code == 403
    assert page.post(f"{base}verlassen/").status_code == 302
    with pytest.raises(NotFound):
        orgs.get_org(user=ben, org_id=north)


def test_the_security_log_names_what_lies_in_another_of_ones_organisations(
    anna: User, ben: User, page_for: Callable[[User], Client]
) -> None:
    anna.is_staff = True
    anna.save()
    _club, firm, choir = (orgs.create_org(user=anna, name=name).pk for name in ("Verein", "Firma", "Chor"))
    orgs.create_group(user=anna, org_id=firm, name="Vorstand")
    orgs.add_member(user=anna, org_id=choir, username="ben", role=Role.ADMIN)
    orgs.leave(user=anna, org_id=choir)
    text = page_for(anna).get("/einstellungen/protokoll/").content.decode()
    chips = re.findall(r'class="chip scope">([^<]*)<', text)
    assert sorted(set(chips)) == ["Firma", "Verein", "Vorstand", "eine frühere Organisation"]
