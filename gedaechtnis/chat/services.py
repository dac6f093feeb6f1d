"""Writing in chats: the message is stored before anything else happens to it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.chat import agent, selectors, turns
from gedaechtnis.chat.answers import ChatView, Posted
from gedaechtnis.chat.episodes import SPOKEN
from gedaechtnis.chat.models import UNJUDGED, Chat, Message, Run
from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import events, usage
from gedaechtnis.memory.projecting import episodes
from gedaechtnis.memory.selectors import explain
from gedaechtnis.scoping.context import scope

MAX_MESSAGE_CHARS = 8_000
CHAT_MESSAGE = "chat.message"


def main_chat(*, principal: Principal) -> ChatView:
    """The person's main chat; made on first use.

    Raises:
        NotFound: a principal whose clearance does not reach it.
        Problem: `scope_denied` (403) for a token that writes elsewhere.
    """
    own = selectors.own_scope(principal)
    with scope(principal, write=own):
        chat = Chat.objects.filter(scope_ref=own, is_main=True).first()
        if chat is None:
            Chat.objects.bulk_create([Chat(scope_ref=own, is_main=True, created_at=clock.now())], ignore_conflicts=True)
            chat = Chat.objects.filter(scope_ref=own, is_main=True).first()
        if chat is None:
            raise selectors.no_chat()
    return selectors.chat_view(chat)


def create_chat(*, principal: Principal, title: str = "") -> ChatView:
    """A further chat."""
    check_text(title, field="title", limit=200)
    own = selectors.own_scope(principal)
    with scope(principal, write=own):
        chat = Chat.objects.create(scope_ref=own, title=title, created_at=clock.now())
    return selectors.chat_view(chat)


def post_message(
    *,
    principal: Principal,
    chat_id: UUID,
    text: str,
    client_id: str | None = None,
    sent_at: datetime | None = None,
) -> Posted:
    """Store a person's message, then answer it. The same `client_id` again makes no second message.

    Raises:
        NotFound: no such chat for this principal.
        Problem: `imported_chat` (409): it is only read;
            `empty_message`, `too_long`, `invalid_text`; `client_id_reused` (409) with another text;
            `scope_denied` (403) for a token that writes elsewhere than in its person's own scope;
            `person_required` (403) for an agent's token: nobody speaks for the person.
    """
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can write in their chat."), 403)
    check_text(text, field="text", limit=MAX_MESSAGE_CHARS)
    check_text(client_id or "", field="client_id", limit=100)
    if not text.strip():
        raise Problem("empty_message", _("Write something first."), field="text")
    message, is_new = _store(principal, chat_id, text, client_id, sent_at)
    if message.run_id is None:
        raise RuntimeError("a person's message always starts a run")
    if is_new:
        reply = agent.answer(principal=principal, text=text)
        if reply is not None:
            _reply(principal, chat_id, message.run_id, reply)
            usage.told((fact.scope_ref, fact.id) for fact in reply.facts)
        _finish_run(principal, message.run_id)
    return Posted(
        message_id=message.pk,
        run_id=message.run_id,
        reply=selectors.reply_of(principal=principal, run_id=message.run_id),
    )


def _store(
    principal: Principal, chat_id: UUID, text: str, client_id: str | None, sent_at: datetime | None
) -> tuple[Message, bool]:
    own = selectors.own_scope(principal)
    with scope(principal, write=own):
        chat = selectors.lock_chat(chat_id, own)
        if chat.source:
            raise Problem("imported_chat", _("This chat comes from elsewhere and is only read."), 409)
        if client_id:
            before = Message.objects.filter(chat_id=chat.pk, client_id=client_id).first()
            if before is not None:
                if before.text != text:
                    raise Problem(
                        "client_id_reused", _("This message was sent before with other words."), 409, "client_id"
                    )
                return before, False
        now = clock.now()
        run = Run.objects.create(scope_ref=chat.scope_ref, chat_id=chat.pk, started_at=now)
        message = append(
            chat,
            role=Message.Role.USER,
            classification=UNJUDGED,
            text=text,
            sent_at=min(sent_at, now) if sent_at else now,
            sent_zone=principal.time_zone,
            client_id=client_id or None,
            run_id=run.pk,
        )
        turns.announce(principal, message)
    return message, True


def append(chat: Chat, *, role: str, text: str, **columns: Any) -> Message:
    """Add a message at the end of a locked chat."""
    now = clock.now()
    chat.last_seq += 1
    chat.save(update_fields=["last_seq"])
    message = Message.objects.create(
        id=uuid7(),
        scope_ref=chat.scope_ref,
        org_id=chat.org_id,
        chat_id=chat.pk,
        seq=chat.last_seq,
        role=role,
        text=text,
        created_at=now,
        **{"sent_at": now, "sent_zone": "UTC", **columns},
    )
    events.publish_on_commit(chat.scope_ref, CHAT_MESSAGE, [message.pk])
    if role in SPOKEN:
        episodes.ask(chat.scope_ref)
    return message


def _reply(principal: Principal, chat_id: UUID, run_id: UUID, reply: agent.Reply) -> None:
    level = explain.highest_classification(principal=principal, fact_ids=reply.fact_ids)
    own = selectors.own_scope(principal)
    with scope(principal, write=own):
        chat = selectors.lock_chat(chat_id, own)
        append(
            chat,
            role=Message.Role.ASSISTANT,
            # It answers what was asked, which nobody has judged, and may repeat what turns out to be sensitive.
            classification=MAX_CLEARANCE if reply.quotes else max(level, UNJUDGED),
            text=reply.text,
            run_id=run_id,
            fact_ids=[str(id) for id in reply.fact_ids],
        )


def _finish_run(principal: Principal, run_id: UUID) -> None:
    with scope(principal, write=selectors.own_scope(principal)):
        Run.objects.filter(pk=run_id).update(status=Run.Status.DONE, ended_at=clock.now())


def post_review_message(*, principal: Principal, proposal_ids: Iterable[UUID]) -> None:
    """Show open proposals as one message of the agent in the main chat."""
    chat_id = main_chat(principal=principal).id
    own = selectors.own_scope(principal)
    with scope(principal, write=own):
        chat = selectors.lock_chat(chat_id, own)
        ids = [str(id) for id in proposal_ids]
        shown = {
            id
            for message in Message.objects.filter(chat_id=chat.pk, role=Message.Role.REVIEW).only("proposal_ids")
            for id in message.proposal_ids
        }
        new = [id for id in ids if id not in shown]
        if new:
            append(chat, role=Message.Role.REVIEW, text="", proposal_ids=new)
