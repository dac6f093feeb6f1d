"""Going over to another embedding model: search answers throughout, and whatever breaks off goes on where it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from gedaechtnis.embeddings.openai_compatible import OpenAICompatibleModel
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import spaces
from gedaechtnis.memory.ports import EmbeddingsUnavailable
from gedaechtnis.memory.projecting import switching
from gedaechtnis.memory.selectors.recall import meaning
from gedaechtnis.world.models import VectorSpace
from tests.embedding_endpoint import Service, running
from tests.projected import embed_all, found, project, stored, use

TEXTS = [f"Satz {number} von Lena" for number in range(7)] + ["Lena fährt Fahrrad"]


class Interrupted(OpenAICompatibleModel):
    """Lets something happen before each batch."""

    def __init__(self, address: str) -> None:
        super().__init__(address, key="", clearance=3, pause=lambda _seconds: None)
        self.before: Callable[[int], None] = lambda _batch: None
        self.batches = 0

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
        if not as_query:
            self.batches += 1
            self.before(self.batches)
        return super().embed(texts, as_query=as_query)


@pytest.fixture
def services() -> Iterator[tuple[Service, Service]]:
    with ExitStack() as stack:
        old, new = stack.enter_context(running()), stack.enter_context(running())
        new.dimensions = 32
        yield old, new


@pytest.fixture
def models(
    database: None, services: tuple[Service, Service], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Interrupted, Interrupted]]:
    """The one in use, and the one to go over to, in small batches."""
    old, new = (Interrupted(service.address) for service in services)
    use(monkeypatch, old, new)
    monkeypatch.setattr(switching, "BATCH", 3)
    yield old, new
    for model in (old, new):
        spaces.drop_index(model.name)


@pytest.fixture
def ids(anna: User, models: tuple[Interrupted, Interrupted]) -> list[UUID]:
    made = project(f"user:{anna.sub}", *TEXTS)
    embed_all(f"user:{anna.sub}")
    return made


def silent(_text: str) -> None:
    """Tells nobody."""


def indexes() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'i' AND relname LIKE 'projection_vectors_near_%%'")
        return {name for (name,) in cursor.fetchall()}


def test_search_answers_throughout(
    anna: User, as_anna: Principal, ids: list[UUID], models: tuple[Interrupted, Interrupted]
) -> None:
    old, new = models
    answers: list[tuple[str, UUID]] = []

    def search(_batch: int = 0) -> None:
        answers.append((meaning.ask("Fahrrad").model, found(as_anna, "Fahrrad", 1)[0]))

    new.before = search
    switching.switch(new, lambda _text: search())
    search()
    names = [name for name, _hit in answers]
    assert names == sorted(names, key=[old.name, new.name].index), "old until it is complete, then new"
    assert {hit for _name, hit in answers} == {ids[-1]}
    assert set(names) == {old.name, new.name}
    assert set(stored(f"user:{anna.sub}").values()) == {new.name}
    assert [(space.name, space.is_active) for space in VectorSpace.objects.all()] == [(new.name, True)]
    assert spaces.index_name(new.name) in indexes()
    assert spaces.index_name(old.name) not in indexes()


class Killed(BaseException):
    """As if the process ended."""


@pytest.mark.parametrize("batch", [2, 3, 4])
def test_killed_in_the_middle_it_goes_on_where_it_was(
    anna: User, as_anna: Principal, ids: list[UUID], models: tuple[Interrupted, Interrupted],
    services: tuple[Service, Service], batch: int,
) -> None:  # fmt: skip
    old, new = models

    def kill(count: int) -> None:
        if count == batch:
            raise Killed

    new.before = kill
    with pytest.raises(Killed):
        switching.switch(new, silent)
    assert meaning.ask("Fahrrad").model == old.name
    assert found(as_anna, "Fahrrad", 1) == [ids[-1]]
    new.before = lambda _batch: None
    switching.switch(new, silent)
    assert found(as_anna, "Fahrrad", 1) == [ids[-1]]
    sent = [text for texts in services[1].asked for text in texts if text in TEXTS]
    assert sorted(sent) == sorted(TEXTS), "nothing is sent twice"


def test_killed_after_the_change_it_still_cleans_up(
    anna: User, as_anna: Principal, ids: list[UUID], models: tuple[Interrupted, Interrupted],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    _old, new = models

    def kill(_name: str) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(spaces, "drop_index", kill)
        with pytest.raises(Killed):
            switching.switch(new, silent)
    assert found(as_anna, "Fahrrad", 1) == [ids[-1]]
    switching.switch(new, silent)
    assert set(stored(f"user:{anna.sub}").values()) == {new.name}
    assert VectorSpace.objects.count() == 1


def test_a_service_that_goes_down_midway_changes_nothing(
    as_anna: Principal, ids: list[UUID], models: tuple[Interrupted, Interrupted], services: tuple[Service, Service]
) -> None:
    old, new = models

    def fail(batch: int) -> None:
        services[1].status = 503 if batch == 3 else 200

    new.before = fail
    with pytest.raises(EmbeddingsUnavailable, match="503"):
        switching.switch(new, silent)
    assert meaning.ask("Fahrrad").model == old.name
    assert found(as_anna, "Fahrrad", 1) == [ids[-1]]


def test_a_service_with_vectors_of_another_length_is_not_gone_over_to(
    as_anna: Principal, ids: list[UUID], models: tuple[Interrupted, Interrupted], services: tuple[Service, Service]
) -> None:
    old, new = models
    services[1].dimensions = 48
    with pytest.raises(EmbeddingsUnavailable, match="32"):
        switching.switch(new, silent)
    assert meaning.ask("Fahrrad").model == old.name
    assert found(as_anna, "Fahrrad", 1) == [ids[-1]]


def test_what_comes_meanwhile_is_found_at_once_and_afterwards(
    anna: User, as_anna: Principal, ids: list[UUID], models: tuple[Interrupted, Interrupted]
) -> None:
    _old, new = models
    own = f"user:{anna.sub}"
    added: list[UUID] = []

    def add(batch: int) -> None:
        if batch > 5:
            return
        added.extend(project(own, f"Ben sammelt Briefmarken {len(added)}"))
        embed_all(own)
        assert added[-1] in found(as_anna, "Briefmarken", len(added))

    new.before = add
    switching.switch(new, silent)
    new.before = lambda _batch: None
    embed_all(own)
    assert set(found(as_anna, "Briefmarken", len(added))) == set(added)


def test_other_settings_alone_change_nothing_but_are_said(
    ids: list[UUID], as_anna: Principal, models: tuple[Interrupted, Interrupted], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = models
    use(monkeypatch, new, old)
    asked = meaning.ask("Fahrrad")
    assert asked.model == old.name
    assert asked.vector is not None
    assert "embeddings switch" in asked.missing[0]
    assert found(as_anna, "Fahrrad", 1) == [ids[-1]]


def manage(*arguments: str) -> str:
    out = StringIO()
    call_command("embeddings", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_tells_how_it_goes(ids: list[UUID], models: tuple[Interrupted, Interrupted]) -> None:
    old, new = models
    assert f"{old.name} (searched): 8 of 8 texts have a vector" in manage("status")
    said = manage("switch", new.address)
    assert f"{new.name} is searched from now on" in said
    assert f"set GEDAECHTNIS_EMBEDDINGS={new.address}" in said
    assert f"{new.name} (searched): 8 of 8 texts have a vector" in manage("status")


@pytest.mark.parametrize("address", ["none", "word2vec", "openai:m@nowhere#3"])
def test_the_command_refuses_what_is_no_model(database: None, address: str) -> None:
    with pytest.raises(CommandError, match=r"bundled|GEDAECHTNIS_EMBEDDINGS"):
        manage("switch", address)


def test_the_command_says_when_the_service_fails(
    ids: list[UUID], models: tuple[Interrupted, Interrupted], services: tuple[Service, Service]
) -> None:
    services[1].status = 401
    with pytest.raises(CommandError, match=r"401.*Ask again"):
        manage("switch", models[1].address)
