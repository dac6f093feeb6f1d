"""The one search: everything remembered, by the engine that the agent asks."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import push_url, replace_url

from gedaechtnis.chat import phrasing
from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory import usage
from gedaechtnis.memory.selectors.recall.search import search
from gedaechtnis.web import asof, marking
from gedaechtnis.web.http import PersonRequest, private, show, wants_fragment
from gedaechtnis.web.search import MODES, PLACES, Asked, Find, finds, from_address, unheard

_FIELD, _RESULTS = "search-form", "search-results"


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """The field, the filters and what was found; as a fragment, the results or the next page of them."""
    zone, now = request.principal.zone, clock.now()
    asked = from_address(request.GET, zone=zone, now=now)
    cursor = request.GET.get("cursor") or None
    try:
        found, problem = _found(request, asked, cursor), None
    except Problem as refused:
        if refused.status != 422:
            raise
        found, problem = {"finds": ()}, refused
    context = {
        "nav": "search",
        "asked": asked,
        "examples": _examples(),
        **_filters(request, asked),
        **found,
        "problem": problem,
    }
    if not wants_fragment(request):  # while somebody types, results come and go
        usage.told((find.fact.scope_ref, find.fact.id) for find in found["finds"] if find.fact)
    fragment = "search-page" if cursor else "search-results"
    response = show(request, "search/index.html", fragment, context, status=422 if problem else 200)
    if not cursor:
        _keep_address(request, response, asked)
    return response


def _found(request: PersonRequest, asked: Asked, cursor: str | None) -> dict[str, Any]:
    if not asked.q:
        return {"finds": ()}
    # The filter goes through the door itself: what is asked of one scope is answered from that scope alone.
    principal = request.scopes.only(asked.scope) if asked.scope else request.principal
    query = asked.query(zone=principal.zone, now=clock.now(), cursor=cursor)
    answer = search(principal=principal, query=query)
    words = marking.words_of(asked.q)
    shown = finds(answer, principal=principal)
    return {
        "finds": shown,
        "words": words,
        "read_as": () if cursor else marking.read_as((_text(find) for find in shown), words),
        "is_only_near": not any(find.hit.voices.keys() & {"lexical", "temporal"} for find in shown),
        "notes": unheard(answer.missing),
        "used_length": answer.used_length if answer.is_truncated else 0,
        "more": f"{asked.address()}&cursor={answer.cursor}" if answer.cursor else "",
    }


def _examples() -> tuple[str, ...]:
    return _("birthday"), _("what I said last week"), _("who lives in Munich")


def _text(find: Find) -> str:
    if find.fact:
        return phrasing.sentence(find.fact)
    return find.name if find.entity else find.hit.text


def _filters(request: PersonRequest, asked: Asked) -> dict[str, Any]:
    """Each choice with its words, the address that takes it, and whether it is taken."""
    places = [("", None), *((key, words) for key, (words, _kinds) in PLACES.items())]
    return {
        "places": [(key, words, asked.address(where=key), key == asked.where) for key, words in places],
        "modes": MODES.items(),
        "scopes": [
            (ref, words, asked.address(scope=ref), ref == asked.scope)
            for ref, words in (("", None), *request.scopes.readable)
            if request.scopes.readable
        ],
        "without_filters": Asked(q=asked.q).address(),
        "today": asked.address(moment=asof.NOW),
        "kept": {name: value for name, value in asked.parameters.items() if name not in {"q", "from", "to", "mode"}},
    }


def _keep_address(request: PersonRequest, response: HttpResponse, asked: Asked) -> None:
    """The first letters make a step of the history, further ones go on with it; so does what only fetches anew."""
    if not request.htmx or request.htmx.trigger == _RESULTS:
        return
    address = reverse("search") + asked.address()
    goes_on = request.htmx.trigger == _FIELD and "q=" in (request.htmx.current_url or "")
    (replace_url if goes_on else push_url)(response, address)
