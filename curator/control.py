"""Looking at a chat's curator, and having it read at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from curator.curate import curate
from curator.models import CuratorRun, CuratorState
from gedaechtnis.chat import selectors
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope

CURATE = "curate"
"""Kind of the work that reads a chat."""


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


def curate_now(*, principal: Principal, chat_id: UUID) -> CuratorStatus:
    """Read the chat at once, in this request; answers when done.

    Raises:
        NotFound: no such chat for this principal.
    """
    selectors.get_chat(principal=principal, chat_id=chat_id)
    curate(user=User.objects.get(sub=str(principal.sub)), chat_id=chat_id, org_id=principal.org_id)
    return curator_status(principal=principal, chat_id=chat_id)


def curator_status(*, principal: Principal, chat_id: UUID) -> CuratorStatus:
    """What the curator of a chat did and will do.

    Raises:
        NotFound: no such chat for this principal.
    """
    chat = selectors.get_chat(principal=principal, chat_id=chat_id)
    with scope(principal):
        state = CuratorState.objects.filter(chat_id=chat_id).first()
        last_run = CuratorRun.objects.filter(chat_id=chat_id).order_by("-last_seq").first()
    waiting = work.pending(kind=CURATE, scope_ref=chat.scope_ref, dedupe_key=str(chat_id))
    return CuratorStatus(
        watermark=state.watermark if state else 0,
        pending_turns=state.pending_turns if state else 0,
        due_at=waiting.due_at if waiting and state and state.pending_turns else None,
        last_run=last_run,
    )
