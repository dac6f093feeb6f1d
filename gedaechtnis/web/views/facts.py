"""One fact: why it is believed, the three ways to put it right, and how sensitive it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.schemas import OperationResult
from gedaechtnis.memory.selectors import explain
from gedaechtnis.memory.services import facts, sensitivity
from gedaechtnis.web import values
from gedaechtnis.web.forms import SENSITIVITIES
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, safe_next, show, wants_fragment
from gedaechtnis.web.scopes import subject_key

_LEVELS = frozenset("0123")


@require_safe
@private
def detail(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """The whole story of a fact; as a fragment, what a row of the entity page unfolds."""
    return show(request, "facts/detail.html", "fact-story", _story(request, fact_id))


@only_posted
@private
def retract(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """It never held."""
    return _act(
        request,
        fact_id,
        lambda _fact: facts.retract_fact(principal=request.principal, fact_id=fact_id),
        _("Taken back. I no longer believe it."),
    )


@only_posted
@private
def end(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """It held until then, and does no more."""
    at = request.POST.get("at", "").strip() or None
    return _act(
        request,
        fact_id,
        lambda _fact: facts.end_fact(principal=request.principal, fact_id=fact_id, at=at),
        _("Noted: it no longer holds."),
    )


@only_posted
@private
def correct(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """It was told wrongly; only what differs from the form's first state is changed."""
    return _act(
        request,
        fact_id,
        lambda fact: facts.correct_fact(principal=request.principal, fact_id=fact_id, changes=_changes(request, fact)),
        _("Corrected."),
    )


@only_posted
@private
def classify(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """It is more or less sensitive."""
    level = request.POST.get("level", "")
    return _act(
        request,
        fact_id,
        lambda _fact: sensitivity.classify_fact(
            principal=request.principal, fact_id=fact_id, level=int(level) if level in _LEVELS else -1
        ),
        _("Saved."),
    )


def _act(request: PersonRequest, fact_id: UUID, write: Callable[[FactView], object], message: str) -> HttpResponse:
    story = _story(request, fact_id)
    fact: FactView = story["fact"]
    try:
        result = write(fact)
    except NotFound:
        raise
    except Problem as problem:
        return _again(request, story, problem)
    back = safe_next(request, reverse("entity", args=[subject_key(fact)]))
    undo = [result.event_id] if isinstance(result, OperationResult) else ()
    return done(request, back=back, message=message, undo=undo)


def _again(request: PersonRequest, story: dict[str, Any], problem: Problem) -> HttpResponse:
    """The forms again, as they were filled in, with what is wrong."""
    fact: FactView = story["fact"]
    form = {**story["form"], **{name: text for name, text in request.POST.items() if name in {*story["form"], "at"}}}
    context = {**story, "form": form, "problem": problem}
    if not wants_fragment(request):
        return show(request, "facts/detail.html", "fact-story", context, status=422)
    response = render(request, "facts/detail.html#fact-actions", context, status=422)
    response["HX-Retarget"] = f"#fact-actions-{fact.id}"
    response["HX-Reswap"] = "outerHTML"
    return response


def _story(request: PersonRequest, fact_id: UUID) -> dict[str, Any]:
    explanation = explain.explain_fact(principal=request.principal, fact_id=fact_id)
    fact = explanation.fact
    return {
        "nav": "explorer",
        "fact": fact,
        "explanation": explanation,
        "form": _form(fact),
        "sensitivity": _sensitivity(request, fact_id),
        "next": request.POST.get("next") or request.GET.get("next", ""),
        "today": timezone.localdate(clock.now()).isoformat(),
    }


def _sensitivity(request: PersonRequest, fact_id: UUID) -> dict[str, Any] | None:
    """How sensitive it is, and what its owner may choose instead."""
    found = sensitivity.sensitivity_of(principal=request.principal, fact_id=fact_id)
    if found is None:
        return None
    return {
        "level": found.level,
        "words": SENSITIVITIES[found.level],
        "choices": [(level, SENSITIVITIES[level]) for level in found.choices],
    }


def _form(fact: FactView) -> dict[str, str]:
    return {
        "value": values.typed(fact.object),
        "valid_from": values.bound_typed(fact, "valid_from"),
        "valid_to": values.bound_typed(fact, "valid_to"),
    }


def _changes(request: PersonRequest, fact: FactView) -> dict[str, Any]:
    before = _form(fact)
    typed = {name: request.POST.get(name, before[name]).strip() for name in before}
    emptied = {"valid_from": "unknown", "valid_to": None}
    changes: dict[str, Any] = {name: typed[name] or emptied[name] for name in emptied if typed[name] != before[name]}
    if typed["value"] != before["value"]:
        if fact.object.kind == "entity":
            changes["object_ref"] = typed["value"]
        else:
            changes["object_value"] = values.read(typed["value"], fact.object)
    return changes
