"""What caches and histories may keep of a page, and which of its two forms an address answers with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from gedaechtnis.identity.models import User

HTMX = {"HX-Request": "true"}
RESTORED = {**HTMX, "HX-History-Restore-Request": "true"}
PAGES = ["/", "/wissen/?q=Garten", "/suche/?q=Garten", "/regeln/", "/einstellungen/", "/einstellungen/zugaenge/"]


@pytest.mark.parametrize("address", PAGES)
def test_case_c111_a_private_page_is_kept_by_no_cache(
    anna: User, page_for: Callable[[User], Client], address: str
) -> None:
    for headers in ({}, HTMX, RESTORED):
        answer = page_for(anna).get(address, headers=headers)
        assert answer.status_code == 200
        assert answer["Cache-Control"] == "no-store"
        assert {"HX-Request", "HX-History-Restore-Request", "Cookie"} <= set(answer["Vary"].split(", "))


def test_neither_is_what_is_missing(anna: User, page_for: Callable[[User], Client]) -> None:
    for address in ("/wissen/person:niemand/", "/nowhere/"):
        answer = page_for(anna).get(address)
        assert answer.status_code == 404
        assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("address", ["/", "/wissen/?q=Garten", "/suche/?q=Garten"])
def test_case_c111_htmx_gets_a_part_but_going_back_the_whole_page(
    anna: User, page_for: Callable[[User], Client], address: str
) -> None:
    client = page_for(anna)
    part, whole, restored = (client.get(address, headers=headers).content for headers in (HTMX, {}, RESTORED))
    assert b"<!doctype html>" not in part
    for page in (whole, restored):
        assert page.startswith(b"<!doctype html>")
        assert b'hx-history="false"' in page


def test_case_c111_htmx_is_sent_to_the_sign_in_page_by_a_header(database: None) -> None:
    headers = {**HTMX, "HX-Current-URL": "http://testserver/wissen/?q=Garten"}
    for answer in (Client().get("/wissen/?q=Gar", headers=headers), Client().post("/nachrichten/", headers=headers)):
        assert answer["HX-Redirect"] == "/anmelden/?next=/wissen/%3Fq%3DGarten"
        assert answer.content == b""
