"""Conversations as they are found: each message by what was said, also where it states no fact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.projecting import index, projections
from gedaechtnis.memory.projecting.access import indexing
from gedaechtnis.memory.projecting.projections import Draft
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Projection

EPISODES = "episodes"
"""Kind of the work that makes the new messages of a scope into episodes; who keeps the messages does it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One message. `position` orders the messages of a `session_id`, which bounds what counts as near ("" = the chat).

    `speaker_id` is the person entity who spoke, where that is known.
    """

    message_id: UUID
    chat_id: UUID
    session_id: str
    position: int
    speaker: str
    role: str
    text: str
    sent_at: datetime
    external_id: str | None
    scope_ref: str
    classification: int
    speaker_id: UUID | None = None


def ask(scope_ref: str) -> None:
    """Let the new messages of a scope become episodes after this transaction."""
    work.enqueue(kind=EPISODES, scope_ref=scope_ref, dedupe_key="")


def store(*, principal: Principal, episodes: Sequence[Episode]) -> None:
    """Make or renew the projections of messages; they are found once they have been indexed. Again, nothing changes.

    Raises:
        Problem: `scope_denied` (403) for a scope that the principal may not write.
    """
    by_scope: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        by_scope[episode.scope_ref].append(episode)
    for scope_ref in sorted(by_scope):
        # Asked first: who commits has asked already when the scope's lock is wanted, and nobody waits in a ring.
        with scope(principal, write=scope_ref):
            index.ask(scope_ref)
            with indexing(scope_ref, principal) as place:
                projections.store(place, [draft(episode) for episode in by_scope[scope_ref]])


def forget(*, principal: Principal, scope_ref: str, message_ids: Iterable[UUID]) -> None:
    """Take the projections of messages away, with every word of them that no other projection holds.

    Raises:
        Problem: `scope_denied` (403) for a scope that the principal may not write.
    """
    with indexing(scope_ref, principal) as place:
        projections.forget(place, Projection.Source.EPISODE, message_ids)


def draft(episode: Episode) -> Draft:
    """What a message has to be found by."""
    return Draft(
        source_kind=Projection.Source.EPISODE,
        source_id=episode.message_id,
        text=episode.text,
        ref=f"msg:{episode.message_id}",
        classification=episode.classification,
        recorded_at=episode.sent_at,
        touched_at=episode.sent_at,
        occurred_at=episode.sent_at,
        entity_ids=(episode.speaker_id,) if episode.speaker_id else (),
        speaker=episode.speaker,
        role=episode.role,
        chat_id=episode.chat_id,
        session_id=episode.session_id or str(episode.chat_id),
        position=episode.position,
        external_id=episode.external_id,
    )
