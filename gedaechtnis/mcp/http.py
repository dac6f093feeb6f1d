"""MCP over HTTP: who is let in, and the life of what answers.

Stateless: each request is answered whole by whichever process it reaches, so processes may come, go, and share an
address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from io import BytesIO
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.utils import translation
from django.utils.translation import gettext as _
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from starlette.requests import Request

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import bearer, origin
from gedaechtnis.mcp.server import Caller, make_server
from gedaechtnis.scoping.threads import in_thread

MAX_BODY_BYTES = 1_048_576
_CALLER = "gedaechtnis.caller"
_BEARER = "bearer "


class McpDoor:
    """An ASGI application for `/mcp` that also takes the server's lifespan: without it, it answers 503."""

    def __init__(self) -> None:
        self._managers: Mapping[str, StreamableHTTPSessionManager] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        request = ASGIRequest(scope, BytesIO())
        try:
            caller = await in_thread(partial(_admitted, request))
            manager = self._managers.get(caller.language)
            if manager is None:
                raise Problem("not_running", "The server was started without its lifespan.", 503)
        except Problem as problem:
            await _refuse(problem, request, send)
            return
        await manager.handle_request({**scope, _CALLER: caller}, receive, send)

    async def _live(self, receive: Any, send: Any) -> None:
        """One manager a language, as a server introduces itself before anybody asks it something."""
        await receive()
        async with AsyncExitStack() as stack:
            managers = {code: _manager(code) for code, _name in settings.LANGUAGES}
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            self._managers = managers
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self._managers = {}
        await send({"type": "lifespan.shutdown.complete"})


def _manager(language: str) -> StreamableHTTPSessionManager:
    # Host and origin are checked by Django's rules before a request comes here.
    return StreamableHTTPSessionManager(
        make_server(_who_asks, language=language),
        stateless=True,
        json_response=True,
        max_request_body_size=MAX_BODY_BYTES,
    )


def _who_asks(request: Request) -> Caller:
    return cast(Caller, request.scope[_CALLER])


def _admitted(request: ASGIRequest) -> Caller:
    """Who asks, by their token.

    Raises:
        Problem: `unknown_host` (421), `foreign_origin` (403), `method_not_allowed` (405), 401 without a valid token,
            and what `bearer.admit` raises.
    """
    with translation.override(bearer.asked_language(request) or settings.LANGUAGE_CODE):
        _check_sender(request)
        given = request.headers.get("Authorization", "")
        if not given:
            raise Problem("authentication_required", _("Sign in, or send a token."), 401)
        secret = given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""
        found = bearer.admit(secret, request) if secret else None
        if found is None:
            raise Problem("invalid_token", _("This token is not valid, or no longer."), 401)
        return Caller(principal=found.principal, language=translation.get_language() or "", request=request)


def _check_sender(request: ASGIRequest) -> None:
    """A page somewhere else must not reach a memory through its reader's browser, whatever name it gives the server."""
    try:
        request.get_host()
    except DisallowedHost as error:
        detail = _("This server does not go by the name it was called.")
        raise Problem("unknown_host", detail, 421) from error
    if "HTTP_ORIGIN" in request.META and not origin.is_ours(request):
        raise Problem("foreign_origin", _("Pages of other servers may not ask here."), 403)
    if request.method != "POST":
        raise Problem("method_not_allowed", _("This address knows only: %(methods)s.") % {"methods": "POST"}, 405)


async def _refuse(problem: Problem, request: ASGIRequest, send: Any) -> None:
    """A refusal before any message was read: an error of JSON-RPC with the status that says the same to HTTP."""
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    if problem.status == 401:
        invalid = ', error="invalid_token"' if problem.code == "invalid_token" else ""
        headers["WWW-Authenticate"] = f'Bearer realm="gedaechtnis"{invalid}'
    if problem.status == 405:
        headers["Allow"] = "POST"
    if "retry_after" in problem.extra:
        headers["Retry-After"] = str(problem.extra["retry_after"])
    error = {"code": INVALID_REQUEST, "message": problem.detail, "data": {"code": problem.code}}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}, ensure_ascii=False).encode()
    start = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": start})
    await send({"type": "http.response.body", "body": body})
