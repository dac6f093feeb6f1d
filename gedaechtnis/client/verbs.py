"""The verbs of both clients, from one definition: a request becomes a method that sends it.

Each is typed by its request: on `Gedaechtnis` it answers, on `AsyncGedaechtnis` it is awaited.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from gedaechtnis.client import requests
from gedaechtnis.client.requests import Pages, Request

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(Protocol):
    """Sends and waits."""

    def send(self, request: Request[T]) -> T: ...


class Waiting(Protocol):
    """Sends and is awaited."""

    async def send(self, request: Request[T]) -> T: ...


class verb(Generic[P, T]):
    """A method that sends a request."""

    def __init__(self, build: Callable[P, Request[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> verb[P, T]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Waiting, owner: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self

        @wraps(self._build)
        def send(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.send(self._build(*args, **kwargs))

        return send


class pages(Generic[P, T]):
    """A method that goes through all pages."""

    def __init__(self, build: Callable[P, Pages[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> pages[P, T]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Waiting, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self

        @wraps(self._build)
        def go(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.go_through(self._build(*args, **kwargs))

        return go


class Verbs:
    """What one can do with a memory. The requests say what each takes and means."""

    add = verb(requests.add)
    add_entity = verb(requests.add_entity)
    propose = verb(requests.propose)
    say = verb(requests.say)
    search = verb(requests.search)
    context = verb(requests.context)
    preamble = verb(requests.preamble)
    get = verb(requests.get)
    get_fact = verb(requests.get_fact)
    facts = verb(requests.facts)
    state_at = verb(requests.state_at)
    as_known_at = verb(requests.as_known_at)
    resolve = verb(requests.resolve)
    list = pages(requests.list_entities)
    history = pages(requests.history)
    export = verb(requests.export)
    update = verb(requests.update)
    delete = verb(requests.delete)
    end = verb(requests.end)
    proposals = pages(requests.proposals)
    accept = verb(requests.accept)
    reject = verb(requests.reject)
    notes = verb(requests.notes)
    update_notes = verb(requests.update_notes)
    record_observation = verb(requests.record_observation)
    remember = verb(requests.remember)
    consolidate = verb(requests.consolidate)
    harmonize = verb(requests.harmonize)
    tools = verb(requests.tools)
    call_tool = verb(requests.call_tool)
