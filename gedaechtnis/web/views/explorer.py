"""The explorer: everything remembered, searchable, and the form for something new."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.selectors import entities
from gedaechtnis.memory.services import facts
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.web.http import PersonRequest, only_posted, private, show
from gedaechtnis.web.scopes import entity_key

_MAX_QUERY = 300


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """Search as you type, filter by kind and scope, what was learned last on top.

    As a fragment, the results or the next page.
    """
    return _page(request)


@only_posted
@private
def create(request: PersonRequest) -> HttpResponse:
    """Make a thing, or find the one that bears the name already, and open its page."""
    kind, name = request.POST.get("kind", ""), request.POST.get("name", "")
    place = request.POST.get("scope") or request.principal.default_scope
    try:
        made = facts.introduce(principal=request.principal, kind=kind, name=name, scope_ref=place)
    except Problem as problem:
        return _page(request, problem=problem, new={"kind": kind, "name": name, "scope": place})
    entity = entities.get_entity(principal=request.principal, ref=str(made.entity_id))
    return redirect("entity", entity_key(entity))


def _page(request: PersonRequest, **form: Any) -> HttpResponse:
    q = request.GET.get("q", "").strip()[:_MAX_QUERY]
    kind, place = request.GET.get("kind") or None, request.GET.get("scope") or None
    cursor = request.GET.get("cursor") or None
    # The filter goes through the door itself: what is asked of one scope is answered from that scope alone.
    principal = request.scopes.only(place) if place else request.principal
    page = entities.search_entities(principal=principal, q=q, kind=kind, cursor=cursor)
    asked = {name: value for name, value in {"q": q, "kind": kind, "scope": place}.items() if value}
    context = {
        "nav": "explorer",
        "tab": "graph",
        "q": q,
        "kind": kind,
        "place": place,
        "page": page,
        "kinds": entities.kind_counts(principal=principal),
        "new_kinds": _kinds_to_make(),
        "new": {"scope": place},
        "recent": entities.recently_learned(principal=principal) if not q and not kind else (),
        "is_continued": cursor is not None,
        "more_query": urlencode({**asked, "cursor": page.cursor}) if page.cursor else "",
        "asked_query": urlencode(asked),
        "kind_query": urlencode({name: value for name, value in asked.items() if name != "kind"}),
        "place_query": urlencode({name: value for name, value in asked.items() if name != "scope"}),
        **form,
    }
    fragment = "explorer-page" if cursor else "explorer-results"
    response = show(request, "explorer/index.html", fragment, context, status=422 if form else 200)
    if request.htmx and not cursor:
        address = reverse("explorer")
        replace_url(response, f"{address}?{urlencode(asked)}" if asked else address)
    return response


def _kinds_to_make() -> list[tuple[str, str]]:
    """The kinds that people speak of, by label; rules and the inner workings of agents are made elsewhere."""
    kinds = catalogue().kinds.values()
    return sorted(((kind.key, kind.label) for kind in kinds if kind.rag and not kind.privileged), key=lambda k: k[1])
