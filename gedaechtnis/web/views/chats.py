"""Chats that came from elsewhere: the list of them, bringing more, and reading one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import IO, Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from gedaechtnis.chat import selectors
from gedaechtnis.chat.answers import MessageView, PartView
from gedaechtnis.chat.imports import service
from gedaechtnis.common import clock, moments
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.web.http import PersonRequest, only_posted, private, show

_PER_PAGE = 50
_MESSAGES_PER_PAGE = 100
_BEFORE = 5
"""How many messages are shown above one that was asked for."""
_LAST_SEQ = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Said:
    """A message with its pieces: those that are read, and those that are folded away."""

    message: MessageView
    parts: tuple[PartView, ...]
    folded: tuple[PartView, ...]


@dataclass(frozen=True, slots=True)
class Day:
    heading: str
    date: date
    messages: tuple[Said, ...]


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """The newest first; as a fragment, how far the last import is."""
    return _index(request)


@only_posted
@private
def bring(request: PersonRequest) -> HttpResponse:
    """Take in the file that another assistant exported."""
    file = request.FILES.get("file")
    if file is None:
        return _index(request, problem=Problem("file_required", _("Choose a file first.")))
    try:
        received = service.receive_upload(
            principal=request.principal, file=cast(IO[bytes], file), learn=request.POST.get("learn") == "on"
        )
    except Problem as problem:
        return _index(request, problem=problem)
    if not received.staged:
        messages.success(request, _("There is nothing in it."))
    return redirect("chats")


@require_safe
@private
def detail(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """One chat, a page at a time: `after` a place, or around `message`; with `all`, what is not shown otherwise too."""
    chat = selectors.get_chat(principal=request.principal, chat_id=chat_id)
    if not chat.source:
        return redirect("home")
    everything = request.GET.get("all") == "1"
    after = _start(request, chat_id)
    found = selectors.messages(
        principal=request.principal,
        chat_id=chat_id,
        after=after,
        limit=_MESSAGES_PER_PAGE + 1,
        only_shown=not everything,
    )
    page = found[:_MESSAGES_PER_PAGE]
    context = {
        "nav": "chats",
        "chat": chat,
        "days": tuple(_days(page)),
        "everything": everything,
        "after": after,
        "next": page[-1].seq if len(found) > len(page) else None,
    }
    return show(request, "chats/detail.html", "chat-page", context)


def _start(request: PersonRequest, chat_id: UUID) -> int:
    message_id = as_uuid(request.GET.get("message", ""))
    if message_id is not None:
        place = selectors.place_of(principal=request.principal, chat_id=chat_id, message_id=message_id)
        return max(0, (place or 0) - _BEFORE - 1)
    given = request.GET.get("after", "")
    return min(int(given), _LAST_SEQ) if given.isascii() and given.isdigit() else 0


def _index(request: PersonRequest, problem: Problem | None = None) -> HttpResponse:
    after = as_uuid(request.GET.get("after", ""))
    found = selectors.list_imported(principal=request.principal, after=after, limit=_PER_PAGE + 1)
    context: dict[str, Any] = {
        "nav": "chats",
        "chats": found[:_PER_PAGE],
        "next": found[_PER_PAGE - 1].id if len(found) > _PER_PAGE else None,
        "bringing": service.latest(principal=request.principal),
        "problem": problem,
        "address": reverse("chats"),
    }
    return show(request, "chats/index.html", "bringing", context, status=problem.status if problem else 200)


def _days(found: Iterable[MessageView]) -> Iterable[Day]:
    today = timezone.localdate(clock.now())
    for day, group in groupby(found, key=lambda message: timezone.localdate(message.sent_at)):
        yield Day(moments.day_heading(day, today), day, tuple(_said(message) for message in group))


def _said(message: MessageView) -> Said:
    parts = message.parts or (PartView(kind="text", text=message.text),)
    shown = [part for part in parts if not part.is_hidden or message.is_hidden]
    return Said(message, tuple(shown), tuple(part for part in parts if part not in shown))
