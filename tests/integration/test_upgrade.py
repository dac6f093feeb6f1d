"""An instance from before there was search: what it holds is found after `setup`, without anybody writing again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import call_command

from gedaechtnis.chat import services
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchQuery
from gedaechtnis.memory.services import facts
from gedaechtnis.scoping import work

LAST_BEFORE = "0004_imports"
MADE_SINCE = (
    "memory_projections, projection_terms, lexeme_counts, projection_counts, projection_vectors, projection_marks, "
    "episode_marks, work"
)


@pytest.fixture
def of_before(anna: User, as_anna: Principal, admin_connection: psycopg.Connection[Any]) -> Iterator[None]:
    """A fact and a message of Anna's, and nothing that search reads."""
    facts.introduce(principal=as_anna, kind="place", name="Waschküche", scope_ref=as_anna.default_scope)
    chat = services.main_chat(principal=as_anna)
    services.post_message(principal=as_anna, chat_id=chat.id, text="Im Keller steht der alte Dampfreiniger")
    call_command("migrate", "chat", LAST_BEFORE, database="owner", verbosity=0)
    admin_connection.execute(f"TRUNCATE {MADE_SINCE}")
    yield
    call_command("migrate", database="owner", verbosity=0)


@pytest.mark.parametrize("asked", ["Waschküche", "Dampfreiniger"])
def test_what_was_there_before_is_found_after_an_upgrade(of_before: None, as_anna: Principal, asked: str) -> None:
    call_command("setup", verbosity=0)
    while work.run_due():
        pass
    (hit, *_others) = search.search(principal=as_anna, query=SearchQuery(text=asked)).hits
    assert asked in hit.text
