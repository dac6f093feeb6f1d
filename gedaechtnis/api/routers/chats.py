"""Conversations, and the curator that reads them."""

from __future__ import annotations

from typing import IO, Any, cast
from uuid import UUID

from django.utils.translation import gettext as _
from ninja import Query, Router, Status

from curator import control
from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.chats import (
    ChatImportOut,
    ChatIn,
    ChatList,
    ChatOut,
    CuratorOut,
    ImportIn,
    MessageIn,
    MessagePage,
    MessagesIn,
    PostedOut,
    ReplyOut,
)
from gedaechtnis.api.schemas.common import IdempotencyKey, PageIn
from gedaechtnis.chat import selectors, services
from gedaechtnis.chat.answers import ChatView, ImportProgress
from gedaechtnis.chat.imports import service as imports
from gedaechtnis.common.instants import parse_instant
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references

router = Router(tags=["chats"])

_CONTENT = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_FILE = {"requestBody": {"required": True, "content": _CONTENT}}


@router.get("", response=ChatList, summary="The person's chats")
def list_chats(request: ApiRequest, page: Query[PageIn]) -> dict[str, Any]:
    """The main one first, then the newest."""
    after = _id(page.cursor, field="cursor") if page.cursor else None
    found = selectors.list_chats(principal=request.auth, after=after, limit=page.limit)
    return {"items": found, "cursor": str(found[-1].id) if len(found) == page.limit else None}


@router.post("", response={201: ChatOut}, summary="Begin a chat")
def create_chat(request: ApiRequest, payload: ChatIn) -> Status[ChatView]:
    """A further chat beside the main one."""
    return Status(201, services.create_chat(principal=request.auth, title=payload.title))


@router.post("/import", response={202: ChatImportOut}, summary="Bring chats from elsewhere", openapi_extra=_FILE)
def import_chats(request: ApiRequest, options: Query[ImportIn]) -> Status[ImportProgress]:
    """An export of ChatGPT, Claude or Gemini, or JSON Lines, as it is. Read at once, written by and by."""
    received = imports.receive_upload(
        principal=request.auth, file=cast(IO[bytes], request), format=options.format, learn=options.learn
    )
    return Status(202, received)


@router.get("/import/{chat_import_id}", response=ChatImportOut, summary="How far an import of chats is")
def get_chat_import(request: ApiRequest, chat_import_id: UUID) -> ImportProgress:
    """`running` or `done`, with what could not be read."""
    return imports.get_import(principal=request.auth, import_id=chat_import_id)


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
        mine = next(iter(selectors.list_chats(principal=principal, limit=1)), None)
        return mine if mine and mine.is_main else services.main_chat(principal=principal)
    return selectors.get_chat(principal=principal, chat_id=_id(chat, field="chat"))


def _id(text: str, *, field: str) -> UUID:
    id = references.as_uuid(text)
    if id is None:
        raise Problem("invalid_id", _("This is not an identifier (a UUID)."), field=field)
    return id


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
