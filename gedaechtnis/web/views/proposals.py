"""Answers to what the agent asks: yes, remember, or no."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.schemas import Outcome
from gedaechtnis.memory.services import governance
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, refused, safe_next


@only_posted
@private
def accept(request: PersonRequest, proposal_id: UUID) -> HttpResponse:
    """Believe it, with the person's authority; a question is answered with one of its candidates."""
    choice = as_uuid(request.POST.get("candidate", ""))
    return _answer(request, partial(governance.accept_proposal, choice=choice), proposal_id, _("Remembered."))


@only_posted
@private
def reject(request: PersonRequest, proposal_id: UUID) -> HttpResponse:
    """Let it go, and do not ask the same again."""
    return _answer(request, governance.reject_proposal, proposal_id, _("All right, I will not remember it."))


def _answer(request: PersonRequest, decide: Callable[..., Any], proposal_id: UUID, message: str) -> HttpResponse:
    back = safe_next(request, reverse("home"))
    try:
        result = decide(principal=request.principal, proposal_id=proposal_id)
    except Problem as problem:
        return refused(request, problem, back=back, event="proposal:changed")
    if result.outcome is Outcome.PENDING:
        message = _("Thank you. One more question about it.")
    return done(request, back=back, message=message, event="proposal:changed")
