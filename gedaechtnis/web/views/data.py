"""Settings, your data: taking it along, putting away what has lost its place, and deleting everything."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_safe

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.memory.selectors import export, unavailable
from gedaechtnis.memory.services import erasure, facts
from gedaechtnis.web.forms import DeletionForm
from gedaechtnis.web.http import PersonRequest, download, only_posted, private, show


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """All three."""
    return _page(request, DeletionForm(request))


@require_GET
@private
def download_own(request: PersonRequest) -> StreamingHttpResponse:
    """The person's own scope as a file."""
    day = timezone.localdate(clock.now()).isoformat()
    return download(export.export_own(principal=request.principal), f"gedaechtnis-{day}.jsonl")


@only_posted
@private
def retract(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """A note without a place never held."""
    return _put_away(request, lambda: facts.retract_fact(principal=request.principal, fact_id=fact_id))


@only_posted
@private
def end(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """A note without a place holds no more."""
    return _put_away(request, lambda: facts.end_fact(principal=request.principal, fact_id=fact_id))


@only_posted
@private
def delete(request: PersonRequest) -> HttpResponse:
    """The person and their memory, at once and for good."""
    form = DeletionForm(request, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        erasure.delete_user(user=request.user)
    except Problem as problem:
        form.add_error(None, problem.detail)
        return _page(request, form, status=problem.status)
    logout(request)
    messages.success(request, _("Your account and your memory are deleted."))
    return redirect("login")


def _put_away(request: PersonRequest, write: Callable[[], object]) -> HttpResponse:
    try:
        write()
    except NotFound:
        raise
    except Problem as problem:
        messages.error(request, problem.detail)
    else:
        messages.success(request, _("Done."))
    return redirect("data")


def _page(request: PersonRequest, form: DeletionForm, status: int = 200) -> HttpResponse:
    notes = unavailable.list_unavailable(principal=request.principal)
    context = {
        "nav": "settings",
        "section": "data",
        "form": form,
        "notes": notes,
        "has_more": len(notes) == unavailable.MOST,
    }
    return show(request, "settings/data.html", "data", context, status=status)
