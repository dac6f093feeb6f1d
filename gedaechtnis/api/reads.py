"""Which agent read what: each read through an agent's token leaves an entry in the security log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import unwrap
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja.operation import Operation

from gedaechtnis.chat import selectors as chats
from gedaechtnis.chat.imports import service as imports
from gedaechtnis.identity import audit
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.selectors import places
from gedaechtnis.memory.selectors.places import Place

_READING = frozenset({"GET", "HEAD"})
_READING_BY_POST = frozenset({"build_context", "read_preamble", "search_world"})
"""Routes whose questions are too long for an address."""
_OK = 200


def recorded(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Write the entry before the answer leaves: what could not be recorded is not handed out.

    Decorates the `run` method of an operation. An entry holds the route, the status, and what was asked for: the
    `entity`, `fact`, `chat`, `import` or `chat_import` by id (never by a name), and its scope; `all` where a route asks
    all of them.
    """
    operation: Operation = unwrap(run).__self__
    route = operation.view_func.__name__

    @wraps(run)
    def told(request: HttpRequest, **named: Any) -> HttpResponse:
        response = run(request, **named)
        principal: Principal | None = getattr(request, "auth", None)
        reads = request.method in _READING or route in _READING_BY_POST
        if principal and principal.kind is PrincipalKind.AGENT and reads:
            audit.record(
                audit.Kind.READ,
                acted_by=principal.acted_by,
                sub=principal.sub,
                token_id=principal.token_id,
                request=request,
                route=route,
                status=str(response.status_code),
                **(_found(principal, named) if response.status_code == _OK else _asked(named)),
            )
        return response

    return told


def _found(principal: Principal, named: Mapping[str, Any]) -> dict[str, str]:
    """The one thing that was read, and where it lies."""
    for name, (word, find) in _THINGS.items():
        if name in named and (place := find(principal, str(named[name]))):
            return {word: str(place.id), "scope": place.scope_ref}
    return {"scope": "all"}


def _asked(named: Mapping[str, Any]) -> dict[str, str]:
    """What was asked for in vain, if it was asked for by id: a name may be content."""
    return {_THINGS[name][0]: str(id) for name in _THINGS if (id := as_uuid(str(named.get(name, "")))) is not None}


def _entity(principal: Principal, ref: str) -> Place | None:
    return places.of_entity(principal=principal, ref=ref)


def _fact(principal: Principal, id: str) -> Place | None:
    return places.of_fact(principal=principal, fact_id=UUID(id))


def _import(principal: Principal, id: str) -> Place | None:
    return places.of_import(principal=principal, import_id=UUID(id))


def _chat(principal: Principal, ref: str) -> Place | None:
    found = next(iter(chats.list_chats(principal=principal, limit=1)), None)
    if ref != "main" or found is None or not found.is_main:
        id = as_uuid(ref)
        found = chats.find_chat(principal=principal, chat_id=id) if id else None
    return Place(found.id, found.scope_ref) if found else None


def _chat_import(principal: Principal, id: str) -> Place | None:
    found = imports.find_import(principal=principal, import_id=UUID(id))
    return Place(found.id, chats.own_scope(principal)) if found else None


_THINGS: dict[str, tuple[str, Callable[[Principal, str], Place | None]]] = {
    "ref": ("entity", _entity),
    "fact_id": ("fact", _fact),
    "chat": ("chat", _chat),
    "import_id": ("import", _import),
    "chat_import_id": ("chat_import", _chat_import),
}
"""Parameters in the path of a route that name what it reads."""
