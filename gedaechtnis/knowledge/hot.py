"""The hot tier: what an agent wants remembered, at once and for this session, before it is decided whether it lasts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.common.text import check_text
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains, models
from gedaechtnis.knowledge.agents import Keeper, keeper_of, writing
from gedaechtnis.knowledge.pads import NOTES_CHANGED
from gedaechtnis.memory import events
from gedaechtnis.memory.schemas import MemoryType
from gedaechtnis.scoping.context import scope

MAX_TEXT, MAX_TOPIC, MAX_SESSION = models.LONGEST_ENTRY, 200, 200
"""Characters."""
DEFAULT_DOMAIN = "general"
State = models.HotEntry.State


@dataclass(frozen=True, slots=True, kw_only=True)
class HotEntry:
    """Something to be remembered. `state` says what became of it; see the table."""

    id: UUID
    scope_ref: str
    agent: str
    session_id: str
    domain: str
    topic: str
    text: str
    memory_type: MemoryType
    recorded_at: datetime
    state: State
    proposal_id: UUID | None
    into_id: UUID | None
    decided_at: datetime | None


def remember(
    *,
    principal: Principal,
    text: str,
    domain: str = DEFAULT_DOMAIN,
    topic: str = "",
    session_id: str | None = None,
    memory_type: str = MemoryType.NOTE,
    repo: str | None = None,
    scope_ref: str | None = None,
) -> HotEntry:
    """Keep something for the agent alone. Nobody believes it until it is consolidated and a person agrees.

    Raises:
        Problem: `missing`, `too_long`, `invalid_text`, `invalid_domain`, `invalid_repo`, `conflicting_fields`,
            `invalid_memory_type` (rules are proposed, not remembered); `scope_denied` (403).
    """
    for field, said, limit in (
        ("text", text, MAX_TEXT),
        ("topic", topic, MAX_TOPIC),
        ("session_id", session_id or "", MAX_SESSION),
    ):
        check_text(said, field=field, limit=limit)
    if not text.strip():
        raise Problem("missing", _("There is nothing in it."), field="text")
    if memory_type not in list(MemoryType) or memory_type == MemoryType.POLICY:
        raise Problem("invalid_memory_type", _("Nothing is remembered as this type."), field="memory_type")
    key, keeper = str(domains.parse(domain, repo=repo)), keeper_of(principal, scope_ref)
    with writing(principal, keeper) as written:
        row = models.HotEntry.objects.create(
            **keeper.columns,
            org_id=written.org_id,
            classification=principal.clearance,
            session_id=session_id or "",
            domain=key,
            topic=topic.strip(),
            text=text,
            memory_type=memory_type,
            recorded_at=written.tick,
        )
        events.publish_on_commit(keeper.owner_ref, NOTES_CHANGED, [row.pk])
    return view(row)


def list_hot(
    *,
    principal: Principal,
    scope_ref: str | None = None,
    agent: str | None = None,
    session_id: str | None = None,
    states: Collection[str] = (State.HOT,),
    limit: int = 200,
) -> tuple[HotEntry, ...]:
    """Entries of an agent, the latest first; by default those about which nothing was decided yet.

    Raises:
        Problem: `scope_denied`, `not_your_notes` (403); `too_long`, `invalid_text` of the session.
    """
    keeper = keeper_of(principal, scope_ref, agent)
    check_text(session_id or "", field="session_id", limit=MAX_SESSION)
    with scope(principal):
        rows = models.HotEntry.objects.filter(**keeper.columns, state__in=states)
        if session_id is not None:
            rows = rows.filter(session_id=session_id)
        return tuple(view(row) for row in rows.order_by("-recorded_at", "-id")[:limit])


def forget(*, principal: Principal, entry_id: UUID) -> None:
    """Erase an entry: an agent one of its own, a person one of any agent of theirs. What was proposed of it stays.

    Raises:
        NotFound: missing, and foreign alike.
        Problem: `scope_denied` (403).
    """
    with scope(principal):
        row = models.HotEntry.objects.filter(pk=entry_id).first()
    if row is None or not (principal.is_person or row.agent == principal.agent_role):
        raise NotFound(_("There is nothing of that kind to forget."))
    with writing(principal, Keeper(scope_ref=row.scope_ref, owner_ref=row.owner_ref, agent=row.agent)):
        models.HotEntry.objects.filter(pk=entry_id).delete()
        events.publish_on_commit(row.owner_ref, NOTES_CHANGED, [entry_id])


def view(row: models.HotEntry) -> HotEntry:
    return HotEntry(
        id=row.pk,
        scope_ref=row.scope_ref,
        agent=row.agent,
        session_id=row.session_id,
        domain=row.domain,
        topic=row.topic,
        text=row.text,
        memory_type=MemoryType(row.memory_type),
        recorded_at=row.recorded_at,
        state=State(row.state),
        proposal_id=row.proposal_id,
        into_id=row.into_id,
        decided_at=row.decided_at,
    )
