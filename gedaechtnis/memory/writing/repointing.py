"""Rows about one entity become rows about another, as they are: the work of a merge, in one scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.memory.planner import ClosedReason, moves
from gedaechtnis.memory.writing.apply import apply_plan, is_mirrored, twin_of
from gedaechtnis.memory.writing.assertions import belief
from gedaechtnis.memory.writing.entities import unborne
from gedaechtnis.memory.writing.ledger import Group
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.slots import slot_key
from gedaechtnis.world.models import Entity, EntityAlias, Fact


@dataclass(kw_only=True)
class Repointed:
    """What moving did, as ids: rows written and closed, aliases likewise, rows that became self-loops, clashes."""

    fact_ids: list[UUID] = field(default_factory=list)
    closed_fact_ids: list[UUID] = field(default_factory=list)
    alias_ids: list[UUID] = field(default_factory=list)
    closed_alias_ids: list[UUID] = field(default_factory=list)
    self_loops: list[UUID] = field(default_factory=list)
    clashes: list[moves.Clash] = field(default_factory=list)

    def as_payload(self) -> dict[str, Any]:
        ids = ("fact_ids", "closed_fact_ids", "alias_ids", "closed_alias_ids", "self_loops")
        return {
            **{name: [str(id) for id in getattr(self, name)] for name in ids},
            "clashes": [{"kept": str(clash.kept), "yielded": str(clash.yielded)} for clash in self.clashes],
        }


def naming(session: WriteSession, entity_id: UUID) -> list[Fact]:
    """The believed rows of the session's scope that name an entity, in whatever place."""
    places = Q(subject_id=entity_id) | Q(object_entity_id=entity_id) | Q(applies_to_id=entity_id)
    return list(Fact.objects.believed().filter(places, scope_ref=session.scope_ref).order_by("valid_from", "id"))


def repoint(
    *,
    session: WriteSession,
    rows: Sequence[Fact],
    source: Entity,
    target: Entity,
    tick: datetime,
    event_id: UUID,
    reason: str | None = None,
) -> Repointed:
    """Close believed rows that name `source` and assert them about `target` under the rules of precedence.

    Names do not move: the target keeps its own, and the source's become aliases (`repoint_names`).
    """
    done = Repointed()
    groups: dict[Group, list[Fact]] = defaultdict(list)
    originals: dict[UUID, Fact] = {}
    for row in _once_per_pair(session, rows, source):
        for side in (row, twin_of(session, row) if is_mirrored(session, row) else None):
            if side is not None:
                session.ledger.close(side, tick=tick, reason=ClosedReason.MERGED, closed_by=None, why=reason)
                done.closed_fact_ids.append(side.pk)
        if row.predicate == "name" and row.subject_id == source.pk:
            continue
        moved = about(session, row, source, target)
        if moved.subject_id == moved.object_entity_id:
            done.self_loops.append(row.pk)
            continue
        originals[row.pk] = row
        groups[Group(moved.subject_id, moved.predicate, moved.applies_to_id, None)].append(moved)
    for group, moving in groups.items():
        _bring(session, group, moving, originals, done, tick=tick, event_id=event_id, reason=reason)
    session.touched.update((source.pk, target.pk))
    return done


def _bring(
    session: WriteSession,
    group: Group,
    moving: Sequence[Fact],
    originals: dict[UUID, Fact],
    done: Repointed,
    *,
    tick: datetime,
    event_id: UUID,
    reason: str | None,
) -> None:
    """Move the rows of one group to where they now belong."""
    rows = standing(session, group, moving)
    moved = moves.move(
        [belief(session, row) for row in rows.values()],
        [belief(session, row) for row in moving],
        single_valued=is_functional(session, group.predicate),
        tick=tick,
    )
    sources = rows | {row.pk: row for row in moving}
    applied = apply_plan(session=session, plan=moved.plan, rows=sources, new=None, event_id=event_id, reason=reason)
    for insert in moved.plan.inserts:
        if insert.copy_of in originals and originals[insert.copy_of].closed_by_fact_id is None:
            originals[insert.copy_of].closed_by_fact_id = insert.id
    done.fact_ids += [row.pk for row in applied.inserted]
    done.closed_fact_ids += [row.pk for row in applied.closed]
    done.clashes += moved.clashes


def standing(session: WriteSession, group: Group, coming: Iterable[Fact]) -> dict[UUID, Fact]:
    """The believed rows that rows coming into a group meet there; pairs once, also at their other ends."""
    rows = session.ledger.group(group)
    for row in coming:
        if is_mirrored(session, row) and row.object_entity_id is not None:
            there = session.ledger.group(group._replace(subject_id=row.object_entity_id))
            rows |= {id: other for id, other in there.items() if other.object_entity_id != group.subject_id}
    return rows


def is_functional(session: WriteSession, predicate: str) -> bool:
    found = session.catalogue.predicates.get(predicate)
    return found is not None and found.is_functional


def _once_per_pair(session: WriteSession, rows: Sequence[Fact], source: Entity) -> list[Fact]:
    """Of the two rows of a symmetric pair the one that the source is the subject of."""

    def counts(row: Fact) -> bool:
        if not is_mirrored(session, row) or row.subject_id == source.pk:
            return True
        return row.object_entity_id != source.pk and row.mirror_of is None

    return [row for row in rows if counts(row)]


def about(session: WriteSession, row: Fact, source: Entity, target: Entity) -> Fact:
    """The row as it reads about the target: not stored, a pattern for copies."""
    values = {column.attname: getattr(row, column.attname) for column in Fact._meta.concrete_fields}
    for name in ("subject_id", "object_entity_id", "applies_to_id"):
        if values[name] == source.pk:
            values[name] = target.pk
    if values["object_entity_id"] is not None:
        values["object_key"] = canonical.object_key(entity_id=values["object_entity_id"])
    values["slot"] = slot_key(
        subject_id=values["subject_id"],
        predicate=row.predicate,
        functional=is_functional(session, row.predicate),
        applies_to_id=values["applies_to_id"],
        object_key=values["object_key"],
        polarity=row.polarity,
    )
    values["classification"] = max(row.classification, target.classification)
    values |= {"superseded_at": None, "closed_reason": None, "closed_by_fact_id": None, "reason": None}
    return Fact(**values)


def repoint_names(*, session: WriteSession, source: Entity, target: Entity, tick: datetime, done: Repointed) -> None:
    """The source's aliases in this scope, and its own name where it is at home, become aliases of the target."""
    aliases = list(
        EntityAlias.objects.filter(scope_ref=session.scope_ref, entity_id=source.pk, superseded_at=None).order_by("id")
    )
    if aliases:
        EntityAlias.objects.filter(pk__in=[alias.pk for alias in aliases]).update(superseded_at=tick)
        done.closed_alias_ids += [alias.pk for alias in aliases]
    if source.scope_ref == session.scope_ref:
        aliases.append(_own_name(session, source))
    borne = list(EntityAlias.objects.filter(scope_ref=session.scope_ref, entity_id=target.pk, superseded_at=None))
    for alias in aliases:
        if alias.namespace == "name" and alias.key == target.name_key:
            continue
        same = [other for other in borne if (other.namespace, other.key) == (alias.namespace, alias.key)]
        made = copied_alias(alias, beside=same, entity=target, tick=tick)
        session.directory.named += made
        borne += made
        done.alias_ids += [copy.pk for copy in made]
    session.directory.forget()


def _own_name(session: WriteSession, entity: Entity) -> EntityAlias:
    return EntityAlias(
        **session.ownership,
        classification=entity.classification,
        entity=entity,
        alias=entity.canonical_name,
        key=entity.name_key,
        namespace="name",
        valid_from=UNKNOWN_START,
        source="system_rule",
        rank=session.principal.rank,
        acted_by=session.principal.acted_by,
    )


def copied_alias(
    alias: EntityAlias, *, beside: Iterable[EntityAlias] = (), entity: Entity, tick: datetime
) -> list[EntityAlias]:
    """The same name for an entity, believed from `tick`, where others do not say it already; not stored."""
    values = {column.attname: getattr(alias, column.attname) for column in EntityAlias._meta.concrete_fields}
    del values["entity_id"]
    values |= {"entity": entity, "recorded_at": tick, "superseded_at": None}
    return [
        EntityAlias(**values | {"id": uuid7(), "valid_from": start, "valid_to": end})
        for start, end in unborne(alias.valid_from, alias.valid_to, beside)
    ]
