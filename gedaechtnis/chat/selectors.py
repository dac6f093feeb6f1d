"""Reading chats."""

from __future__ import annotations

from uuid import UUID

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext as _

from gedaechtnis.chat import phrasing
from gedaechtnis.chat.answers import ChatView, FactChip, MessageView
from gedaechtnis.chat.models import Chat, Message
from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory.selectors import explain, proposals
from gedaechtnis.scoping.context import scope

MAX_PAGE = 200


def chat_view(chat: Chat) -> ChatView:
    return ChatView(
        id=chat.pk, scope_ref=chat.scope_ref, title=chat.title, is_main=chat.is_main, created_at=chat.created_at
    )


def own_scope(principal: Principal) -> str:
    """Where a person's chats lie, also for a token that writes elsewhere: answers rest on everything they may read."""
    return principal.read_scopes[0]


def list_chats(*, principal: Principal) -> tuple[ChatView, ...]:
    """The person's chats, the main one first."""
    with scope(principal):
        return tuple(chat_view(chat) for chat in _own(principal).order_by("-is_main", "-created_at"))


def get_chat(*, principal: Principal, chat_id: UUID) -> ChatView:
    """Raises NotFound: missing and foreign alike."""
    with scope(principal):
        chat = _own(principal).filter(pk=chat_id).first()
    if chat is None:
        raise no_chat()
    return chat_view(chat)


def lock_chat(chat_id: UUID, scope_ref: str) -> Chat:
    """The chat, locked until the transaction ends: its messages are numbered one by one.

    Rows that refer to it may be written meanwhile: the curator does, while it holds what a new message waits for.
    """
    chat = Chat.objects.filter(pk=chat_id, scope_ref=scope_ref).select_for_update(no_key=True).first()
    if chat is None:
        raise no_chat()
    return chat


def messages(
    *, principal: Principal, chat_id: UUID, after: int | None = None, limit: int = 100
) -> tuple[MessageView, ...]:
    """The messages behind `after` (a `seq`), oldest first; without it the last `limit` ones."""
    get_chat(principal=principal, chat_id=chat_id)
    limit = max(1, min(limit, MAX_PAGE))
    with scope(principal):
        rows = _readable(principal).filter(chat_id=chat_id)
        if after is None:
            found = list(rows.order_by("-seq")[:limit])[::-1]
        else:
            found = list(rows.filter(seq__gt=after).order_by("seq")[:limit])
    return _views(principal, found)


def reply_of(*, principal: Principal, run_id: UUID) -> MessageView | None:
    """What the agent answered in a run, if it has."""
    with scope(principal):
        found = list(_readable(principal).filter(run_id=run_id, role=Message.Role.ASSISTANT).order_by("-seq")[:1])
    return _views(principal, found)[0] if found else None


def _own(principal: Principal) -> QuerySet[Chat]:
    return Chat.objects.filter(scope_ref=own_scope(principal))


def _readable(principal: Principal) -> QuerySet[Message]:
    """Messages within the open scope; below full clearance none that tells a fact which is out of sight."""
    rows = Message.objects.all()
    if principal.clearance >= MAX_CLEARANCE:
        return rows
    return rows.annotate(hidden=RawSQL(Message.hidden_when, [], BooleanField())).filter(hidden=False)  # noqa: S611


def _views(principal: Principal, rows: list[Message]) -> tuple[MessageView, ...]:
    fact_ids = [UUID(id) for row in rows for id in row.fact_ids]
    proposal_ids = [UUID(id) for row in rows for id in row.proposal_ids]
    facts = {f.id: f for f in explain.get_facts(principal=principal, fact_ids=fact_ids)} if fact_ids else {}
    items = proposals.proposals_by_id(principal=principal, ids=proposal_ids) if proposal_ids else {}
    return tuple(
        MessageView(
            id=row.pk,
            seq=row.seq,
            role=row.role,
            text=row.text,
            created_at=row.created_at,
            fact_chips=tuple(
                FactChip(
                    fact_id=fact.id,
                    entity_ref=fact.subject_ref,
                    entity_id=fact.subject_id,
                    entity_scope=fact.subject_scope,
                    label=phrasing.sentence(fact),
                )
                for id in row.fact_ids
                if (fact := facts.get(UUID(id)))
            ),
            review_items=tuple(item for id in row.proposal_ids if (item := items.get(UUID(id)))),
            run_id=row.run_id,
        )
        for row in rows
    )


def no_chat() -> NotFound:
    return NotFound(_("There is no such chat."))
