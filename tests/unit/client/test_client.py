"""The client without a server: what it sends, when it sends again, what it raises. Each test for both kinds."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from gedaechtnis.client import (
    AsyncGedaechtnis,
    Conflict,
    ConnectionFailed,
    Forbidden,
    Gedaechtnis,
    Invalid,
    NotFound,
    ProblemError,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from gedaechtnis.client import clients as clients_module

RESULT = {"op_index": 0, "outcome": "committed", "fact_id": "f1", "a_newer_field": 1}
Server = Callable[[httpx.Request], httpx.Response]


class Both:
    """Calls a verb on the client of one kind, which talks to a function."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.seen: list[httpx.Request] = []

    def __call__(
        self, server: Server, verb: str, *args: Any, options: dict[str, Any] | None = None, **more: Any
    ) -> Any:
        def remember(request: httpx.Request) -> httpx.Response:
            self.seen.append(request)
            return server(request)

        transport = httpx.MockTransport(remember)
        if self.kind == "blocking":
            with Gedaechtnis("http://memory", "secret", transport=transport, **options or {}) as memory:
                answer = getattr(memory, verb)(*args, **more)
                return list(answer) if verb in {"list", "history", "proposals"} else answer
        return asyncio.run(self._ask(transport, verb, options or {}, args, more))

    async def _ask(self, transport: Any, verb: str, options: dict[str, Any], args: Any, more: Any) -> Any:
        async with AsyncGedaechtnis("http://memory", "secret", transport=transport, **options) as memory:
            answer = getattr(memory, verb)(*args, **more)
            return [item async for item in answer] if isinstance(answer, AsyncIterator) else await answer


@pytest.fixture(params=["blocking", "asyncio"])
def ask(request: pytest.FixtureRequest) -> Both:
    return Both(request.param)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody waits; what would have been waited is listed."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(clients_module.time, "sleep", waited.append)
    monkeypatch.setattr(clients_module.asyncio, "sleep", sleep)
    return waited


def answers(*responses: httpx.Response | Exception) -> Server:
    left = list(responses)

    def server(request: httpx.Request) -> httpx.Response:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return server


def told() -> httpx.Response:
    return httpx.Response(200, json={"run_id": "r", "results": [RESULT]})


def problem(status: int, code: str, field: str | None = None, **more: Any) -> httpx.Response:
    errors = [{"field": field, "code": code, "detail": "…"}] if field else []
    body = {"type": "about:blank", "status": status, "code": code, "detail": "…", "errors": errors, **more}
    return httpx.Response(status, json=body)


def test_a_fact_is_sent_with_token_language_and_a_key_of_its_own(ask: Both) -> None:
    since = datetime(2026, 3, 1, tzinfo=UTC)
    result = ask(answers(told()), "add", "pet:luna", "likes", "Tee", valid_from=since, options={"language": "en"})
    assert (result.outcome, result.fact_id) == ("committed", "f1")
    (sent,) = ask.seen
    assert sent.url == "http://memory/api/world/proposals"
    assert sent.headers["Authorization"] == "Bearer secret"
    assert sent.headers["Accept-Language"] == "en"
    assert len(sent.headers["Idempotency-Key"]) == 32
    (operation,) = json.loads(sent.content)["operations"]
    assert operation == {
        "op": "assert_fact",
        "subject_ref": "pet:luna",
        "predicate": "likes",
        "object_value": "Tee",
        "confidence": 1.0,
        "valid_from": "2026-03-01T00:00:00+00:00",
    }


def test_references_are_quoted_in_addresses(ask: Both) -> None:
    with pytest.raises(NotFound):
        ask(answers(problem(404, "not_found")), "get", "pet:../x?y")
    assert ask.seen[0].url.raw_path == b"/api/world/entities/pet:..%2Fx%3Fy"


def test_left_out_and_null_are_told_apart(ask: Both) -> None:
    ask(answers(httpx.Response(200, json=RESULT)), "update", "f1", valid_to=None)
    assert json.loads(ask.seen[0].content) == {"valid_to": None}


def test_pages_are_gone_through(ask: Both) -> None:
    entity = {
        "id": "1", "ref": "pet:luna", "kind": "pet", "name": "Luna", "aliases": ["L"], "description": "",
        "status": "active", "scope_ref": "user:1", "is_self": False, "created_at": "2026-11-30T09:00:00.123456Z",
    }  # fmt: skip
    first = httpx.Response(200, json={"items": [entity, entity], "cursor": "next"})
    last = httpx.Response(200, json={"items": [entity], "cursor": None})
    items = ask(answers(first, last), "list", "lu", kind="pet", limit=2)
    assert [item.ref for item in items] == ["pet:luna"] * 3
    assert items[0].aliases == ("L",)
    assert items[0].created_at == datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=UTC)
    assert [dict(request.url.params) for request in ask.seen] == [
        {"q": "lu", "kind": "pet", "limit": "2"},
        {"q": "lu", "kind": "pet", "limit": "2", "cursor": "next"},
    ]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (422, Invalid),
        (400, Invalid),
        (500, Unavailable),
        (418, ProblemError),
    ],
)
def test_problems_are_exceptions_of_their_kind(ask: Both, status: int, kind: type[ProblemError]) -> None:
    with pytest.raises(kind) as caught:
        ask(answers(problem(status, "some_code", "operations.0.kind", candidates=["a"])), "get", "me")
    assert (caught.value.status, caught.value.code, caught.value.field) == (status, "some_code", "operations.0.kind")
    assert caught.value.extra == {"candidates": ["a"]}


def test_what_is_no_problem_document_is_one_of_unknown_code(ask: Both) -> None:
    with pytest.raises(Unavailable) as caught:
        ask(answers(httpx.Response(502, text="<html>Bad gateway")), "get", "me")
    assert caught.value.code == "unknown"


def test_it_comes_again_when_it_was_asked_to_with_the_same_key(ask: Both, pauses: list[float]) -> None:
    busy = problem(429, "rate_limited")
    busy.headers["Retry-After"] = "7"
    down = problem(503, "unavailable")
    down.headers.update({"Date": "Mon, 30 Nov 2026 09:00:00 GMT", "Retry-After": "Mon, 30 Nov 2026 09:00:20 GMT"})
    result = ask(answers(busy, down, problem(503, "unavailable"), told()), "add", "me", "likes", "Tee")
    assert result.outcome == "committed"
    assert pauses[:2] == [7, 20]
    assert 0 < pauses[2] < 1
    assert len({request.headers["Idempotency-Key"] for request in ask.seen}) == 1


def test_it_gives_up_after_the_retries_or_when_the_wait_is_too_long(ask: Both, pauses: list[float]) -> None:
    with pytest.raises(RateLimited):
        ask(answers(*[problem(429, "rate_limited") for _ in range(3)]), "get", "me", options={"retries": 2})
    assert len(pauses) == 2
    later = problem(429, "rate_limited")
    later.headers["Retry-After"] = "3600"
    with pytest.raises(RateLimited) as caught:
        ask(answers(later), "get", "me")
    assert caught.value.retry_after == 3600
    assert len(pauses) == 2


def test_a_lost_connection_is_tried_again_only_where_twice_is_once(ask: Both, pauses: list[float]) -> None:
    lost = httpx.ReadTimeout("too slow")
    assert ask(answers(lost, told()), "add", "me", "likes", "Tee").outcome == "committed"
    with pytest.raises(ConnectionFailed):
        ask(answers(lost), "accept", "p1")
    assert len(pauses) == 1
    with pytest.raises(ConnectionFailed):
        ask(answers(lost, lost), "get", "me", options={"retries": 1})


def test_it_stands_alone() -> None:
    """Neither Django nor anything of the server is imported with it."""
    program = (
        "import sys, gedaechtnis.client\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('django', 'celery', 'curator', 'numpy', 'pydantic')"
        " or (m.startswith('gedaechtnis.') and not m.startswith('gedaechtnis.client'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={})
    assert done.stdout.strip() == "[]"
