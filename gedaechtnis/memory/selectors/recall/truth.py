"""What was found, as the graph has it at the moment asked about: a projection finds, it never decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors import views
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import endings
from gedaechtnis.memory.selectors.recall.endings import Ending
from gedaechtnis.memory.selectors.recall.records import Record
from gedaechtnis.scoping.rows import select
from gedaechtnis.world.models import Entity, EntityAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Facts and entities that may be told at the moment, by id, and what has ended: facts by id, messages by theirs.

    `cards` are entities in words, with the names they had at the moment.
    """

    facts: Mapping[UUID, FactView]
    entities: Mapping[UUID, Entity]
    cards: Mapping[UUID, str]
    endings: Mapping[UUID, Ending]

    def has(self, record: Record) -> bool:
        """Whether what a record copies is still there to be told."""
        match record.source_kind:
            case "fact":
                return record.source_id in self.facts
            case "entity" | "entity_live":
                return record.source_id in self.entities
            case _:
                return True


def read(records: Sequence[Record], moment: Moment) -> Truth:
    """Everything about the records in a few statements, however many they are."""
    by_kind: dict[str, list[UUID]] = defaultdict(list)
    for record in records:
        by_kind[record.source_kind].append(record.source_id)
    facts = _facts(by_kind["fact"], moment)
    entity_ids = [*by_kind["entity"], *by_kind["entity_live"]]
    listed = select(Entity, "id = ANY(%s) AND status = 'active'", [entity_ids]) if entity_ids else []
    entities = {entity.pk: entity for entity in listed}
    return Truth(
        facts=facts,
        entities=entities,
        cards=_cards(entities, moment),
        endings=endings.read(facts, [record for record in records if record.is_episode], moment),
    )


def _facts(ids: Sequence[UUID], moment: Moment) -> dict[UUID, FactView]:
    if not ids:
        return {}
    rows = Conditions().that("id = ANY(%s)", list(ids)).known_at(moment).facts()
    return {fact.id: fact for fact in views.fact_views(rows, moment)}


_CALLED = """
entity_id = ANY(%s) AND (superseded_at IS NULL OR superseded_at > %s) AND (valid_to IS NULL OR valid_to > %s)
AND (valid_from IS NULL OR valid_from <= %s) ORDER BY recorded_at, id
"""


def _cards(entities: Mapping[UUID, Entity], moment: Moment) -> dict[UUID, str]:
    """Entities in words, as they were called at the moment: what they are found by may be of another time."""
    if not entities:
        return {}
    names = views.names_at(entities, moment)
    earliest = min(moment.ticks.values(), default=moment.valid_at)
    aliases: dict[UUID, list[str]] = defaultdict(list)
    for row in select(EntityAlias, _CALLED, [list(entities), earliest, moment.valid_at, moment.valid_at]):
        tick = moment.ticks.get(row.scope_ref)
        if tick and row.recorded_at <= tick and (row.superseded_at is None or row.superseded_at > tick):
            aliases[row.entity_id].append(row.alias)
    return {
        id: views.card(entity, name=names.get(id, entity.canonical_name), aliases=dict.fromkeys(aliases[id]))
        for id, entity in entities.items()
    }
