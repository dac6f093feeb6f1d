"""What was found and holds no longer: facts that are over, the messages they rest on, and whoever repeats those."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import echoes
from gedaechtnis.memory.selectors.recall.records import Record

_MOST_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Ending:
    """Since when what was said no longer holds, and which fact holds instead, if one does."""

    at: datetime
    superseded_by: UUID | None


class Slot(NamedTuple):
    """Where beliefs compete, with the subject by which its rows are found."""

    id: UUID
    subject_id: UUID


class Over(NamedTuple):
    """Since when something is over, and in which slot."""

    at: datetime
    slot: Slot
    value: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A belief row."""

    slot: Slot
    value: str
    """What it says, in words; "" of what is denied."""
    scope_ref: str
    valid_to: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None

    def is_known(self, moment: Moment) -> bool:
        return self.scope_ref in moment.ticks and self.recorded_at <= moment.ticks[self.scope_ref]

    def is_believed(self, moment: Moment) -> bool:
        return self.superseded_at is None or self.superseded_at > moment.ticks[self.scope_ref]


_COLUMNS = "f.slot, f.subject_id, {}, f.scope_ref, f.valid_to, f.recorded_at, f.superseded_at"
_VALUE = "CASE WHEN f.polarity THEN coalesce(f.object_value #>> '{}', o.canonical_name, '') ELSE '' END"
_SAID = f"""
SELECT e.ref, f.origin_fact_id, {_COLUMNS.format(_VALUE)}
FROM fact_evidence e JOIN facts f ON f.origin_fact_id = e.fact_id LEFT JOIN entities o ON o.id = f.object_entity_id
WHERE e.ref = ANY (%s)
"""  # noqa: S608 (names of our own columns)
_IN_SLOTS = f"""
SELECT {_COLUMNS.format("CASE WHEN f.polarity THEN f.object_value #>> '{}' ELSE '' END")} FROM facts f
WHERE f.subject_id = ANY (%s) AND f.slot = ANY (%s) AND f.object_entity_id IS NULL
ORDER BY f.recorded_at DESC LIMIT {_MOST_ROWS}
"""  # noqa: S608


def read(facts: Mapping[UUID, FactView], messages: Sequence[Record], moment: Moment) -> dict[UUID, Ending]:
    """The endings of facts by their ids, and of messages by theirs."""
    over = {id: fact.valid_to for id, fact in facts.items() if fact.status != "active" and fact.valid_to}
    repeats = echoes.telling_words(messages)
    slots = _slots([*facts, *(echoes.facts_saying(repeats) if repeats else ())] if repeats else list(over))
    said = _said_no_longer([message.source_id for message in messages], moment)
    ended = {id: Over(at, slots[id]) for id, at in over.items()} | _answered(messages, said) | said
    if repeats:
        ended = _repeated(messages, {*slots.values(), *(one.slot for one in said.values())}, moment) | ended
    if not ended:
        return {}
    holding = _holding({one.slot for one in ended.values()}, moment)
    return {id: Ending(one.at, holding.get(one.slot.id)) for id, one in ended.items()}


def _said_no_longer(message_ids: Sequence[UUID], moment: Moment) -> dict[UUID, Over]:
    """Message → since when and in which slot something it stated was replaced or withdrawn.

    A statement that still stands as it was made is not over, however long ago it says something ended.
    """
    if not message_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_SAID, [[f"msg:{id}" for id in message_ids]])
        rows = [(ref, origin, _piece(*row)) for ref, origin, *row in cursor.fetchall()]
    statements: dict[tuple[str, UUID], list[_Piece]] = defaultdict(list)
    for ref, origin, piece in rows:
        if piece.is_known(moment):
            statements[ref, origin].append(piece)
    holding_slots = {(ref, group[0].slot) for (ref, _), group in statements.items() if _holds(group, moment)}
    found: dict[UUID, Over] = {}
    for (ref, _origin), group in statements.items():
        ended = _ended_at(group, moment)
        id = UUID(ref.removeprefix("msg:"))
        # Who says "from Bonn to Kiel" tells both: the message is as true as ever.
        if ended and (ref, group[0].slot) not in holding_slots and (id not in found or found[id].at < ended):
            found[id] = Over(ended, group[0].slot, group[0].value)
    return found


def _answered(messages: Sequence[Record], said: Mapping[UUID, Over]) -> dict[UUID, Over]:
    """The same of the agent's answers that repeat what was said in the same talk before them."""
    ended = [(message, said[message.source_id]) for message in messages if message.source_id in said]
    found: dict[UUID, Over] = {}
    for answer in messages:
        for message, over in ended if answer.role == "assistant" else ():
            is_after = (message.position or 0) < (answer.position or 0) and message.session == answer.session
            if is_after and (words := lexemes(over.value)) and set(words) <= set(answer.lexemes):
                found[answer.source_id] = over
    return found


def _repeated(messages: Sequence[Record], slots: Collection[Slot], moment: Moment) -> dict[UUID, Over]:
    """The same of messages that nothing was learned from, by a value they tell that holds nowhere any more."""
    if not slots:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_IN_SLOTS, [[slot.subject_id for slot in slots], [slot.id for slot in slots]])
        pieces = [piece for row in cursor.fetchall() if (piece := _piece(*row)).is_known(moment)]
    values: dict[tuple[Slot, str], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        values[piece.slot, piece.value].append(piece)
    holding = {(slot, value) for (slot, value), group in values.items() if _holds(group, moment)}
    gone = {
        value: Over(ended, slot)
        for (slot, value), group in values.items()
        if (ended := _ended_at(group, moment)) and not any(echoes.says(other, value) for _, other in holding)
    }
    found: dict[UUID, Over] = {}
    for message in messages:
        told = [one for value, one in gone.items() if echoes.says(message.text, value)]
        still = {slot for slot, value in holding if echoes.says(message.text, value)}
        if last := max((one for one in told if one.slot not in still), default=None):
            found[message.source_id] = last
    return found


def _piece(slot: UUID, subject_id: UUID, value: str, *row: object) -> _Piece:
    return _Piece(Slot(slot, subject_id), value, *row)  # type: ignore[arg-type]


def _holds(group: Sequence[_Piece], moment: Moment) -> bool:
    return any(
        piece.is_believed(moment) and (piece.valid_to is None or piece.valid_to > moment.valid_at) for piece in group
    )


def _ended_at(group: Sequence[_Piece], moment: Moment) -> datetime | None:
    """When a statement was over, if something came in between."""
    closed = [piece.superseded_at for piece in group if not piece.is_believed(moment) and piece.superseded_at]
    if not closed or _holds(group, moment):
        return None
    ends = [piece.valid_to for piece in group if piece.is_believed(moment) and piece.valid_to]
    return max(ends) if ends else max(closed)


def _slots(fact_ids: Sequence[UUID]) -> dict[UUID, Slot]:
    if not fact_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, slot, subject_id FROM facts WHERE id = ANY (%s)", [list(fact_ids)])
        return {id: Slot(slot, subject_id) for id, slot, subject_id in cursor.fetchall()}


def _holding(slots: Collection[Slot], moment: Moment) -> dict[UUID, UUID]:
    """Slot → the fact that holds there at the moment. By subject: there is no index over slots alone."""
    asked = Conditions().naming("subject_id", list({slot.subject_id for slot in slots}))
    asked.that("slot = ANY(%s)", [slot.id for slot in slots]).known_at(moment).valid_at(moment.valid_at)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT slot, id FROM facts WHERE {asked.text} ORDER BY valid_from", asked.parameters)  # noqa: S608
        return dict(cursor.fetchall())
