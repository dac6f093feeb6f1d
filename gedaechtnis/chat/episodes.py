"""Messages as episodes: what was said stays findable, also where it states no fact.

A chat's mark says how far it has come; it moves in the transaction that stores the episodes. What was not said is no
episode: thinking and tools, review messages and notices, and answers of the agent here, which only repeat what is found
itself. Turns of a branch that was left are found, and are neighbours of that branch alone.

A session bounds what counts as near: the one an import names, else a day, which begins at four in the morning where
the message was sent, so that an evening is not cut at midnight.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.utils.translation import pgettext

from gedaechtnis.chat.models import Chat, EpisodeMark, Message
from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.text import name_key
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, system
from gedaechtnis.memory.projecting import episodes
from gedaechtnis.memory.projecting.access import indexing
from gedaechtnis.memory.projecting.checking import Differences, differing
from gedaechtnis.memory.projecting.episodes import EPISODES, Episode, draft
from gedaechtnis.memory.references import borne_at
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import ScopeClock
from gedaechtnis.world.models import Entity, EntityAlias, Projection

SPOKEN = frozenset({Message.Role.USER, Message.Role.ASSISTANT, Message.Role.OTHER})
"""Roles whose messages were said by somebody."""
_AT_ONCE = 1000
_CHATS_AT_ONCE = 200
_DAY_BEGINS = timedelta(hours=4)
_PERSON = "person"
_EPISODE = Projection.Source.EPISODE

_BEHIND = """
FROM chats c LEFT JOIN episode_marks e ON e.scope_ref = c.scope_ref AND e.chat_id = c.id
WHERE c.scope_ref = %(scope)s AND c.last_seq > coalesce(e.seq, 0)
"""
_NEW = """
SELECT m.id, m.scope_ref, m.classification, m.chat_id, m.seq, m.role, m.text, m.sent_at, m.sent_zone, m.speaker,
       m.external_id, m.parent, m.session, m.is_hidden, m.is_current, m.parts
FROM messages m JOIN episode_marks e ON e.scope_ref = m.scope_ref AND e.chat_id = m.chat_id
WHERE m.scope_ref = %(scope)s AND m.chat_id = ANY (%(chats)s) AND m.seq > e.seq
ORDER BY m.chat_id, m.seq LIMIT %(limit)s
"""


def register() -> None:
    work.handler(EPISODES)(_run)


def project(*, scope_ref: str) -> int:
    """Make all new messages of a scope into episodes, some a transaction; returns how many messages were read."""
    total = 0
    while read := _project_some(scope_ref):
        total += read
    return total


def check(*, scope_ref: str) -> Differences:
    """Compare the projections of a scope's messages with the messages; who spoke is as it was known at the time.

    What is pending is done first.

    Raises:
        Problem: `scope_denied` (403) while nobody may write there.
    """
    project(scope_ref=scope_ref)
    principal = system(scope_ref, EPISODES)
    found: Differences = Counter()
    with indexing(scope_ref) as place:
        for chat_id in Chat.objects.filter(scope_ref=scope_ref).values_list("pk", flat=True):
            told = list(Message.objects.filter(scope_ref=scope_ref, chat_id=chat_id).order_by("seq"))
            marks = {chat_id: EpisodeMark(scope_ref=scope_ref, chat_id=chat_id)}
            drafts = [draft(episode) for episode in _episodes(told, marks, _Speakers(principal, told))]
            ids = [message.pk for message in told]
            found["messages"] += differing(place, _EPISODE, ids, drafts, but=("speaker", "entity_ids"))
    return +found


def rebuild(*, scope_ref: str) -> None:
    """Make the projections of all messages of a scope again.

    Raises:
        Problem: `scope_denied` (403) while nobody may write there.
    """
    with scope(system(scope_ref, EPISODES), write=scope_ref):
        EpisodeMark.objects.filter(scope_ref=scope_ref).update(seq=0, episodes=0)
    project(scope_ref=scope_ref)


def _run(item: work.WorkItem) -> None:
    """A scope that nobody may write waits: the next message asks again, and so does the end of an import."""
    if not ScopeClock.objects.filter(pk=item.scope_ref, state=ScopeClock.State.OPEN).exists():
        return
    until = work.time_to_stop()
    while _project_some(item.scope_ref):
        if time.monotonic() > until:
            episodes.ask(item.scope_ref)
            return


def _project_some(scope_ref: str) -> int:
    principal = system(scope_ref, EPISODES)
    with scope(principal, write=scope_ref):
        marks = _marks(scope_ref)
        asked = {"scope": scope_ref, "chats": list(marks), "limit": _AT_ONCE}
        found = list(Message.objects.raw(_NEW, asked)) if marks else []
        episodes.store(principal=principal, episodes=_episodes(found, marks, _Speakers(principal, found)))
        for message in found:
            marks[message.chat_id].seq = message.seq
        EpisodeMark.objects.bulk_update(marks.values(), ["seq", "episodes"], batch_size=_CHATS_AT_ONCE)
    return len(found)


def _marks(scope_ref: str) -> dict[UUID, EpisodeMark]:
    """The marks of some chats with new messages, by chat, locked: of two runs the second finds what the first left."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT c.id {_BEHIND} ORDER BY c.id LIMIT {_CHATS_AT_ONCE}", {"scope": scope_ref})
        ids = [id for (id,) in cursor.fetchall()]
    EpisodeMark.objects.bulk_create(
        [EpisodeMark(id=uuid7(), scope_ref=scope_ref, chat_id=id) for id in ids], ignore_conflicts=True
    )
    own = EpisodeMark.objects.filter(scope_ref=scope_ref, chat_id__in=ids).order_by("chat_id").select_for_update()
    return {mark.chat_id: mark for mark in own}


def _episodes(messages: Iterable[Message], marks: dict[UUID, EpisodeMark], speakers: _Speakers) -> list[Episode]:
    """Those that were said, in order. On the main line of a chat positions have no gaps."""
    made: list[Episode] = []
    branches: dict[tuple[UUID, str], str] = {}
    for message in messages:
        session = _session(message, branches)
        text = _text(message)
        if message.role not in SPOKEN or message.is_hidden or _is_answer(message) or not text:
            continue
        position = message.seq
        if message.is_current:
            marks[message.chat_id].episodes += 1
            position = marks[message.chat_id].episodes
        speaker, speaker_id = speakers.of(message)
        made.append(
            Episode(
                message_id=message.pk,
                chat_id=message.chat_id,
                session_id=f"{message.chat_id}/{session}",
                position=position,
                speaker=speaker,
                role=message.role,
                text=text,
                sent_at=message.sent_at,
                external_id=message.external_id,
                scope_ref=message.scope_ref,
                classification=message.classification,
                speaker_id=speaker_id,
            )
        )
    return made


def _is_answer(message: Message) -> bool:
    """Whether the agent here said it: what comes from elsewhere has an id there."""
    return message.role == Message.Role.ASSISTANT and message.external_id is None


def _session(message: Message, branches: dict[tuple[UUID, str], str]) -> str:
    """Which talk a message belongs to, within its chat; `branches` remembers those of turns off the main line."""
    if not message.is_current:
        branch = branches.get((message.chat_id, message.parent), f"branch {message.pk}")
        branches[message.chat_id, message.external_id or ""] = branch
        return branch
    if message.session:
        return message.session
    return (message.sent_at.astimezone(ZoneInfo(message.sent_zone)) - _DAY_BEGINS).date().isoformat()


def _text(message: Message) -> str:
    """What was said, and what the files are called that went with it."""
    names = [part["name"] for part in message.parts if part.get("name") and not part.get("is_hidden")]
    return "\n".join([message.text.strip(), *dict.fromkeys(names)]).strip()


class _Speakers:
    """Who said something: by name, and as a person of the memory where exactly one has that name."""

    def __init__(self, principal: Principal, messages: Sequence[Message]) -> None:
        owner = User.objects.filter(sub=principal.sub).first() if principal.sub else None
        self._owner = (owner.get_full_name() or owner.username) if owner else ""
        self._self = Entity.objects.filter(scope_ref=principal.default_scope, is_self=True).first()
        self._agent = pgettext("product name", "Memory")
        self._known = _persons({name_key(message.speaker) for message in messages if message.speaker})

    def of(self, message: Message) -> tuple[str, UUID | None]:
        own = self._self.pk if self._self else None
        if message.role == Message.Role.ASSISTANT:
            return message.speaker or self._agent, None
        if not message.speaker:
            return (self._owner, own) if message.role == Message.Role.USER else ("", None)
        if name_key(message.speaker) == name_key(self._owner):
            return message.speaker, own
        return message.speaker, self._known.get(name_key(message.speaker))


def _persons(keys: set[str]) -> dict[str, UUID]:
    """The person of each name, where one and no other has it."""
    persons = Entity.objects.filter(kind=_PERSON, status=Entity.Status.ACTIVE)
    aliases = EntityAlias.objects.filter(borne_at(clock.now()), key__in=keys, superseded_at=None, entity__in=persons)
    found: dict[str, set[UUID]] = {}
    for key, id in (
        *persons.filter(name_key__in=keys).values_list("name_key", "pk"),
        *aliases.values_list("key", "entity_id"),
    ):
        found.setdefault(key, set()).add(id)
    return {key: next(iter(ids)) for key, ids in found.items() if len(ids) == 1}
