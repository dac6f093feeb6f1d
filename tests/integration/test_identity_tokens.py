"""A token is never more than its user is at that moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import Group, GroupMembership, Org, OrgMembership, Token, User
from gedaechtnis.identity.principals import from_token, org_of, person, system
from gedaechtnis.identity.tokens import authenticate, create_token, list_tokens, revoke_token
from gedaechtnis.memory.services import facts
from tests.acceptance.api.support import LUNA, assert_problem, propose


@pytest.fixture
def family(anna: User) -> Group:
    group = Group.objects.create(name="Familie")
    GroupMembership.objects.create(group=group, user=anna)
    return group


def make_org(name: str, user: User, role: str = "member") -> tuple[Org, Group]:
    """An org with the user in it and in a group of it."""
    org = Org.objects.create(name=name)
    OrgMembership.objects.create(org=org, user=user, role=role)
    group = Group.objects.create(name=f"{name} intern", org=org)
    GroupMembership.objects.create(group=group, user=user)
    return org, group


def write(client: Any, **headers: str) -> Any:
    return client.post("/api/world/proposals", {"operations": [LUNA]}, **headers)


def test_a_token_loses_its_scope_with_the_membership(anna: User, family: Group, client_for: Callable[..., Any]) -> None:
    client = client_for(anna, write_scope=f"group:{family.pk}")
    assert propose(client, LUNA)[0]["outcome"] == "committed"
    assert client.get("/api/world/entities/pet:luna").status_code == 200
    GroupMembership.objects.filter(group=family).update(role="viewer")
    assert_problem(write(client), 403, "scope_denied")
    assert client.get("/api/world/entities/pet:luna").status_code == 200
    GroupMembership.objects.filter(group=family).delete()
    assert_problem(write(client), 403, "scope_denied")
    assert_problem(client.get("/api/world/entities/pet:luna"), 404, "not_found")
    own = write(client, **{"Gedaechtnis-Scope": f"user:{anna.sub}"})
    assert_problem(own, 403, "scope_denied")


def test_a_token_of_a_closed_group_writes_nothing(anna: User, family: Group, client_for: Callable[..., Any]) -> None:
    client = client_for(anna, write_scope=f"group:{family.pk}")
    Group.objects.filter(pk=family.pk).update(closed_at=clock.now())
    assert_problem(write(client), 403, "scope_denied")


def test_a_token_writes_nowhere_but_its_scope(anna: User, family: Group, client_for: Callable[..., Any]) -> None:
    client = client_for(anna, write_scope=f"group:{family.pk}")
    refused = write(client, **{"Gedaechtnis-Scope": f"user:{anna.sub}"})
    assert_problem(refused, 403, "scope_denied", "Gedaechtnis-Scope")


def test_no_token_is_made_for_a_scope_its_user_may_not_write(anna: User, clara: User, family: Group) -> None:
    org, _group = make_org("Werk", anna)
    foreign = [f"group:{family.pk}", f"user:{anna.sub}", f"org:{org.pk}", f"group:{uuid4()}", "global", "group:x,y"]
    for scope_ref in foreign:
        with pytest.raises(Problem, match="scope_denied"):
            create_token(user=clara, name="x", write_scope=scope_ref)
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"name": " "}, "missing", "name"),
        ({"name": "x" * 101}, "too_long", "name"),
        ({"agent_role": "a@user:b"}, "invalid_agent_role", "agent_role"),
        ({"agent_role": "Groß"}, "invalid_agent_role", "agent_role"),
        ({"clearance": 4}, "out_of_range", "clearance"),
        ({"clearance": -1}, "out_of_range", "clearance"),
    ],
)
def test_what_does_not_fit_is_refused(anna: User, given: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(Problem) as refusal:
        create_token(user=anna, **{"name": "x", **given})
    assert (refusal.value.code, refusal.value.field) == (code, field)


def test_an_agent_is_trusted_in_one_place_and_only_by_who_leads_there(anna: User, family: Group) -> None:
    shared = f"group:{family.pk}"
    options: dict[str, Any] = {"user": anna, "name": "x", "trusted_writer": True}
    with pytest.raises(Problem) as refusal:
        create_token(**options)
    assert (refusal.value.code, refusal.value.field) == ("no_agent", "trusted_writer")
    own, _secret = create_token(**options, agent_role="house_keeper")
    principal = from_token(own)
    assert principal.trusted_writer
    assert principal.write_scopes == {f"user:{anna.sub}"}, "trusted at home, so it writes there alone"
    with pytest.raises(Problem) as refusal:
        create_token(**options, agent_role="butler", write_scope=shared)
    assert (refusal.value.code, refusal.value.field) == ("not_owner", "trusted_writer")

    membership = GroupMembership.objects.filter(group=family)
    membership.update(role="owner")
    theirs, _secret = create_token(**options, agent_role="butler", write_scope=shared)
    assert from_token(theirs).trusted_writer
    membership.update(role="editor")
    assert from_token(theirs).write_scopes == {shared}
    assert not from_token(theirs).trusted_writer, "today's rights count, not those of the day it was made"


def test_clearance_is_narrowed_and_never_widened(anna: User) -> None:
    token, _secret = create_token(user=anna, name="x", clearance=1)
    assert from_token(token).clearance == 1
    Token.objects.update(clearance=9)
    token.refresh_from_db()
    assert from_token(token).clearance == person(anna).clearance == 3


def test_a_token_ends_with_its_time_its_revocation_and_its_user(anna: User) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    with clock.frozen(now):
        _token, secret = create_token(user=anna, name="x", expires_at=now + timedelta(hours=1))
        assert authenticate(secret) is not None
    with clock.frozen(now + timedelta(hours=1)):
        assert authenticate(secret) is None
    other, secret = create_token(user=anna, name="y")
    User.objects.update(is_active=False)
    assert authenticate(secret) is None
    User.objects.update(is_active=True)
    revoke_token(user=anna, token_id=other.id)
    assert authenticate(secret) is None
    assert authenticate("gd_\x00") is None


def test_last_use_is_kept_to_the_minute(anna: User) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    token, secret = create_token(user=anna, name="x")
    for seconds, kept in ((0, 0), (30, 0), (61, 61)):
        with clock.frozen(now + timedelta(seconds=seconds)):
            authenticate(secret)
        token.refresh_from_db()
        assert token.last_used_at == now + timedelta(seconds=kept)


def test_a_person_acts_in_one_org_at_a_time(anna: User, client_for: Callable[..., Any]) -> None:
    (first, here), (second, there) = sorted(
        (make_org(name, anna) for name in ("Werk", "Verein")), key=lambda o: o[0].pk
    )
    assert person(anna).org_id == first.pk
    assert f"group:{there.pk}" not in {*person(anna).read_scopes, *person(anna).write_scopes}
    chosen = person(anna, second.pk)
    assert chosen.org_id == second.pk
    assert f"group:{there.pk}" in chosen.write_scopes
    assert {f"group:{here.pk}", f"org:{first.pk}"}.isdisjoint(chosen.read_scopes)

    client = client_for(anna)
    header = {"Gedaechtnis-Org": str(second.pk), "Gedaechtnis-Scope": f"group:{there.pk}"}
    assert propose(client, LUNA, **header)[0]["outcome"] == "committed"
    assert client.get("/api/world/entities/pet:luna", **{"Gedaechtnis-Org": str(second.pk)}).status_code == 200
    assert_problem(client.get("/api/world/entities/pet:luna"), 404, "not_found")


def test_a_foreign_org_answers_like_a_missing_one(anna: User, clara: User, client_for: Callable[..., Any]) -> None:
    org, _group = make_org("Werk", anna)
    client = client_for(clara)
    answers = [client.get("/api/world/kinds", **{"Gedaechtnis-Org": str(key)}) for key in (org.pk, uuid4())]
    for answer in answers:
        assert_problem(answer, 403, "org_denied")
    assert answers[0].json() == answers[1].json()
    assert_problem(client.get("/api/world/kinds", **{"Gedaechtnis-Org": "Werk"}), 422, "invalid_org", "Gedaechtnis-Org")


def test_a_token_for_a_group_acts_in_the_org_of_the_group(anna: User, client_for: Callable[..., Any]) -> None:
    for name in ("Werk", "Verein"):
        org, group = make_org(name, anna)
        client = client_for(anna, write_scope=f"group:{group.pk}")
        assert propose(client, LUNA)[0]["outcome"] == "committed"
        OrgMembership.objects.filter(org=org).delete()
        assert_problem(write(client), 403, "scope_denied")


def test_admins_of_an_org_write_what_all_its_members_read(
    anna: User, ben: User, client_for: Callable[..., Any]
) -> None:
    org, _group = make_org("Werk", anna, role="admin")
    OrgMembership.objects.create(org=org, user=ben)
    header = {"Gedaechtnis-Scope": f"org:{org.pk}"}
    assert propose(client_for(anna), LUNA, **header)[0]["outcome"] == "committed"
    assert client_for(ben).get("/api/world/entities/pet:luna").status_code == 200
    assert_problem(write(client_for(ben), **header), 403, "scope_denied")


def test_a_job_of_the_server_knows_the_org_of_its_scope(anna: User) -> None:
    org, group = make_org("Werk", anna)
    assert system(f"group:{group.pk}", "x").org_id == system(f"org:{org.pk}", "x").org_id == org.pk
    assert system(f"user:{anna.sub}", "x").org_id is org_of("global") is None


def test_tokens_are_listed_and_revoked_by_command(anna: User, clara: User) -> None:
    token, secret = create_token(user=anna, name="Notizbuch", agent_role="assistant", read_only=True)
    out = StringIO()
    call_command("token", "list", "anna", stdout=out)
    head, line = out.getvalue().splitlines()
    told = dict(zip(head.split("\t"), line.split("\t"), strict=True))
    assert told["id"] == str(token.id)
    assert (told["state"], told["agent role"], told["writes"]) == ("valid", "assistant", "nothing")
    assert (told["last used"], told["name"]) == ("-", "Notizbuch")
    assert secret not in out.getvalue()
    with pytest.raises(CommandError):
        call_command("token", "revoke", "clara", str(token.id))
    call_command("token", "revoke", "anna", str(token.id))
    assert authenticate(secret) is None
    assert [kept.id for kept in list_tokens(user=anna)] == [token.id]


def test_a_chat_stays_private_whatever_a_token_writes(anna: User, ben: User, client_for: Callable[..., Any]) -> None:
    """An answer rests on everything its person may read, so it is never stored where others read it."""
    family = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=family.pk, username="ben")
    own = facts.introduce(principal=person(anna), kind="person", name="Dr. Kern", scope_ref=f"user:{anna.sub}")
    assert own.entity_id is not None
    facts.add_note(principal=person(anna), entity_id=own.entity_id, text="geheim", scope_ref=f"user:{anna.sub}")
    client = client_for(anna, write_scope=f"group:{family.pk}")
    for path, body in (("main/messages", {"text": "Was weißt du über Dr. Kern?"}), ("", {"title": "Neu"})):
        refused = client.post(f"/api/chats{'/' if path else ''}{path}", body)
        assert (refused.status_code, refused.json()["code"]) == (403, "scope_denied")
    assert client_for(ben).get("/api/chats").json()["items"] == []
    mine = client_for(anna)
    assert mine.post("/api/chats/main/messages", {"text": "Was weißt du über Dr. Kern?"}).status_code == 200
    assert "geheim" in client.get("/api/chats/main/messages").content.decode(), "reading is not narrowed"


def test_trust_is_for_one_scope_however_the_token_came_to_be(anna: User, ben: User) -> None:
    family = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=family.pk, username="ben")
    token = Token.objects.create(user=ben, name="x", digest="x", agent_role="helper", trusted_writer=True)
    principal = from_token(token)
    assert principal.trusted_writer
    assert principal.write_scopes == {f"user:{ben.sub}"}
