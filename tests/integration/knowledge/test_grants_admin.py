"""The admin's pages of grants show and change what the acting person may, staff or not."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import AuditEntry, User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import grants
from tests.conftest import make_user

PAGES = "/admin/knowledge/domaingrant/"


@pytest.fixture
def gerda(database: None) -> User:
    """Administers the installation, and is nobody in Anna's memory."""
    made = make_user("gerda")
    made.is_staff = made.is_superuser = True
    made.save()
    return made


@pytest.fixture
def page(gerda: User) -> Client:
    client = Client()
    client.force_login(gerda)
    return client


def test_staff_see_and_change_what_they_lead(page: Client, gerda: User) -> None:
    group = groups.create_group(user=gerda, name="Werkstatt")
    asked = {"scope_ref": f"group:{group.id}", "domain": "Stil", "agent_role": "planner", "permission": "read"}
    assert page.get(f"{PAGES}add/").status_code == 200
    assert page.post(f"{PAGES}add/", asked).status_code == 302
    (made,) = grants.list_grants(principal=person(gerda), scope_ref=f"group:{group.id}")
    assert (made.domain, made.permission) == ("stil", "read")
    shown = page.get(PAGES).content.decode()
    assert "stil" in shown
    assert page.get(f"{PAGES}{made.id}/change/").status_code == 200
    assert page.post(f"{PAGES}{made.id}/change/", {"permission": "none"}).status_code == 302
    assert page.get(f"{PAGES}{made.id}/history/").status_code == 200
    assert [grant.permission for grant in grants.list_grants(principal=person(gerda), scope_ref=made.scope_ref)] == [
        "none"
    ]
    assert page.get(f"{PAGES}{made.id}/delete/").status_code == 200
    assert page.post(f"{PAGES}{made.id}/delete/", {"post": "yes"}).status_code == 302
    assert grants.list_grants(principal=person(gerda), scope_ref=made.scope_ref) == ()
    assert AuditEntry.objects.filter(kind="grant_changed", sub=gerda.sub).count() == 3
    assert not LogEntry.objects.exists()


def test_staff_get_no_further_than_anybody_else(page: Client, anna: User, as_anna: Principal) -> None:
    made = grants.set_grant(principal=as_anna, domain="geheim", agent_role="", permission="none")
    assert made is not None
    assert "geheim" not in page.get(PAGES).content.decode()
    for path in (f"{PAGES}{made.id}/change/", f"{PAGES}{made.id}/delete/", f"{PAGES}{made.id}/history/"):
        assert "geheim" not in page.get(path, follow=True).content.decode()
        page.post(path, {"permission": "write", "post": "yes"})
    asked = {"scope_ref": as_anna.default_scope, "domain": "stil", "agent_role": "", "permission": "none"}
    assert page.post(f"{PAGES}add/", asked).status_code == 200  # the form comes back
    assert grants.list_grants(principal=as_anna) == (made,)


def test_what_makes_no_sense_comes_back_with_the_form(page: Client, gerda: User) -> None:
    own = person(gerda).default_scope
    for wrong in ({"domain": "a b"}, {"agent_role": "Rev iew"}, {"permission": "all"}, {"domain": "a\x00"}):
        asked = {"scope_ref": own, "domain": "stil", "agent_role": "", "permission": "none", **wrong}
        response = page.post(f"{PAGES}add/", asked)
        assert response.status_code == 200
        assert b"errorlist" in response.content
    assert grants.list_grants(principal=person(gerda)) == ()


def test_a_person_who_is_no_staff_is_sent_away(anna: User) -> None:
    client = Client()
    client.force_login(anna)
    assert client.get(PAGES).status_code == 302
