"""Searching through the API while the embedding service is down, slow, wrong or being replaced.

There is always an answer; it says what is missing, and what had to wait is found by its meaning afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command

from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.memory import ports, spaces
from gedaechtnis.memory.projecting import switching
from gedaechtnis.scoping import work
from tests.acceptance.api.support import fact, propose
from tests.acceptance.api.test_search import HOUSE, SEARCH, notes
from tests.embedding_endpoint import Service, running, vector_of
from tests.integration.test_embeddings_switch import Interrupted
from tests.projected import use

BICYCLE, LADDER, TAX = "Lena fährt ein rotes Fahrrad", "Die Leiter steht beim Nachbarn", "Die Steuer ist fällig"


@pytest.fixture
def services() -> Iterator[tuple[Service, Service]]:
    with ExitStack() as stack:
        yield stack.enter_context(running()), stack.enter_context(running())


@pytest.fixture
def service(services: tuple[Service, Service]) -> Service:
    return services[0]


@pytest.fixture(autouse=True)
def models(
    database: None, services: tuple[Service, Service], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Interrupted, Interrupted]]:
    """The one of the settings, and another to go over to."""
    services[1].dimensions = 32
    old, new = (Interrupted(service.address) for service in services)
    use(monkeypatch, old, new)
    yield old, new
    for model in (old, new):
        spaces.drop_index(model.name)


def work_off() -> None:
    while work.run_due():
        pass


def find(api: Any, query: str, **asked: Any) -> dict[str, Any]:
    response = api.post(SEARCH, {"query": query, **asked})
    assert response.status_code == 200, response.content
    assert b"NaN" not in response.content
    answer: dict[str, Any] = response.json()
    assert all(0 <= hit["score"] <= 1 for hit in answer["hits"])
    return answer


def voices(answer: dict[str, Any]) -> dict[str, set[str]]:
    return {hit["text"]: set(hit["voices"]) for hit in answer["hits"]}


def is_told(answer: dict[str, Any]) -> bool:
    return any(note.startswith("semantic:") for note in answer["missing"])


def test_case_c71_what_has_a_broken_vector_is_found_by_its_words_alone(api: Any, service: Service) -> None:
    right = vector_of("Fahrrad")
    zeros, nan, short = (f"Fahrrad Nummer {n}" for n in ("eins", "zwei", "drei"))
    service.odd = {
        zeros: [0.0] * service.dimensions,
        nan: [float("nan"), *right[1:]],
        short: right[1:],
        "Fahrrad ohne Richtung": [0.0] * service.dimensions,
    }
    propose(api, HOUSE, *notes(zeros, nan, short, BICYCLE))
    work_off()
    found = voices(find(api, "Fahrrad", source_kinds=["fact"]))
    assert "semantic" in found[BICYCLE]
    assert all("lexical" in found[text] and "semantic" not in found[text] for text in (zeros, nan, short))

    blind = find(api, "Fahrrad ohne Richtung", source_kinds=["fact"])
    assert is_told(blind)
    assert set(voices(blind)) >= {zeros, nan, short, BICYCLE}
    assert not any("semantic" in heard for heard in voices(blind).values())

    service.odd.clear()
    with clock.frozen(clock.now() + timedelta(hours=1)):
        work_off()
        found = voices(find(api, "Fahrrad Nummer", source_kinds=["fact"]))
        assert all("semantic" in found[text] for text in (zeros, nan, short))


def is_down(service: Service) -> None:
    service.status = 503


def is_slow(service: Service) -> None:
    service.seconds = 2.5


def has_vectors_of_another_length(service: Service) -> None:
    service.dimensions = 48


def answers_nonsense(service: Service) -> None:
    service.answer = lambda _data: {"vectors": "none"}


@pytest.mark.parametrize("goes_wrong", [is_down, is_slow, has_vectors_of_another_length, answers_nonsense])
def test_there_is_an_answer_meanwhile_and_nothing_is_lost(
    api: Any, services: tuple[Service, Service], goes_wrong: Callable[[Service], None]
) -> None:
    service, fine = services[0], Service()
    propose(api, HOUSE, *notes(LADDER))
    work_off()
    assert not is_told(find(api, "Leiter"))

    goes_wrong(service)
    meanwhile = clock.now()
    with clock.frozen(meanwhile):
        propose(api, *notes(BICYCLE))
        work_off()
        answer = find(api, "Fahrrad und Leiter", source_kinds=["fact"])
        assert is_told(answer)
        assert all("lexical" in voices(answer)[text] for text in (LADDER, BICYCLE))
        assert not any("semantic" in heard for heard in voices(answer).values())

    service.status, service.seconds, service.answer = fine.status, fine.seconds, fine.answer
    service.dimensions = fine.dimensions
    with clock.frozen(meanwhile + timedelta(hours=1)):
        work_off()
        answer = find(api, "Fahrrad", source_kinds=["fact"])
        assert not is_told(answer)
        assert "semantic" in voices(answer)[BICYCLE]


def test_a_model_is_replaced_while_people_search_and_write(
    api: Any, anna: User, models: tuple[Interrupted, Interrupted], monkeypatch: pytest.MonkeyPatch
) -> None:
    _old, new = models
    monkeypatch.setattr(switching, "BATCH", 3)
    propose(api, HOUSE, *notes(BICYCLE, LADDER, TAX, *(f"Satz {number} über Lena" for number in range(6))))
    work_off()
    heard: list[set[str]] = []

    def search(_batch: int = 0) -> None:
        answer = find(api, "Fahrrad", source_kinds=["fact"])
        assert answer["hits"][0]["text"] == BICYCLE
        heard.append(set(answer["hits"][0]["voices"]))

    def search_and_write(batch: int) -> None:
        search()
        if batch == 2:
            propose(api, fact("note", "Briefmarken", subject="topic:haus", statement="Ben sammelt Briefmarken"))
            work_off()

    new.before = search_and_write
    switching.switch(new, lambda _text: search())
    new.before = lambda _batch: None
    search()
    assert len(heard) > 4
    assert all({"lexical", "semantic"} <= voices for voices in heard)
    work_off()
    assert "semantic" in voices(find(api, "Briefmarken", source_kinds=["fact"]))["Ben sammelt Briefmarken"]


def test_it_says_what_the_model_may_not_read(
    api: Any, service: Service, models: tuple[Interrupted, Interrupted]
) -> None:
    models[0].clearance = 1
    propose(api, HOUSE, *notes(BICYCLE))
    work_off()
    told = "semantic: Was für das Modell zu vertraulich ist, wird nur über seine Wörter gefunden"
    assert told in find(api, "Fahrrad")["missing"]
    models[0].clearance = 3
    assert told not in find(api, "Fahrrad")["missing"]


def test_what_came_while_meaning_was_off_gets_its_vectors_at_the_next_start(
    api: Any, service: Service, models: tuple[Interrupted, Interrupted]
) -> None:
    ports.bind_embedding_model(None, ports.model_at)
    propose(api, HOUSE, *notes(BICYCLE))
    work_off()
    ports.bind_embedding_model(models[0], ports.model_at)
    work_off()
    assert "semantic" not in voices(find(api, "Fahrrad", source_kinds=["fact"]))[BICYCLE]
    call_command("setup", verbosity=0)
    work_off()
    assert "semantic" in voices(find(api, "Fahrrad", source_kinds=["fact"]))[BICYCLE]
