"""What a person's agents keep for themselves: notes, what they want remembered, what they noticed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from gedaechtnis.common.problems import Problem
from gedaechtnis.knowledge import hot, keepers, pads
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, safe_next, show, wants_fragment

_FORBIDDEN, _MISSING, _CONFLICT = 403, 404, 409
_MOST = 100
"""Entries and observations on a page, the latest first."""


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """One agent's working memory in one workspace; as a fragment, all below the title.

    `?seen=` asks only whether the notes are still of that version.
    """
    if "seen" in request.GET and wants_fragment(request):
        return _news(request)
    return _page(request, request.GET.get("scope") or None, request.GET.get("agent"))


@only_posted
@private
def update(request: PersonRequest) -> HttpResponse:
    """Put another text in place of the notes, unless somebody was faster."""
    place, agent = request.POST.get("scope", ""), request.POST.get("agent", "")
    text, version = request.POST.get("text", "").replace("\r\n", "\n"), request.POST.get("version", "")
    try:
        pads.update(
            principal=request.principal,
            text=text,
            based_on_version=int(version) if version.isascii() and version.isdigit() else None,
            scope_ref=place or None,
            agent=agent,
        )
    except Problem as problem:
        if problem.status in (_FORBIDDEN, _MISSING):
            raise
        return _again(request, place, agent, text, problem)
    message = _("Saved. The agent is given it before its next run.")
    if not wants_fragment(request):
        return done(request, back=_address(place, agent), message=message)
    response = _form(request, _notes(request, place, agent))
    trigger_client_event(response, "page:say", {"text": message})
    return response


@only_posted
@private
def forget(request: PersonRequest, entry_id: UUID) -> HttpResponse:
    """Erase what an agent wants remembered."""
    hot.forget(principal=request.principal, entry_id=entry_id)
    back = safe_next(request, reverse("working-memory"))
    return done(request, back=back, message=_("Forgotten."), event="notes:changed")


def _again(request: PersonRequest, place: str, agent: str, text: str, problem: Problem) -> HttpResponse:
    """The notes as they were typed, with what is wrong; beside notes that were changed meanwhile."""
    typed: dict[str, Any] = {"text": text, "problem": problem}
    if problem.status == _CONFLICT:
        typed["present"] = pads.read(principal=request.principal, scope_ref=place or None, agent=agent)
    if not wants_fragment(request):
        return _page(request, place or None, agent, **typed)
    return _form(request, {**_notes(request, place, agent), **typed}, status=422)


def _form(request: PersonRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """The notes alone, of the version that they have now."""
    response = render(request, "knowledge/working_memory.html#pad", context, status=status)
    response["HX-Retarget"] = "#pad"
    response["HX-Reswap"] = "outerHTML"
    return response


def _news(request: PersonRequest) -> HttpResponse:
    """Whether the notes were changed by somebody else since they were shown."""
    context = _notes(request, request.GET.get("scope", ""), request.GET.get("agent", ""))
    context["seen"] = int(seen) if (seen := request.GET["seen"]).isascii() and seen.isdigit() else None
    return render(request, "knowledge/working_memory.html#pad-news", context)


def _page(request: PersonRequest, place: str | None, agent: str | None, **typed: Any) -> HttpResponse:
    chosen = place or request.principal.default_scope
    kept = keepers.list_keepers(principal=request.principal, scope_ref=chosen)
    if agent is None:  # the agents are what one comes for, the latest first
        agent = max(kept, key=lambda one: (one.agent != "", one.last)).agent if kept else ""
    asked: dict[str, Any] = {"principal": request.principal, "scope_ref": chosen, "agent": agent}
    context = {
        **_notes(request, chosen, agent),
        "nav": "explorer",
        "tab": "working-memory",
        "agents": [(one.agent, _address(chosen, one.agent), one) for one in kept],
        "has_anything": bool(kept),
        "scopes": [(ref, words, _address(ref, None)) for ref, words in request.scopes.readable],
        "entries": hot.list_hot(**asked, limit=_MOST),
        "observations": pads.list_observations(**asked, limit=_MOST),
        **typed,
    }
    return show(request, "knowledge/working_memory.html", "working-memory", context, status=422 if typed else 200)


def _notes(request: PersonRequest, place: str, agent: str) -> dict[str, Any]:
    """The form of the notes; `seen` is the version that it shows."""
    chosen = place or request.principal.default_scope
    pad = pads.read(principal=request.principal, scope_ref=chosen, agent=agent)
    return {
        "pad": pad,
        "seen": pad.version,
        "text": pad.text,
        "place": chosen,
        "agent": agent,
        "address": _address(chosen, agent),
        "limit": pads.MAX_NOTES,
    }


def _address(place: str, agent: str | None) -> str:
    """Of an agent's working memory; the person's own bears no name, which is said as well."""
    asked = {"scope": place} if place else {}
    return f"{reverse('working-memory')}?{urlencode(asked if agent is None else {**asked, 'agent': agent})}"
