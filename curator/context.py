"""Gathering what an extractor may see: the unread part of a chat and the entities it touches.

Never another scope's data, never the whole catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, TextField, Value
from django.db.models.functions import StrIndex

from curator.models import CuratorState
from curator.window import KnownEntity, KnownFact, Window, WindowMessage
from gedaechtnis.chat.models import Message
from gedaechtnis.common.instants import rfc3339, shown
from gedaechtnis.common.text import name_key
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.references import borne_at
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias, Fact

MAX_TURNS = 20
_SEEN_TURNS = 6
_RECENT_FACTS = 10
_MAX_ENTITIES = 40
_MAX_FACTS_EACH = 40

_ROLES = {Message.Role.USER: "user", Message.Role.ASSISTANT: "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A window together with where it starts and ends in the chat."""

    window: Window
    watermark: int
    first_seq: int
    last_seq: int


def load_curator_context(*, principal: Principal, chat_id: UUID, now: datetime) -> Reading | None:
    """The next unread window of a chat, or None if everything was read."""
    with scope(principal):
        state = CuratorState.objects.filter(chat_id=chat_id).first()
        watermark = state.watermark if state else 0
        talk = Message.objects.filter(chat_id=chat_id, role__in=list(_ROLES), is_hidden=False, is_current=True)
        unread = list(talk.filter(seq__gt=watermark).order_by("seq")[:MAX_TURNS])
        if not unread:
            return None
        seen = list(talk.filter(seq__lte=watermark).order_by("-seq")[:_SEEN_TURNS])[::-1]
        text = " ".join(message.text for message in unread)
        window = Window(
            messages=tuple(
                [_message(message, seen=True) for message in seen]
                + [_message(message, seen=False) for message in unread]
            ),
            now=now,
            zone=principal.zone,
            known=_known(principal, text, now),
            language=principal.language,
        )
    return Reading(window=window, watermark=watermark, first_seq=unread[0].seq, last_seq=unread[-1].seq)


def _message(message: Message, *, seen: bool) -> WindowMessage:
    return WindowMessage(
        id=str(message.pk),
        role="user" if message.role == Message.Role.USER else "assistant",
        text=message.text,
        sent_at=message.sent_at,
        seen=seen,
    )


def _known(principal: Principal, text: str, now: datetime) -> tuple[KnownEntity, ...]:
    """The person themself, what was learned last, and whatever the text names."""
    own = Entity.objects.filter(scope_ref__in=principal.read_scopes).exclude(status=Entity.Status.MERGED)
    key = name_key(text)
    named = own.annotate(place=StrIndex(Value(key, output_field=TextField()), "name_key")).filter(place__gt=0)
    aliased = (
        EntityAlias.objects.filter(borne_at(now), superseded_at=None)
        .annotate(place=StrIndex(Value(key, output_field=TextField()), "key"))
        .filter(place__gt=0)
    )
    recent = Fact.objects.believed().order_by("-recorded_at").values_list("subject_id", flat=True)[:_RECENT_FACTS]
    ids = {
        *own.filter(is_self=True, scope_ref=principal.default_scope).values_list("pk", flat=True),
        *recent,
        *[entity.pk for entity in named[:_MAX_ENTITIES] if _says(key, entity.name_key)],
        *[alias.entity_id for alias in aliased[:_MAX_ENTITIES] if _says(key, alias.key)],
    }
    entities = list(own.filter(pk__in=ids))
    facts = _facts_of([entity.pk for entity in entities], now)
    linked = {row.object_entity_id for rows in facts.values() for row in rows if row.object_entity_id} - ids
    entities += list(own.filter(pk__in=linked))
    refs = {entity.pk: entity.ref for entity in entities}
    aliases: dict[UUID, list[str]] = {}
    for alias in EntityAlias.objects.filter(borne_at(now), entity_id__in=refs, superseded_at=None):
        aliases.setdefault(alias.entity_id, []).append(alias.alias)
    return tuple(
        KnownEntity(
            ref=entity.ref,
            name=entity.canonical_name,
            kind=entity.kind,
            is_self=entity.is_self and entity.scope_ref == principal.default_scope,
            aliases=tuple(aliases.get(entity.pk, ())),
            facts=tuple(_known_facts(facts.get(entity.pk, ()), refs)),
        )
        for entity in entities
    )


def _says(text_key: str, key: str) -> bool:
    """Whether the text holds the name as whole words."""
    return f" {key} " in f" {text_key} "


def _facts_of(entity_ids: Sequence[UUID], now: datetime) -> dict[UUID, list[Fact]]:
    rows = (
        Fact.objects.believed()
        .filter(Q(valid_to=None) | Q(valid_to__gt=now), subject_id__in=entity_ids)
        .exclude(predicate="name")
        .order_by("subject_id", "-recorded_at")
    )
    found: dict[UUID, list[Fact]] = {}
    for row in rows:
        listed = found.setdefault(row.subject_id, [])
        if len(listed) < _MAX_FACTS_EACH:
            listed.append(row)
    return found


def _known_facts(rows: Iterable[Fact], refs: dict[UUID, str]) -> Iterable[KnownFact]:
    for row in rows:
        start = shown(row.valid_from)
        yield KnownFact(
            id=str(row.pk),
            predicate=row.predicate,
            value=row.object_value,
            object_ref=refs.get(row.object_entity_id) if row.object_entity_id else None,
            valid_from=rfc3339(start) if start else None,
            learned_at=row.recorded_at,
            polarity=row.polarity,
        )
