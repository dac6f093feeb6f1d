"""The chat: the home page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from curator import control
from gedaechtnis.chat import selectors, services
from gedaechtnis.chat.answers import MessageView
from gedaechtnis.common import clock, moments
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, refused, show, wants_fragment


@dataclass(frozen=True, slots=True)
class Day:
    """The messages of one day, under its name."""

    heading: str
    date: date
    messages: tuple[MessageView, ...]


@require_safe
@private
def home(request: PersonRequest) -> HttpResponse:
    """The main chat; as a fragment, its messages. `?text=` begins a sentence in the composer, and sends nothing."""
    begun = request.GET.get("text", "")[: services.MAX_MESSAGE_CHARS]
    return show(request, "chat/show.html", "chat-stream", {**_chat(request), "text": begun, "is_begun": bool(begun)})


@require_safe
@private
def message(request: PersonRequest, message_id: UUID) -> HttpResponse:
    """One message with what was said around it; of a chat that came from elsewhere, on the page of that chat."""
    found = selectors.around(principal=request.principal, message_id=message_id)
    if found.chat.source:
        is_shown = found.message.is_current and not found.message.is_hidden
        page = reverse("imported-chat", args=[found.chat.id])
        return redirect(f"{page}?message={message_id}{'' if is_shown else '&all=1'}#message-{message_id}")
    context = {"nav": "home", "found": found, "days": tuple(_days(found.messages))}
    return show(request, "chat/message.html", "chat-message", context)


@only_posted
@private
def post(request: PersonRequest) -> HttpResponse:
    """Say something. Repeated with the same `client_id` it stays one message."""
    chat = services.main_chat(principal=request.principal)
    text = request.POST.get("text", "").strip()
    try:
        posted = services.post_message(
            principal=request.principal, chat_id=chat.id, text=text, client_id=request.POST.get("client_id") or None
        )
    except Problem as problem:
        return _unsent(request, problem, text)
    if not wants_fragment(request):
        return redirect(f"{reverse('home')}#composer")
    response = render(request, "chat/show.html#chat-posted", _chat(request))
    trigger_client_event(response, "memory:committed")
    if posted.reply is not None:
        trigger_client_event(response, "page:announce", {"text": posted.reply.text})
    return response


@require_safe
@private
def curator(request: PersonRequest) -> HttpResponse:
    """What the curator will do, and when."""
    if not wants_fragment(request):
        return redirect("home")
    return render(request, "chat/show.html#curator-status", _curator(request))


@only_posted
@private
def curate(request: PersonRequest) -> HttpResponse:
    """Let the curator read now."""
    chat = services.main_chat(principal=request.principal)
    try:
        control.curate_now(principal=request.principal, chat_id=chat.id)
    except Problem as problem:
        return refused(request, problem, back=reverse("home"), event="curator:ran")
    return done(request, back=f"{reverse('home')}#composer", message=_("The curator has read along."))


def _chat(request: PersonRequest) -> dict[str, Any]:
    chat = services.main_chat(principal=request.principal)
    messages = selectors.messages(principal=request.principal, chat_id=chat.id)
    return {
        "nav": "home",
        "days": tuple(_days(messages)),
        "client_id": uuid7(),
        **_curator(request),
    }


def _curator(request: PersonRequest) -> dict[str, Any]:
    chat = services.main_chat(principal=request.principal)
    status = control.curator_status(principal=request.principal, chat_id=chat.id)
    wait = (status.due_at - clock.now()).total_seconds() if status.due_at else 0
    return {"curator": status, "curator_wait": max(0, round(wait))}


def _days(messages: Iterable[MessageView]) -> Iterable[Day]:
    today = timezone.localdate(clock.now())
    for day, group in groupby(messages, key=lambda message: timezone.localdate(message.created_at)):
        yield Day(moments.day_heading(day, today), day, tuple(group))


def _unsent(request: PersonRequest, problem: Problem, text: str) -> HttpResponse:
    """The composer again, with the words still in it and what is wrong with them."""
    context = {**_chat(request), "text": text, "problem": problem}
    if wants_fragment(request):
        response = render(request, "chat/show.html#composer", context, status=422)
        response["HX-Retarget"] = "#composer"
        response["HX-Reswap"] = "outerHTML"
        return response
    return show(request, "chat/show.html", "composer", context, status=422)
