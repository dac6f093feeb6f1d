"""Reading chats."""

from __future__ import annotations

from uuid import UUID

from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext as _

from gedaechtnis.chat import phrasing
from gedaechtnis.chat.answers import ChatView, FactChip, MessageView, PartView, Surroundings
from gedaechtnis.chat.models import Chat, Message
from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory.selectors import explain, proposals
from gedaechtnis.scoping.context import scope

MAX_PAGE = 200


def chat_view(chat: Chat) -> ChatView:
    return ChatView(
        id=chat.pk,
        scope_ref=chat.scope_ref,
        title=chat.title,
        is_main=chat.is_main,
        created_at=chat.created_at,
        source=chat.source,
        external_id=chat.external_id or None,
        last_seq=chat.last_seq,
    )


def own_scope(principal: Principal) -> str:
    """Where a person's chats lie, also for a token that writes elsewhere: answers rest on everything they may read."""
    return principal.read_scopes[0]


def list_chats(*, principal: Principal, after: UUID | None = None, limit: int = 50) -> tuple[ChatView, ...]:
    """The person's chats, the main one first, then the newest; those behind the chat `after`."""
    return _page(_own(principal), principal, after, limit)


def list_imported(*, principal: Principal, after: UUID | None = None, limit: int = 50) -> tuple[ChatView, ...]:
    """The chats that came from elsewhere, the newest first; those behind the chat `after`."""
    return _page(_own(principal).exclude(source=""), principal, after, limit)


def _page(chats: QuerySet[Chat], principal: Principal, after: UUID | None, limit: int) -> tuple[ChatView, ...]:
    with scope(principal):
        last = chats.filter(pk=after).first() if after else None
        if last is not None:
            behind = Q(created_at__lt=last.created_at) | Q(created_at=last.created_at, pk__lt=last.pk)
            chats = chats.filter(behind, is_main=False) if not last.is_main else chats.filter(is_main=False)
        ordered = chats.order_by("-is_main", "-created_at", "-pk")
        return tuple(chat_view(chat) for chat in ordered[: max(1, min(limit, MAX_PAGE))])


def get_chat(*, principal: Principal, chat_id: UUID) -> ChatView:
    """Raises NotFound: missing and foreign alike."""
    found = find_chat(principal=principal, chat_id=chat_id)
    if found is None:
        raise no_chat()
    return found


def find_chat(*, principal: Principal, chat_id: UUID) -> ChatView | None:
    """The chat, if it is there for the principal."""
    with scope(principal):
        chat = _own(principal).filter(pk=chat_id).first()
    return chat_view(chat) if chat else None


def find_imported(*, principal: Principal, external_id: str) -> ChatView | None:
    """The chat that had this id where it came from; of several the newest."""
    with scope(principal):
        chat = _own(principal).filter(external_id=external_id).exclude(source="").order_by("-created_at").first()
    return chat_view(chat) if chat else None


def lock_chat(chat_id: UUID, scope_ref: str) -> Chat:
    """The chat, locked until the transaction ends: its messages are numbered one by one.

    Rows that refer to it may be written meanwhile: the curator does, while it holds what a new message waits for.
    """
    chat = Chat.objects.filter(pk=chat_id, scope_ref=scope_ref).select_for_update(no_key=True).first()
    if chat is None:
        raise no_chat()
    return chat


def messages(
    *, principal: Principal, chat_id: UUID, after: int | None = None, limit: int = 100, only_shown: bool = False
) -> tuple[MessageView, ...]:
    """The messages behind `after` (a `seq`), oldest first; without it the last `limit` ones.

    `only_shown` leaves out what is hidden or on a branch that was left.
    """
    get_chat(principal=principal, chat_id=chat_id)
    limit = max(1, min(limit, MAX_PAGE))
    with scope(principal):
        rows = _readable(principal).filter(chat_id=chat_id)
        if only_shown:
            rows = rows.filter(is_hidden=False, is_current=True)
        if after is None:
            found = list(rows.order_by("-seq")[:limit])[::-1]
        else:
            found = list(rows.filter(seq__gt=after).order_by("seq")[:limit])
    return _views(principal, found)


def place_of(*, principal: Principal, chat_id: UUID, message_id: UUID) -> int | None:
    """The `seq` of a message of the chat; None for one that is not there."""
    with scope(principal):
        return _readable(principal).filter(chat_id=chat_id, pk=message_id).values_list("seq", flat=True).first()


def around(*, principal: Principal, message_id: UUID, each_side: int = 8) -> Surroundings:
    """A message among those before and after it.

    Raises:
        NotFound: missing and foreign alike.
    """
    with scope(principal):
        readable = _readable(principal).filter(scope_ref=own_scope(principal))
        asked = readable.filter(pk=message_id).first()
        if asked is None:
            raise NotFound(_("There is no such message."))
        chat = chat_view(_own(principal).get(pk=asked.chat_id))
        others = readable.filter(chat_id=asked.chat_id)
        before = list(others.filter(seq__lt=asked.seq).order_by("-seq")[: each_side + 1])
        after = list(others.filter(seq__gt=asked.seq).order_by("seq")[: each_side + 1])
    shown = [*before[:each_side][::-1], asked, *after[:each_side]]
    return Surroundings(
        chat=chat,
        message_id=asked.pk,
        messages=_views(principal, shown),
        earlier_id=before[each_side].pk if len(before) > each_side else None,
        later_id=after[each_side].pk if len(after) > each_side else None,
    )


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
            sent_at=row.sent_at,
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
            speaker=row.speaker,
            external_id=row.external_id,
            is_hidden=row.is_hidden,
            is_current=row.is_current,
            parts=tuple(PartView(**part) for part in row.parts),
        )
        for row in rows
    )


def no_chat() -> NotFound:
    return NotFound(_("There is no such chat."))
