"""Debounce in the database: a turn moves the chat's work item; the work tick runs the curator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from curator import prefilter
from curator.curate import curate, lock_state
from curator.models import CuratorRun, CuratorState
from curator.window import Window, WindowMessage
from gedaechtnis.chat import selectors, turns
from gedaechtnis.chat.models import Message
from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope

CURATE = "curate"


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorStatus:
    """How far a chat was read, when the curator reads next, and what it decided last."""

    watermark: int
    pending_turns: int
    due_at: datetime | None
    last_run: CuratorRun | None

    @property
    def last_outcome(self) -> str | None:
        return self.last_run.outcome if self.last_run else None

    @property
    def last_skipped_because(self) -> str | None:
        return (self.last_run.skipped_because or None) if self.last_run else None


def register() -> None:
    turns.listen(note_turn)
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
        org_id=message.org_id,
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
    curate(user=item.user(), chat_id=item.object_id)


def curate_now(*, principal: Principal, chat_id: UUID) -> CuratorStatus:
    """Read the chat at once, in this request; answers when done.

    Raises:
        NotFound: no such chat for this principal.
    """
    selectors.get_chat(principal=principal, chat_id=chat_id)
    curate(user=User.objects.get(sub=principal.sub), chat_id=chat_id)
    return curator_status(principal=principal, chat_id=chat_id)


def curator_status(*, principal: Principal, chat_id: UUID) -> CuratorStatus:
    """What the curator of a chat did and will do.

    Raises:
        NotFound: no such chat for this principal.
    """
    selectors.get_chat(principal=principal, chat_id=chat_id)
    with scope(principal):
        state = CuratorState.objects.filter(chat_id=chat_id).first()
        last_run = CuratorRun.objects.filter(chat_id=chat_id).order_by("-last_seq").first()
    waiting = work.pending(kind=CURATE, scope_ref=principal.default_scope, dedupe_key=str(chat_id))
    return CuratorStatus(
        watermark=state.watermark if state else 0,
        pending_turns=state.pending_turns if state else 0,
        due_at=waiting.due_at if waiting and state and state.pending_turns else None,
        last_run=last_run,
    )
