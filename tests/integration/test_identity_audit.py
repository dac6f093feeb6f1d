"""The security log tells who did what, holds no content, and cannot be rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import ProgrammingError
from django.test import Client, RequestFactory

from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity import audit
from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.models import AuditEntry, Group, GroupMembership, User
from gedaechtnis.identity.tokens import authenticate, create_token, revoke_token


def entries(kind: Kind) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(kind=kind).order_by("at"))


def sign_in(name: str, password: str) -> Client:
    client = Client()
    client.post("/anmelden/", {"username": name, "password": password})
    return client


def test_signing_in_and_out_is_recorded(anna: User) -> None:
    client = sign_in("anna", "geheim-anna")
    client.post("/abmelden/")
    (came,), (went,) = entries(Kind.SIGN_IN), entries(Kind.SIGN_OUT)
    assert (came.sub, came.acted_by) == (anna.sub, f"user:{anna.sub}")
    assert came.address_hash == went.address_hash
    assert "127.0.0.1" not in str(vars(came))


def test_a_failed_sign_in_names_whom_it_was_about_and_never_what_was_typed(anna: User) -> None:
    sign_in("anna", "falsch")
    sign_in("mein-passwort-im-falschen-feld", "x")
    sign_in("\x00", "x")
    assert [(entry.sub, entry.acted_by) for entry in entries(Kind.SIGN_IN_FAILED)] == [(anna.sub, ""), (None, "")]
    assert "mein-passwort" not in str([vars(entry) for entry in AuditEntry.objects.all()])


def test_a_token_is_recorded_when_made_first_used_and_revoked(anna: User, clara: User) -> None:
    token, secret = create_token(user=anna, name="Geheimprojekt", agent_role="assistant")
    for _use in range(3):
        assert authenticate(secret) is not None
    with pytest.raises(NotFound):
        revoke_token(user=clara, token_id=token.id)
    for _again in range(2):
        revoke_token(user=anna, token_id=token.id)
    assert authenticate(secret) is None
    told = list(AuditEntry.objects.order_by("at").values_list("kind", "token_id", "sub"))
    kinds = (Kind.TOKEN_CREATED, Kind.TOKEN_FIRST_USED, Kind.TOKEN_REVOKED)
    assert told == [(kind, token.id, anna.sub) for kind in kinds]
    assert entries(Kind.TOKEN_FIRST_USED)[0].acted_by == f"agent:assistant@user:{anna.sub}"
    assert "Geheimprojekt" not in str([vars(entry) for entry in AuditEntry.objects.all()])


@pytest.mark.parametrize("change", [lambda rows: rows.update(kind=Kind.SIGN_OUT), lambda rows: rows.delete()])
def test_the_application_may_not_rewrite_it(anna: User, change: Callable[[Any], Any]) -> None:
    audit.record(Kind.SIGN_IN, acted_by=f"user:{anna.sub}", sub=anna.sub)
    with pytest.raises(ProgrammingError, match="permission denied"):
        change(AuditEntry.objects.all())
    assert len(entries(Kind.SIGN_IN)) == 1


def test_it_takes_codes_only(database: None) -> None:
    with pytest.raises(ValueError, match="not a code"):
        audit.record(Kind.EXPORTED, acted_by="", why="Anna hat Grippe")
    assert not AuditEntry.objects.exists()


def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    def of(address: str) -> str:
        return audit.address_hash(RequestFactory().get("/", REMOTE_ADDR=address))

    assert of("2001:db8::1") == of("2001:db8::2") != of("2001:db8:0:1::1")
    assert of("192.0.2.1") != of("192.0.2.2")
    assert of("") == ""


def test_it_outlives_the_person(anna: User) -> None:
    sub = anna.sub
    sign_in("anna", "geheim-anna")
    anna.delete()
    assert entries(Kind.SIGN_IN)[0].sub == sub


@pytest.fixture
def admin_pages(anna: User, page_for: Callable[[User], Client]) -> Client:
    anna.is_staff = anna.is_superuser = True
    anna.save()
    return page_for(anna)


def test_the_admin_shows_it_and_changes_nothing(anna: User, admin_pages: Client) -> None:
    (entry,) = entries(Kind.SIGN_IN)
    assert admin_pages.get("/admin/identity/auditentry/").status_code == 200
    for path in ("add/", f"{entry.pk}/delete/"):
        assert admin_pages.get(f"/admin/identity/auditentry/{path}").status_code == 403
    assert admin_pages.post(f"/admin/identity/auditentry/{entry.pk}/change/", {"kind": "sign_out"}).status_code == 403


def test_members_changed_in_the_admin_are_recorded(anna: User, ben: User, admin_pages: Client) -> None:
    group = Group.objects.create(name="Familie")
    membership = GroupMembership.objects.create(group=group, user=ben, role="editor")
    form = {
        "name": "Familie",
        "memberships-TOTAL_FORMS": "2",
        "memberships-INITIAL_FORMS": "1",
        "memberships-0-id": str(membership.pk),
        "memberships-0-group": str(group.pk),
        "memberships-0-user": str(ben.pk),
        "memberships-0-role": "viewer",
        "memberships-1-group": str(group.pk),
        "memberships-1-user": str(anna.pk),
        "memberships-1-role": "owner",
    }
    assert admin_pages.post(f"/admin/identity/group/{group.pk}/change/", form).status_code == 302
    (added,), (changed,) = entries(Kind.MEMBER_ADDED), entries(Kind.ROLE_CHANGED)
    assert (added.sub, added.details) == (anna.sub, {"scope": f"group:{group.pk}", "role": "owner"})
    assert (changed.sub, changed.details["role"], changed.acted_by) == (ben.sub, "viewer", f"user:{anna.sub}")
