"""The pages of a workspace's knowledge: what they show, to whom, and what each act does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.memory.schemas import OperationResult

PageFor = Callable[[User], Client]
HTMX = {"HX-Request": "true"}
PAGES = ["/gebiete/", "/regeln/", "/arbeitsgedaechtnis/", "/widersprueche/"]
PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."


def say(principal: Principal, content: str, domain: str = "architecture", **more: Any) -> OperationResult:
    return propose_statement(principal=principal, content=content, domain=domain, **more).results[-1]


def seen(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


@pytest.mark.parametrize("address", PAGES)
def test_an_empty_page_teaches(anna: User, page_for: PageFor, address: str) -> None:
    page = seen(page_for(anna), address)
    assert 'class="examples"' in page
    assert "<!doctype html>" not in page_for(anna).get(address, headers=HTMX).content.decode()
