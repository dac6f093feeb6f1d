"""A worker that is killed between the turn and the commit costs nothing but time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.conf import LazySettings

from gedaechtnis.chat import services
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.scoping.models import Work
from tests.stack import Stack

pytestmark = pytest.mark.slow


def eventually(holds: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.1)
    return found


def test_the_fact_is_there_once_after_kill_9_in_the_middle_of_the_commit(
    anna: User, stack: Stack, admin_connection: psycopg.Connection[Any], settings: LazySettings
) -> None:
    settings.GEDAECHTNIS_CURATOR_IDLE_SECONDS = 0
    principal = person(anna)
    chat = services.main_chat(principal=principal)
    with admin_connection.transaction():
        # The worker's commit waits for the clock as for another commit, so it dies with its transaction open.
        held = "SELECT 1 FROM scopes WHERE scope_ref = %s FOR NO KEY UPDATE"
        admin_connection.execute(held, [principal.default_scope])
        services.post_message(principal=principal, chat_id=chat.id, text="Luna ist meine Katze")
        eventually(lambda: admin_connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        stack.kill_worker()
    assert entities.search_entities(principal=principal, q="Luna").items == ()
    assert Work.objects.filter(kind="curate").exists()

    stack.start_worker()
    (luna,) = eventually(lambda: entities.search_entities(principal=principal, q="Luna").items)
    eventually(lambda: not Work.objects.filter(kind="curate").exists())
    rows = asof.history(principal=principal, entity_id=luna.id, beliefs="all")
    assert sorted(fact.predicate for fact in rows) == ["name", "owned_by", "species"]
    assert all(fact.mentions == 1 for fact in rows)
