"""What every page shares: the typed request, the private door, full page or fragment, the end of an act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import IO, Any, Concatenate, ParamSpec, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import render, resolve_url
from django.urls import is_valid_path
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event
from django_htmx.middleware import HtmxDetails

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.common.streams import pieces
from gedaechtnis.identity import orgs
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import attention
from gedaechtnis.memory.selectors import entities
from gedaechtnis.memory.selectors.export import MEDIA_TYPE
from gedaechtnis.web.scopes import Scopes

P = ParamSpec("P")
VARIES = ("HX-Request", "HX-History-Restore-Request", "Cookie")
"""On what the answer of one address depends: HTMX asks for a part, but going back wants the whole page."""
_FORBIDDEN, _MISSING = 403, 404


class HtmxHttpRequest(HttpRequest):
    """A request that has passed `HtmxMiddleware`."""

    htmx: HtmxDetails


class PersonRequest(HtmxHttpRequest):
    """A request of somebody signed in; `principal` holds today's memberships, `scopes` the words for them.

    In several organisations they act in the one that the session holds.
    """

    user: User
    principal: Principal
    scopes: Scopes


def private(
    view: Callable[Concatenate[PersonRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let only people signed in through, and let nobody's cache keep what they saw.

    A `NotFound` becomes the 404 page, any other `Problem` a page that says it in words.
    """

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        htmx_request = cast(HtmxHttpRequest, request)
        if not request.user.is_authenticated:
            return _sign_in(htmx_request)
        person_request = cast(PersonRequest, request)
        chosen = orgs.chosen(user=person_request.user, session=request.session)
        person_request.principal = person(person_request.user, chosen)
        person_request.scopes = Scopes(person_request.principal)
        try:
            response = view(person_request, *args, **kwargs)
        except NotFound as missing:
            raise Http404(missing.detail) from missing
        except Problem as problem:
            response = render(request, "problem.html", {"problem": problem}, status=problem.status)
        response["Cache-Control"] = "no-store"
        patch_vary_headers(response, VARIES)
        return response

    return guarded


def only_posted(view: Callable[Concatenate[HttpRequest, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Take forms alone. An act whose address is opened (after a form was refused, or signing in) shows its page."""

    @wraps(view)
    def posted(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if request.method not in {"GET", "HEAD"}:
            return require_POST(view)(request, *args, **kwargs)
        page = _page_above(request.path)
        return HttpResponseRedirect(page) if request.user.is_authenticated else redirect_to_login(page)

    return posted


def _page_above(address: str) -> str:
    """The nearest address above that leads anywhere: acts stand below what they act on."""
    above = address.rstrip("/").rpartition("/")[0] + "/"
    return above if is_valid_path(above) else _page_above(above)


def _sign_in(request: HtmxHttpRequest) -> HttpResponse:
    # After signing in the person wants the page, not a fragment of it or an act that only takes forms.
    if request.htmx:
        target = _without_origin(request.htmx.current_url_abs_path)
        return HttpResponseClientRedirect(redirect_to_login(target).url)
    if request.method in {"GET", "HEAD"}:
        return redirect_to_login(request.get_full_path())
    page = request.headers.get("Referer")
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return redirect_to_login(_without_origin(page if is_ours else None))


def _without_origin(address: str | None) -> str:
    parts = urlsplit(address or resolve_url("home"))
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def wants_fragment(request: HtmxHttpRequest) -> bool:
    """Whether HTMX asks for a part of the page (a boosted link wants all of it)."""
    return bool(request.htmx) and not request.htmx.boosted and not request.htmx.history_restore_request


def show(
    request: PersonRequest, template: str, fragment: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render the fragment of that name for HTMX, else the whole page with its surroundings."""
    if wants_fragment(request):
        return render(request, f"{template}#{fragment}", context, status=status)
    context = {**context, **surroundings(request)}
    return render(request, template, context, status=status)


def surroundings(request: PersonRequest) -> dict[str, Any]:
    """The numbers around every page: how much is remembered, and what waits for the person."""
    return {
        "totals": entities.totals(principal=request.principal),
        "waiting": attention.waiting(principal=request.principal),
    }


def done(
    request: PersonRequest,
    *,
    back: str,
    message: str = "",
    event: str = "memory:committed",
    undo: Iterable[UUID | None] = (),
) -> HttpResponse:
    """End an act: HTMX gets events on which the parts of the page fetch themselves anew, others a redirect.

    `undo` are the events that taking the act back would undo; the message offers it.
    """
    undone = " ".join(str(id) for id in undo if id)
    if not wants_fragment(request):
        if message:
            messages.success(request, message, extra_tags=undone)
        return HttpResponseRedirect(back)
    response = HttpResponse(status=204)
    trigger_client_event(response, event)
    if message:
        trigger_client_event(response, "page:say", {"text": message, "undo": undone})
    return response


def act(
    request: PersonRequest,
    write: Callable[[], object],
    *,
    message: str,
    back: str,
    again: Callable[[Problem], HttpResponse],
) -> HttpResponse:
    """Do what a form asks, then lead `back` (an address); what was typed wrongly shows the form `again`.

    What is missing or forbidden is left to `private`.
    """
    try:
        write()
    except Problem as problem:
        if problem.status in (_FORBIDDEN, _MISSING):
            raise
        return again(problem)
    messages.success(request, message)
    return HttpResponseRedirect(back)


def refused(request: PersonRequest, problem: Problem, *, back: str, event: str) -> HttpResponse:
    """End an act that was refused and has no form to go back to: say why, and show what is true now."""
    if not wants_fragment(request):
        messages.error(request, problem.detail)
        return HttpResponseRedirect(back)
    response = HttpResponse(status=204)
    trigger_client_event(response, event)
    trigger_client_event(response, "page:say", {"text": problem.detail, "tone": "bad"})
    return response


def download(file: IO[bytes], name: str) -> StreamingHttpResponse:
    """A file of JSON Lines, to be saved under this name."""
    response = StreamingHttpResponse(pieces(file), content_type=MEDIA_TYPE)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def safe_next(request: HttpRequest, default: str) -> str:
    """The page to return to, as the form says, if it is one of ours."""
    target = request.POST.get("next", "")
    allowed = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if allowed else default
