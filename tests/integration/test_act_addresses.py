"""The address of an act, opened instead of posted to, leads to the page the act is on."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User

SOME_ID = UUID("019ff000-0000-7000-8000-000000000001")

ABOVE = [
    ("message-post", [], "/"),
    ("entity-new", [], "/wissen/"),
    ("entity-note", ["person:eva"], "/wissen/person:eva/"),
    ("policy-switch", [SOME_ID], "/regeln/"),
    ("conflict-settle", [SOME_ID], "/widersprueche/"),
    ("pad-update", [], "/arbeitsgedaechtnis/"),
    ("domain-grant", [], "/gebiete/"),
    ("undo", [], "/"),
    ("fact-end", [SOME_ID], f"/tatsachen/{SOME_ID}/"),
    ("proposal-accept", [SOME_ID], "/"),
    ("group-role", [SOME_ID, SOME_ID], f"/einstellungen/gruppen/{SOME_ID}/"),
    ("token-revoke", [SOME_ID], "/einstellungen/zugaenge/"),
    ("unavailable-end", [SOME_ID], "/einstellungen/daten/"),
]


@pytest.mark.parametrize(("act", "named", "page"), ABOVE)
def test_it_leads_to_the_page(
    act: str, named: list[str], page: str, anna: User, page_for: Callable[[User], Client]
) -> None:
    assert page_for(anna).get(reverse(act, args=named))["Location"] == page


def test_after_a_refusal_and_an_ended_session_one_comes_back_to_it(
    anna: User, page_for: Callable[[User], Client]
) -> None:
    group = groups.create_group(user=anna, name="Familie")
    client = page_for(anna)
    refused = reverse("group-add", args=[group.pk])
    assert client.post(refused, {"username": "niemand", "role": "editor"}).status_code == 422
    client.cookies.clear()
    sent = client.post(refused, {"username": "ben"}, headers={"Referer": f"http://testserver{refused}"})
    client.force_login(anna)
    back = client.get(sent["Location"].partition("?next=")[2], follow=True)
    assert back.redirect_chain == [(reverse("group", args=[group.pk]), 302)]
