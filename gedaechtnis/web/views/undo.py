"""Taking back what was just done: what the message after an act offers."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.services.undo import undo_event
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, refused, safe_next

_MOST = 20
"""Events that one act may have had."""


@only_posted
@private
def undo(request: PersonRequest) -> HttpResponse:
    """Undo the named events, the latest first; what moved since stays, and is said."""
    back = safe_next(request, reverse("explorer"))
    try:
        for event_id in _named(request):
            undo_event(principal=request.principal, event_id=event_id)
    except NotFound:
        raise
    except Problem as problem:
        return refused(request, problem, back=back, event="memory:committed")
    return done(request, back=back, message=_("Undone. It is as before."))


def _named(request: PersonRequest) -> list[UUID]:
    ids = [as_uuid(word) for word in request.POST.get("events", "").split()]
    if not ids or len(ids) > _MOST or None in ids:
        raise NotFound(_("There is nothing of that kind to undo."))
    return [id for id in reversed(ids) if id]
