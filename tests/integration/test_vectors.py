"""Texts get their vectors behind everybody's back, and a model that fails takes nothing along."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from gedaechtnis.common import clock
from gedaechtnis.embeddings.openai_compatible import OpenAICompatibleModel
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, system
from gedaechtnis.memory import ports, resolution, spaces
from gedaechtnis.memory.projecting import index, vectors
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.selectors.recall import meaning, nearest, records
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import Work
from gedaechtnis.world.models import Projection, VectorSpace
from tests.conftest import text_of
from tests.embedding_endpoint import Service, running, vector_of
from tests.projected import embed_all, found, project, projection, stored, use


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture
def model(database: None, service: Service, monkeypatch: pytest.MonkeyPatch) -> ports.EmbeddingModel:
    """The service as the model of the settings, without pauses and without being left alone."""
    made = OpenAICompatibleModel(service.address, key="", clearance=2, pause=lambda _seconds: None)
    use(monkeypatch, made)
    return made


@pytest.fixture
def own(anna: User) -> str:
    """Anna's scope, of which nothing is found but what a test puts there."""
    Work.objects.filter(kind="index").delete()
    return f"user:{anna.sub}"


def test_waiting_texts_get_vectors_and_are_found(model: ports.EmbeddingModel, as_anna: Principal, own: str) -> None:
    bicycle, tax = project(own, "Lena fährt Fahrrad", "Die Steuer ist fällig")
    assert vectors.embed_pending(scope_ref=own) == vectors.Progress(done=2)
    assert stored(own) == {bicycle: model.name, tax: model.name}
    assert not projection(own, bicycle).vector_pending
    assert found(as_anna, "Fahrrad") == [bicycle, tax]
    assert vectors.embed_pending(scope_ref=own) == vectors.Progress()


def test_a_stranger_finds_nothing(model: ports.EmbeddingModel, as_clara: Principal, own: str) -> None:
    project(own, "Lena fährt Fahrrad")
    embed_all(own)
    assert found(as_clara, "Fahrrad") == []


def test_case_c71_broken_vectors_are_never_ranked(
    model: ports.EmbeddingModel, service: Service, as_anna: Principal, own: str
) -> None:
    """C71: zeros, NaN and a wrong length are no vectors; their texts wait, and are found by their words."""
    right = vector_of("x")
    service.odd = {"F1": [0.0] * service.dimensions, "F2": [float("nan"), *right[1:]], "F3": right[1:]}
    *broken, good = project(own, "F1", "F2", "F3", "Ein Fahrrad")
    assert vectors.embed_pending(scope_ref=own) == vectors.Progress(done=1, failed=3)
    assert set(stored(own)) == {good}
    for id in broken:
        row = projection(own, id)
        assert (row.vector_pending, row.vector_attempts) == (True, 1), "marked to be tried again"
    asked = meaning.ask("Fahrrad")
    with scope(as_anna):
        ((id, near),) = nearest.nearest(asked.vector, asked.model, None, 10)
        assert id == good
        assert -1 <= near <= 1
        read = records.read([*broken, good], Filters(ticks={own: clock.now()}), asked)
        assert {record.id: record.similarity for record in read} == dict.fromkeys(broken) | {good: pytest.approx(near)}

    service.odd["Null?"] = [0.0] * service.dimensions
    asked = meaning.ask("Null?")
    assert asked.vector is None
    assert asked.missing
    with scope(as_anna):
        assert nearest.nearest(asked.vector, asked.model, None, 10) == []


def test_what_got_no_vector_is_tried_again_later_and_given_up_in_the_end(
    model: ports.EmbeddingModel, service: Service, own: str
) -> None:
    service.odd = {"F1": [0.0] * service.dimensions, "F2": [0.0] * service.dimensions}
    first, second = project(own, "F1", "F2")
    start = clock.now()
    with clock.frozen(start):
        vectors.ask(own)
        work.run_due()
        assert projection(own, first).vector_attempts == 1
        work.run_due()
        assert len(service.asked) == 1, "not at once"
    del service.odd["F1"]
    for hours in range(1, 7):
        with clock.frozen(start + timedelta(hours=hours * 2)):
            work.run_due()
    assert set(stored(own)) == {first}
    given_up = projection(own, second)
    assert (given_up.vector_pending, given_up.vector_attempts) == (False, vectors.MAX_ATTEMPTS)
    assert len(service.asked) == vectors.MAX_ATTEMPTS


def test_a_service_that_is_down_loses_nothing(
    model: ports.EmbeddingModel, service: Service, as_anna: Principal, own: str
) -> None:
    (id,) = project(own, "Lena fährt Fahrrad")
    service.status = 503
    start = clock.now()
    with clock.frozen(start):
        vectors.ask(own)
        work.run_due()
    assert (
        meaning.ask("Fahrrad").missing
        == ("semantic: das Modell für Bedeutung antwortet nicht: it answers with status 503",)
        or meaning.ask("Fahrrad").vector is None
    )
    row = projection(own, id)
    assert (row.vector_pending, row.vector_attempts) == (True, 0), "it is not the text's fault"
    service.status = 200
    with clock.frozen(start + timedelta(minutes=2)):
        work.run_due()
    assert found(as_anna, "Fahrrad") == [id]


def test_no_scope_is_open_while_the_model_thinks(own: str, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[bool] = []

    class Watching(OpenAICompatibleModel):
        def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
            opened.append(connection.in_atomic_block)
            return super().embed(texts, as_query=as_query)

    use(monkeypatch, Watching(service.address, key="", clearance=3))
    project(own, "Lena fährt Fahrrad")
    embed_all(own)
    meaning.ask("Fahrrad")
    assert opened == [False, False]


def test_a_text_that_changed_meanwhile_waits_for_its_own_vector(
    own: str, service: Service, as_anna: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed: list[str] = ["Lena fährt Auto"]

    class Interrupted(OpenAICompatibleModel):
        def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
            if changed:
                with scope(system(own, "index"), write=own):
                    Projection.objects.filter(id=first).update(text=changed.pop())
            return super().embed(texts, as_query=as_query)

    use(monkeypatch, Interrupted(service.address, key="", clearance=3))
    first, second = project(own, "Lena fährt Fahrrad", "Ben wandert")
    assert vectors.embed_pending(scope_ref=own) == vectors.Progress(done=1)
    assert set(stored(own)) == {second}
    embed_all(own)
    assert service.asked[-1] == ["Lena fährt Auto"]


def test_nothing_too_sensitive_is_sent(
    own: str, service: Service, as_anna: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, OpenAICompatibleModel(service.address, key="", clearance=1))
    (internal,) = project(own, "Die Leiter ist beim Nachbarn", classification=1)
    (personal,) = project(own, "Ein Geheimnis", classification=2)
    embed_all(own)
    assert service.asked == [["Die Leiter ist beim Nachbarn"]]
    assert set(stored(own)) == {internal}
    assert projection(own, personal).vector_attempts == vectors.WITHHELD
    assert meaning.ask("Leiter").clearance == 1


def test_a_turn_is_understood_with_the_turn_before_it(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class LooksBack:
        address, name, dimensions, clearance, looks_back = "here", "stub/4", 4, 3, True

        def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
            told.extend(texts)
            return [[1.0, 0.0, 0.0, 0.0] for _text in texts]

        def warm_up(self) -> None: ...

    use(monkeypatch, LooksBack())
    turn = {"source_kind": "episode", "speaker": "Lena"}
    project(own, "Wo wohnst du?", session_id="s", position=1, **turn)
    project(own, "In Berlin.", session_id="s", position=4, **turn)
    project(own, "In Rom.", session_id="other", position=5, **turn)
    project(own, "Ich bin krank.", session_id="s", position=6, **{**turn, "classification": 3})
    project(own, "Oh.", session_id="s", position=7, **turn)
    embed_all(own)
    assert told == [
        "Wo wohnst du?",
        "Wo wohnst du?\nIn Berlin.",
        "In Rom.",
        "In Berlin.\nIch bin krank.",
        "In Berlin.\nOh.",
    ]


def test_other_models_are_told_who_speaks(model: ports.EmbeddingModel, service: Service, own: str) -> None:
    turn = {"source_kind": "episode", "speaker": "Lena", "session_id": "s"}
    project(own, "Wo wohnst du?", position=1, **turn)
    project(own, "x" * 9000, position=2, **turn)
    embed_all(own)
    assert service.asked[0][0] == "Lena: Wo wohnst du?"
    assert len(service.asked[0][1]) == vectors.MAX_CHARACTERS


def test_without_a_model_nothing_is_asked_and_it_is_said(
    own: str, as_anna: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch)
    project(own, "Lena fährt Fahrrad")
    assert vectors.embed_pending(scope_ref=own) == vectors.Progress()
    asked = meaning.ask("Fahrrad")
    assert asked.vector is None
    assert len(asked.missing) == 1
    assert found(as_anna, "Fahrrad") == []


@pytest.mark.parametrize("question", ["", "  ", "?", "🙂" * 9000])
def test_a_question_without_words_is_asked_of_nobody(
    model: ports.EmbeddingModel, service: Service, question: str
) -> None:
    assert meaning.ask(question).vector is None
    assert service.asked == []


def test_of_several_ways_to_put_a_question_the_middle_is_taken_and_what_has_no_vector_left_out(
    model: ports.EmbeddingModel, service: Service
) -> None:
    service.odd["Null?"] = [0.0] * service.dimensions
    one, other = (meaning.ask(text).vector for text in ("Fahrrad", "Leiter"))
    assert one
    assert other
    service.asked.clear()
    middle = meaning.ask("Fahrrad", "?", "Leiter", "Null?").vector
    assert middle == pytest.approx([(a + b) / 2 for a, b in zip(one, other, strict=True)])
    assert service.asked == [["Fahrrad", "Leiter", "Null?"]]


def test_of_a_long_question_the_end_counts(model: ports.EmbeddingModel, service: Service) -> None:
    meaning.ask("Log " * 300_000 + "Wann hat Lena Geburtstag?")
    assert service.asked[0][0].endswith("Wann hat Lena Geburtstag?")
    assert len(service.asked[0][0]) == meaning.MAX_CHARACTERS


def test_the_first_model_used_is_the_one_in_use(model: ports.EmbeddingModel, own: str) -> None:
    project(own, "Lena fährt Fahrrad")
    embed_all(own)
    (space,) = VectorSpace.objects.all()
    assert (space.name, space.is_active, space.dimensions) == (model.name, True, model.dimensions)
    assert spaces.in_use() == spaces.InUse(model=model)


def test_a_name_is_understood_by_meaning_when_nothing_else_helps(
    model: ports.EmbeddingModel, service: Service, as_anna: Principal, as_clara: Principal, own: str
) -> None:
    """A card close in meaning, of an entity whose name could be the asked one, is a guess that is told as such."""
    name, other = "Ute Rad", "Uta Ray"
    proposal = MemoryMutationProposal.model_validate(
        {"operations": [{"op": "upsert_entity", "id_hint": "x", "kind": "person", "canonical_name": other}]}
    )
    (result,) = commit_proposal(principal=as_anna, proposal=proposal).results
    assert result.entity_id is not None
    index.run(scope_ref=own)
    assert resolution.resolve(principal=as_anna, name=name, kind="person").is_new, "without vectors nobody knows"
    with scope(as_anna):
        card = Projection.objects.get(source_id=result.entity_id, source_kind="entity").text
    service.odd = {card: vector_of(name), card[: vectors.MAX_CHARACTERS]: vector_of(name)}
    embed_all(own)
    found = resolution.resolve(principal=as_anna, name=name, kind="person")
    assert (found.entity_id, found.step) == (result.entity_id, resolution.Step.MEANING)
    assert resolution.resolve(principal=as_anna, name=name, kind="organization").is_new
    assert resolution.resolve(principal=as_clara, name=name, kind="person").is_new


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_settings_page_says_when_search_knows_words_alone(
    anna: User, page_for: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    anna.language = language
    anna.save()
    said = {"de": "Wörter, keine Bedeutungen", "en": "words here, not meanings"}[language]
    assert said not in text_of(page_for(anna).get(reverse("settings")))
    use(monkeypatch)
    assert said in text_of(page_for(anna).get(reverse("settings")))
