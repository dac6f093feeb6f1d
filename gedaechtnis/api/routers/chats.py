"""Conversations, and the curator that reads them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from ninja import Query, Router, Status

from curator import control
from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.chats import (
    ChatIn,
    ChatList,
    ChatOut,
    CuratorOut,
    MessageIn,
    MessagePage,
    MessagesIn,
    PostedOut,
    ReplyOut,
)
from gedaechtnis.api.schemas.common import IdempotencyKey
from gedaechtnis.chat import selectors, services
from gedaechtnis.chat.answers import ChatView
from gedaechtnis.common.instants import parse_instant
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references

router = Router(tags=["chats"])


@router.get("", response=ChatList, summary="The person's chats")
def list_chats(request: ApiRequest) -> dict[str, Any]:
    """The main one first."""
    return {"items": selectors.list_chats(principal=request.auth)}


@router.post("", response={201: ChatOut}, summary="Begin a chat")
def create_chat(request: ApiRequest, payload: ChatIn) -> Status[ChatView]:
    """A further chat beside the main one."""
    return Status(201, services.create_chat(principal=request.auth, title=payload.title))


@router.get("/{chat}", response=ChatOut, summary="One chat")
def get_chat(request: ApiRequest, chat: str) -> ChatView:
    """`chat` is an id or `main`. Missing and foreign ones answer alike."""
    return _chat(request.auth, chat)


@router.post("/{chat}/messages", response=PostedOut, summary="Write a message")
def post_message(request: ApiRequest, chat: str, payload: MessageIn, idempotency_key: IdempotencyKey) -> PostedOut:
    """Stored first, then answered. The same `client_id` (or `Idempotency-Key`) again makes no second message."""
    principal = request.auth
    sent_at = parse_instant(payload.sent_at, zone=principal.zone, field="sent_at") if payload.sent_at else None
    posted = services.post_message(
        principal=principal,
        chat_id=_chat(principal, chat).id,
        text=payload.text,
        client_id=inputs.run_id_of(idempotency_key, payload.client_id, field="client_id"),
        sent_at=sent_at,
    )
    reply = posted.reply
    return PostedOut(
        message_id=posted.message_id,
        run_id=posted.run_id,
        reply=ReplyOut(text=reply.text, fact_ids=[chip.fact_id for chip in reply.fact_chips]) if reply else None,
    )


@router.get("/{chat}/messages", response=MessagePage, summary="Read a chat")
def list_messages(request: ApiRequest, chat: str, filters: Query[MessagesIn]) -> dict[str, Any]:
    """Behind `after`, oldest first; without it the last ones. `cursor` is the next `after`, null at the end."""
    chat_id = _chat(request.auth, chat).id
    found = selectors.messages(principal=request.auth, chat_id=chat_id, after=filters.after, limit=filters.limit)
    more = filters.after is not None and len(found) == filters.limit
    return {"items": found, "cursor": str(found[-1].seq) if more else None}


@router.get("/{chat}/curator", response=CuratorOut, summary="How far the curator has read")
def get_curator(request: ApiRequest, chat: str) -> dict[str, Any]:
    """When it reads next, and what it decided last and why."""
    chat_id = _chat(request.auth, chat).id
    return _curator(control.curator_status(principal=request.auth, chat_id=chat_id))


@router.post("/{chat}/curate", response=CuratorOut, summary="Let the curator read now")
def curate(request: ApiRequest, chat: str) -> dict[str, Any]:
    """Answers when it is done."""
    principal = request.auth
    if principal.read_scopes[0] not in principal.write_scopes:
        raise Problem("scope_denied", _("You may not write into this scope."), 403)
    return _curator(control.curate_now(principal=principal, chat_id=_chat(principal, chat).id))


def _chat(principal: Principal, chat: str) -> ChatView:
    """The main chat is made when it is first asked for, by somebody who may write."""
    if chat == "main":
        mine = next((view for view in selectors.list_chats(principal=principal) if view.is_main), None)
        return mine or services.main_chat(principal=principal)
    chat_id = references.as_uuid(chat)
    if chat_id is None:
        raise Problem("invalid_id", _("This is not an identifier (a UUID)."), field="chat")
    return selectors.get_chat(principal=principal, chat_id=chat_id)


def _curator(status: control.CuratorStatus) -> dict[str, Any]:
    last = status.last_run
    return {
        "watermark": status.watermark,
        "pending_turns": status.pending_turns,
        "due_at": status.due_at,
        "last_run": {
            "outcome": last.outcome,
            "skipped_because": status.last_skipped_because,
            "operations": last.operations,
            "ran_at": last.ran_at,
        }
        if last
        else None,
    }
