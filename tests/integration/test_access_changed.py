"""Whatever door changes who may read what: it is logged, and the open pages of whom it concerns are told at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.socialaccount.models import SocialApp
from django.db import transaction
from django.test import Client

from gedaechtnis.identity import access, groups
from gedaechtnis.identity.models import Group, GroupMembership, Org, OrgMembership, User
from gedaechtnis.identity.oidc import claims
from gedaechtnis.identity.principals import user_scope

PROVIDER = SocialApp(provider_id="oidc-example", settings={"groups_claim": "groups", "groups": []})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scopes whose open pages heard that their rights changed, in order."""
    heard: list[str] = []

    def publish(scope_ref: str, payload: dict[str, Any]) -> None:
        assert payload == {"type": "access.changed", "ids": []}
        heard.append(scope_ref)

    monkeypatch.setattr(access, "_publish", publish)
    return heard


@pytest.fixture
def admin_pages(anna: User, page_for: Callable[[User], Client]) -> Client:
    User.objects.filter(pk=anna.pk).update(is_staff=True, is_superuser=True)
    return page_for(anna)


@pytest.fixture
def family(ben: User) -> Group:
    group = Group.objects.create(name="Familie")
    GroupMembership.objects.create(group=group, user=ben, role="editor")
    return group


def form(group: Group, **fields: Any) -> dict[str, Any]:
    """The admin's form of a group as it stands, with other values in some fields."""
    row = group.memberships.get()
    rows = {"TOTAL_FORMS": 1, "INITIAL_FORMS": 1, "0-id": row.pk, "0-group": group.pk, "0-user": row.user_id}
    rows = {f"memberships-{name}": value for name, value in {**rows, "0-role": row.role}.items()}
    return {"name": group.name, "org": "", "closed_at_0": "", "closed_at_1": "", **rows, **fields}


def test_groups_of_a_claim(ben: User, told: list[str]) -> None:
    claims.follow(ben, PROVIDER, {"groups": ["Familie"]})
    assert told == [user_scope(ben.sub)]
    claims.follow(ben, PROVIDER, {"groups": ["Familie"]})
    assert told == [user_scope(ben.sub)], "nothing changed"
    claims.follow(ben, PROVIDER, {})
    assert told == [user_scope(ben.sub)] * 2


@pytest.mark.parametrize(
    "change",
    [
        {"memberships-0-role": "viewer"},
        {"memberships-0-DELETE": "on"},
        {"closed_at_0": "2026-11-01", "closed_at_1": "12:00"},
    ],
    ids=["role", "removed", "closed"],
)
def test_the_form_of_a_group_in_the_admin(
    ben: User, family: Group, admin_pages: Client, told: list[str], change: dict[str, Any]
) -> None:
    address = f"/admin/identity/group/{family.pk}/change/"
    assert admin_pages.post(address, form(family)).status_code == 302
    assert told == [], "nothing changed"
    assert admin_pages.post(address, form(family, **change)).status_code == 302
    assert told == [user_scope(ben.sub)]


def test_no_form_moves_a_group_out_of_its_organisation(family: Group, admin_pages: Client) -> None:
    """Its rows could not follow."""
    org = Org.objects.create(name="Werk")
    address = f"/admin/identity/group/{family.pk}/change/"
    assert admin_pages.post(address, form(family, org=str(org.pk))).status_code == 302
    family.refresh_from_db()
    assert family.org is None


def test_deleting_in_the_admin(ben: User, family: Group, admin_pages: Client, told: list[str]) -> None:
    org = Org.objects.create(name="Werk")
    OrgMembership.objects.create(org=org, user=ben)
    assert admin_pages.post(f"/admin/identity/group/{family.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not Group.objects.exists()
    chosen = {"action": "delete_selected", "_selected_action": str(org.pk), "post": "yes"}
    assert admin_pages.post("/admin/identity/org/", chosen).status_code == 302
    assert not Org.objects.exists()
    assert told == [user_scope(ben.sub)] * 2


def test_disabling_somebody_in_the_admin(ben: User, admin_pages: Client, told: list[str]) -> None:
    fields = {"username": "ben", "date_joined_0": "2026-01-01", "date_joined_1": "12:00"}
    assert admin_pages.post(f"/admin/identity/user/{ben.pk}/change/", {**fields, "is_active": "on"}).status_code == 302
    assert told == []
    assert admin_pages.post(f"/admin/identity/user/{ben.pk}/change/", fields).status_code == 302
    assert told == [user_scope(ben.sub)]


def test_what_is_undone_is_not_told(anna: User, told: list[str]) -> None:
    with transaction.atomic():
        groups.create_group(user=anna, name="Familie")
        transaction.set_rollback(True)
    assert told == []
