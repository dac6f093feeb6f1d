"""Embedding models: what they answer for odd texts, and what becomes of a service that is down, slow or wrong."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from typing import Any

import pytest

from gedaechtnis.embeddings import openai_compatible
from gedaechtnis.embeddings.breaker import FAILURES, Breaker
from gedaechtnis.embeddings.bundled import BundledModel
from gedaechtnis.embeddings.openai_compatible import BATCH, TRIES, OpenAICompatibleModel
from gedaechtnis.memory.ports import EmbeddingModel, EmbeddingsUnavailable
from tests.embedding_endpoint import DIMENSIONS, Service, running, vector_of

KEY = "sk-geheim"


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def model(service: Service, pauses: list[float]) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(service.address, key=KEY, clearance=1, pause=pauses.append)


def near(one: list[float] | None, other: list[float] | None) -> float:
    assert one is not None
    assert other is not None
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_bundled_model_knows_meaning_across_languages() -> None:
    model = BundledModel()
    garden, blossoms, taxes = model.embed(["Der Garten blüht", "The garden is in blossom", "Die Steuer ist fällig"])
    assert garden is not None
    assert len(garden) == model.dimensions
    assert math.hypot(*garden) == pytest.approx(1, abs=1e-3)
    assert near(garden, blossoms) > near(garden, taxes) + 0.2


def test_the_bundled_model_has_no_vector_for_nothing() -> None:
    vectors = BundledModel().embed(["", "Rad", " \n", "🙂"])
    assert [vector is None for vector in vectors] == [True, False, True, False]
    assert BundledModel().embed([]) == []


def test_an_endpoint_answers_in_the_order_asked(service: Service, model: OpenAICompatibleModel) -> None:
    service.answer = lambda data: {"data": data[::-1]}
    texts = [f"Satz {number}" for number in range(BATCH + 3)]
    vectors = model.embed(texts)
    assert [near(vector, vector_of(text)) for vector, text in zip(vectors, texts, strict=True)] == pytest.approx(
        [1.0] * len(texts)
    )
    assert [len(asked) for asked in service.asked] == [BATCH, 3]
    assert set(service.keys) == {f"Bearer {KEY}"}


def test_what_is_no_vector_is_none(service: Service, model: OpenAICompatibleModel) -> None:
    good = vector_of("gut")
    service.odd = {
        "zeros": [0.0] * DIMENSIONS,
        "nan": [math.nan, *good[1:]],
        "inf": [math.inf, *good[1:]],
        "huge": [1e308] * DIMENSIONS,
        "short": good[1:],
        "words": ["x"] * DIMENSIONS,
        "null": None,
        "text": "AAAA",
        "long": [3 * number for number in good],
    }
    texts = [*service.odd, "", "gut"]
    vectors = dict(zip(texts, model.embed(texts), strict=True))
    assert {text for text, vector in vectors.items() if vector is not None} == {"long", "gut"}
    assert math.hypot(*(vectors["long"] or ())) == pytest.approx(1)
    assert "" not in service.asked[0], "nothing is not sent"


def test_a_refused_text_does_not_take_the_others_along(service: Service, model: OpenAICompatibleModel) -> None:
    service.refuses = lambda texts: "too long" in texts
    texts = ["a", "b", "too long", "c", "d"]
    assert [vector is None for vector in model.embed(texts)] == [False, False, True, False, False]


@pytest.mark.parametrize(
    "answer",
    [
        lambda data: {"data": data[1:]},
        lambda data: {"data": [*data, data[0]]},
        lambda data: {"data": [data[0], data[0]]},
        lambda data: {"data": [{"embedding": entry["embedding"]} for entry in data]},
        lambda data: {"vectors": data},
        lambda data: data,
        lambda data: "hello",
        lambda data: {"data": None},
    ],
)
def test_an_answer_that_cannot_be_assigned_is_none_at_all(
    service: Service, model: OpenAICompatibleModel, answer: Any
) -> None:
    service.answer = answer
    with pytest.raises(EmbeddingsUnavailable):
        model.embed(["a", "b"])


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_is_waited_out(
    service: Service, model: OpenAICompatibleModel, pauses: list[float], status: int
) -> None:
    service.statuses = [status] * (TRIES - 1)
    assert model.embed(["a"]) != [None]
    assert pauses == sorted(pauses)
    assert len(pauses) == TRIES - 1


def test_it_waits_as_long_as_it_is_asked_to_within_reason(
    service: Service, model: OpenAICompatibleModel, pauses: list[float]
) -> None:
    service.headers = {"Retry-After": "7"}
    service.statuses = [429]
    model.embed(["a"])
    service.headers = {"Retry-After": "3600"}
    service.statuses = [429]
    model.embed(["a"])
    assert pauses == [7, openai_compatible.LONGEST_PAUSE_SECONDS]


@pytest.mark.parametrize(("status", "times"), [(503, TRIES), (401, 1), (404, 1)])
def test_a_lasting_trouble_is_told(
    service: Service, model: OpenAICompatibleModel, status: int, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    service.status = status
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EmbeddingsUnavailable, match=str(status)) as refusal:
        model.embed(["ein Geheimnis"])
    assert len(service.asked) == times
    assert KEY not in caplog.text + str(refusal.value) + repr(refusal.value)


def test_whoever_asks_a_question_does_not_wait(
    service: Service, model: OpenAICompatibleModel, pauses: list[float]
) -> None:
    service.status = 503
    with pytest.raises(EmbeddingsUnavailable):
        model.embed(["wer?"], as_query=True)
    assert (len(service.asked), pauses) == (1, [])


def test_a_slow_service_is_as_good_as_none(
    service: Service, model: OpenAICompatibleModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compatible, "_QUERY_TIMEOUT", 0.2)
    service.seconds = 1.0
    with pytest.raises(EmbeddingsUnavailable, match="ReadTimeout"):
        model.embed(["wer?"], as_query=True)


def test_a_dead_address_is_told() -> None:
    model = OpenAICompatibleModel("openai:m@http://127.0.0.1:9/v1#4", key="", clearance=1, pause=lambda _seconds: None)
    with pytest.raises(EmbeddingsUnavailable, match="does not answer"):
        model.embed(["a"])


def test_what_failed_twice_rests_and_is_then_asked_again(service: Service, model: OpenAICompatibleModel) -> None:
    now = 0.0
    guarded = Breaker(model, now=lambda: now)
    service.status = 401
    for _attempt in range(FAILURES + 3):
        with pytest.raises(EmbeddingsUnavailable, match="401"):
            guarded.embed(["a"])
    assert len(service.asked) == FAILURES
    now, service.status = 1000.0, 200
    assert guarded.embed(["a"]) != [None]
    service.status = 401
    with pytest.raises(EmbeddingsUnavailable):
        guarded.embed(["a"])
    service.status = 200
    assert guarded.embed(["a"]) != [None], "one failure alone is no reason"


def test_the_models_keep_the_protocol(model: OpenAICompatibleModel) -> None:
    models: list[EmbeddingModel] = [BundledModel(), model, Breaker(model)]
    assert [(m.name, m.dimensions, m.clearance, m.looks_back) for m in models] == [
        ("use-multilingual-3", 512, 3, True),
        ("test-model/64", 64, 1, False),
        ("test-model/64", 64, 1, False),
    ]
    assert json.dumps(models[0].embed(["Rad"]))
