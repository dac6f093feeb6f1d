"""What search reads is what a rebuild would make, after whatever happened; and it can be checked and made again."""

from __future__ import annotations

import io
import random
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from gedaechtnis.chat import episodes as said
from gedaechtnis.chat.models import Chat, Message
from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.projecting import checking, episodes, index, projections
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchQuery
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import EntityKind
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import Work
from gedaechtnis.world.models import Projection
from tests.integration.test_projections import luna
from tests.integration.test_projections import said as say

Admin = psycopg.Connection[Any]


def differences(scope_ref: str) -> dict[str, int]:
    return dict(said.check(scope_ref=scope_ref) + checking.check(scope_ref=scope_ref))


FAULTS = {
    "facts": "UPDATE memory_projections SET superseded_at = now() WHERE source_kind = 'fact'",
    "cards": "UPDATE memory_projections SET text = text || ' mehr' WHERE source_kind = 'entity'",
    "messages": "UPDATE memory_projections SET role = 'other' WHERE source_kind = 'episode'",
    "words": "UPDATE memory_projections SET lexemes = '{falsch}', counts = '{1}' WHERE source_kind = 'episode'",
    "word counts": "UPDATE lexeme_counts SET documents = documents + 1",
    "text counts": "UPDATE projection_counts SET length = length + 1",
    "postings": "UPDATE projection_terms SET is_current = NOT is_current",
    "strays": "UPDATE memory_projections SET source_id = gen_random_uuid() WHERE source_kind = 'fact'",
    "indexed too seen": "UPDATE memory_projections SET indexed_classification = 3 WHERE source_kind = 'entity'",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_kind_of_fault_is_told_and_mended(as_anna: Principal, fault: str, admin_connection: Admin) -> None:
    own = as_anna.default_scope
    luna(as_anna)
    say(as_anna, "Das Wasser war kalt.")
    with scope(as_anna, write=own):
        Chat.objects.update(last_seq=1)
    said.rebuild(scope_ref=own)
    assert differences(own) == {}
    admin_connection.execute(FAULTS[fault])
    assert fault in differences(own)
    with pytest.raises(CommandError, match="differences"):
        call_command("index", check=True, scope=own, stdout=io.StringIO())
    call_command("index", rebuild=True, stdout=io.StringIO())
    assert differences(own) == {}
    call_command("index", check=True, stdout=io.StringIO())


def test_an_unknown_scope_is_refused(database: None) -> None:
    with pytest.raises(CommandError, match="no such scope"):
        call_command("index", check=True, scope="group:none")


# What the registry lets search find


def switch(client: Client, model: str, key: str, **values: Any) -> None:
    """Change a term in the admin, as people do."""
    address = f"/admin/registry/{model}/{key}/change/"
    form = client.get(address).context["adminform"].form
    filled = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    posted = {name: value for name, value in {**filled, **values}.items() if value not in (None, False)}
    response = client.post(address, posted)
    assert response.status_code == 302, response.context["errors"]


def work_off() -> None:
    with clock.frozen(clock.now() + timedelta(minutes=1)):
        while work.run_due():
            pass


@pytest.mark.parametrize(("model", "key", "flag"), [("predicate", "species", "embed"), ("entitykind", "pet", "rag")])
def test_what_is_found_follows_the_registry(
    as_anna: Principal, anna: User, page_for: Callable[[User], Client], model: str, key: str, flag: str
) -> None:
    luna(as_anna)
    User.objects.filter(pk=anna.pk).update(is_staff=True, is_superuser=True)
    client = page_for(anna)

    def found() -> set[str]:
        work_off()
        query = SearchQuery(text="Katze Haustier", mode="keyword")
        return {hit.source_kind for hit in search.search(principal=as_anna, query=query).hits}

    assert found() == {"fact", "entity"}
    try:
        switch(client, model, key, **{flag: False})
        assert found() == ({"entity"} if model == "predicate" else set())
        assert differences(as_anna.default_scope) == {}
    finally:
        switch(client, model, key, **{flag: True})
        catalogue.forget()
    assert found() == {"fact", "entity"}
    assert differences(as_anna.default_scope) == {}


def test_a_card_follows_the_words_for_its_kind(
    as_anna: Principal, anna: User, page_for: Callable[[User], Client]
) -> None:
    luna(as_anna)
    index.run(scope_ref=as_anna.default_scope)
    User.objects.filter(pk=anna.pk).update(is_staff=True, is_superuser=True)
    was = EntityKind.objects.get(pk="pet").label_de
    try:
        switch(page_for(anna), "entitykind", "pet", label_de="Hausgenosse")
        work_off()
        with scope(as_anna):
            assert Projection.objects.filter(source_kind="entity", text__contains="Hausgenosse").exists()
        assert differences(as_anna.default_scope) == {}
    finally:
        EntityKind.objects.filter(pk="pet").update(label_de=was)
        catalogue.forget()


# Two at once


def test_a_message_that_becomes_sensitive_while_others_become_findable_does_not_wait_for_ever(
    as_anna: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The curator has asked for the index, and then judges a message; the worker holds the index, and then asks."""
    own = as_anna.default_scope
    (first,) = say(as_anna, "Ich nehme jetzt Sertralin.")
    index.run(scope_ref=own)
    Work.objects.all().delete()
    has_asked, has_lock = threading.Event(), threading.Event()
    failures: list[BaseException] = []
    really_store = projections.store

    def store(*args: Any) -> None:
        really_store(*args)
        has_lock.set()
        has_asked.wait(5)

    def become_findable() -> None:
        has_asked.wait(5)
        monkeypatch.setattr(projections, "store", store)
        episodes.store(principal=as_anna, episodes=[first])

    def judge() -> None:
        with scope(as_anna, write=own):
            index.ask(own)
            has_asked.set()
            has_lock.wait(1)
            Message.objects.filter(pk=first.message_id).update(classification=3)

    def run(act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in (judge, become_findable)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert failures == []


@pytest.mark.parametrize("cursor", ["W1tbW1tb" * 200, "WzEsMl0=", "x", "é", "W10=", "WzFlOTk5LCAiYSJd"])
def test_a_marker_made_up_is_refused(as_anna: Principal, cursor: str) -> None:
    with pytest.raises(Problem) as refused:
        search.search(principal=as_anna, query=SearchQuery(text="Luna", cursor=cursor))
    assert refused.value.code == "invalid_cursor"


def test_whatever_happens_leaves_a_true_index(as_anna: Principal, anna: User, client_for: Any) -> None:
    chance = random.Random(7)  # noqa: S311 (the same at each run)
    api = client_for(anna)
    names = ("Luna", "Mikesch", "Findus", "Mohrle")
    for _ in range(30):
        act = chance.randrange(5)
        if act == 0:
            api.post("/api/chats/main/messages", {"text": f"Meine Katze heißt {chance.choice(names)}."})
        elif act == 1:
            luna(as_anna, chance.choice(names))
        elif act == 2:
            index.run(scope_ref=as_anna.default_scope, limit=chance.randint(1, 6))
        elif act == 3:
            api.post("/api/chats/main/messages", {"text": f"{chance.choice(names)} frisst kein Huhn mehr."})
        else:
            work.run_due(limit=chance.randint(1, 4))
    while work.run_due():
        pass
    assert differences(as_anna.default_scope) == {}


def test_markers_and_moments_of_thousand_brackets_are_refused(client_for: Any, anna: User) -> None:
    api, deep = client_for(anna), "W1tbW1tb" * 200
    assert api.get("/api/world/entities", {"cursor": deep}).json()["code"] == "invalid_cursor"
    response = api.get("/api/world/entities", {"known_at": f"basis:{deep}"})
    assert response.status_code == 422
    assert api.post("/api/world/search", {"query": "Luna", "known_at": deep}).status_code == 422
