"""The two clients. They differ in how they wait, and in nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from gedaechtnis.client.errors import ConnectionFailed, problem
from gedaechtnis.client.requests import Pages, Request
from gedaechtnis.client.retrying import Retrying, retry_after
from gedaechtnis.client.verbs import Verbs

T = TypeVar("T")


def _options(base_url: str, token: str, language: str | None, scope: str | None, timeout: float) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    if language:
        headers["Accept-Language"] = language
    if scope:
        headers["Gedaechtnis-Scope"] = scope
    return {"base_url": base_url, "headers": headers, "timeout": timeout}


def _message(request: Request[Any]) -> dict[str, Any]:
    body = {} if request.body is None else {"json": request.body}
    return {
        "method": request.method,
        "url": request.path,
        "params": dict(request.params),
        "headers": dict(request.headers),
        **body,
    }


def _answer(request: Request[T], response: httpx.Response) -> T:
    """What the answer says. Raises the problem that it is."""
    if response.is_success:
        return request.read(response.content if request.is_raw else response.json())
    try:
        body = response.json()
    except ValueError:
        body = {}
    raise problem(response.status_code, body if isinstance(body, dict) else {}, retry_after(response))


class Gedaechtnis(Verbs):
    """Blocking. Close it, or use it in a `with` block.

    `language` ("de", "en") is that of texts and problems, `scope` where is written unless the token says so.
    `retries`: how often a request that may come twice is sent again after 429, 503 or a lost connection.

    Raises from each verb:
        ProblemError: what the server refuses, by kind in `errors`.
        ConnectionFailed: no answer came.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        language: str | None = None,
        scope: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**_options(base_url, token, language, scope, timeout), transport=transport)
        self._retries = retries

    def send(self, request: Request[T]) -> T:
        """Send a request, again if that may help, and read its answer."""
        retrying = Retrying(self._retries, request.is_safe)
        while True:
            try:
                response = self._http.request(**_message(request))
            except httpx.TransportError as error:
                pause = retrying.after_failure()
                if pause is None:
                    raise ConnectionFailed(f"{self._http.base_url} gives no answer: {error}") from error
            else:
                pause = retrying.after(response)
                if pause is None:
                    return _answer(request, response)
            time.sleep(pause)

    def go_through(self, pages: Pages[T]) -> Iterator[T]:
        """Items of all pages; each page is asked for when its first item is."""
        cursor: str | None = None
        while True:
            items, cursor = self.send(pages.page(cursor))
            yield from items
            if cursor is None:
                return

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncGedaechtnis(Verbs):
    """For asyncio; everything else as `Gedaechtnis`."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        language: str | None = None,
        scope: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**_options(base_url, token, language, scope, timeout), transport=transport)
        self._retries = retries

    async def send(self, request: Request[T]) -> T:
        """Send a request, again if that may help, and read its answer."""
        retrying = Retrying(self._retries, request.is_safe)
        while True:
            try:
                response = await self._http.request(**_message(request))
            except httpx.TransportError as error:
                pause = retrying.after_failure()
                if pause is None:
                    raise ConnectionFailed(f"{self._http.base_url} gives no answer: {error}") from error
            else:
                pause = retrying.after(response)
                if pause is None:
                    return _answer(request, response)
            await asyncio.sleep(pause)

    async def go_through(self, pages: Pages[T]) -> AsyncIterator[T]:
        """Items of all pages; each page is asked for when its first item is."""
        cursor: str | None = None
        while True:
            items, cursor = await self.send(pages.page(cursor))
            for item in items:
                yield item
            if cursor is None:
                return

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
