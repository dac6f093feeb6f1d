"""Debounce in the database: a turn moves the chat's work item; the work tick runs the curator."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from curator import prefilter
from curator.control import CURATE
from curator.curate import curate, lock_state
from curator.window import Window, WindowMessage
from gedaechtnis.chat import turns
from gedaechtnis.chat.models import Message
from gedaechtnis.common import clock
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping import work


def register() -> None:
    turns.listen(note_turn)
    turns.bind_reader(curate)
    work.handler(CURATE)(_curate)


def note_turn(principal: Principal, message: Message) -> None:
    """Count a turn and plan the curator, in the transaction that stores the message.

    Due after a pause, at once after enough turns, and at once when the person asks for it.
    """
    state = lock_state(message.scope_ref, message.chat_id)
    state.pending_turns += 1
    state.save(update_fields=["pending_turns"])
    now = clock.now()
    hurried = state.pending_turns >= settings.GEDAECHTNIS_CURATOR_MAX_TURNS or _asks_to_remember(principal, message)
    pause = timedelta(seconds=0 if hurried else settings.GEDAECHTNIS_CURATOR_IDLE_SECONDS)
    work.enqueue(
        kind=CURATE,
        scope_ref=message.scope_ref,
        org_id=principal.org_id,
        acting_sub=principal.sub,
        object_id=message.chat_id,
        dedupe_key=str(message.chat_id),
        due_at=now + pause,
    )


def _asks_to_remember(principal: Principal, message: Message) -> bool:
    alone = WindowMessage(id=str(message.pk), role="user", text=message.text, sent_at=message.sent_at)
    window = Window(messages=(alone,), now=message.sent_at, zone=principal.zone, language=principal.language)
    return prefilter.decide(window).explicit


def _curate(item: work.WorkItem) -> None:
    if item.object_id is None:
        raise ValueError("a curate item names its chat")
    curate(user=item.user(), chat_id=item.object_id, org_id=item.org_id)
