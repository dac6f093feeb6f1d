"""The explorer: everything remembered, searchable."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from gedaechtnis.memory.selectors import entities
from gedaechtnis.web.http import PersonRequest, private, show

_MAX_QUERY = 300


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """Search as you type, filter by kind, what was learned last on top; as a fragment, the results or the next page."""
    q = request.GET.get("q", "").strip()[:_MAX_QUERY]
    kind = request.GET.get("kind") or None
    cursor = request.GET.get("cursor") or None
    page = entities.search_entities(principal=request.principal, q=q, kind=kind, cursor=cursor)
    asked = {name: value for name, value in {"q": q, "kind": kind}.items() if value}
    context = {
        "nav": "explorer",
        "q": q,
        "kind": kind,
        "page": page,
        "kinds": entities.kind_counts(principal=request.principal),
        "recent": entities.recently_learned(principal=request.principal) if not asked else (),
        "is_continued": cursor is not None,
        "more_query": urlencode({**asked, "cursor": page.cursor}) if page.cursor else "",
        "asked_query": urlencode(asked),
    }
    fragment = "explorer-page" if cursor else "explorer-results"
    response = show(request, "explorer/index.html", fragment, context)
    if request.htmx and not cursor:
        address = reverse("explorer")
        replace_url(response, f"{address}?{urlencode(asked)}" if asked else address)
    return response
