"""From rows to views: labels, derived status, and nothing that was written after the moment asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection

from gedaechtnis.common.instants import shown
from gedaechtnis.memory.answers import EntityView, EvidenceView, FactView, ObjectView
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.wording import readable
from gedaechtnis.registry.catalogue import Catalogue, catalogue
from gedaechtnis.scoping.rows import select
from gedaechtnis.world.models import Entity, Fact, FactEvidence

_RESTATEMENT_WEIGHT = 0.3
_WRONG = frozenset({"retracted", "corrected"})


@dataclass(frozen=True, slots=True)
class _Reader:
    moment: Moment
    terms: Catalogue
    entities: dict[UUID, Entity]
    names: dict[UUID, str]
    evidence: dict[UUID, list[FactEvidence]]
    last_begins: dict[tuple[UUID, str], datetime]
    labels: dict[str, tuple[str, str]] = field(default_factory=dict)

    def view(self, row: Fact) -> FactView:
        closed = row.superseded_at is not None and row.superseded_at <= self.moment.ticks[row.scope_ref]
        evidence = self.evidence.get(row.origin_fact_id, [])
        applies_to = self.entities.get(row.applies_to_id) if row.applies_to_id else None
        label, inverse_label = self._labels(row.predicate)
        return FactView(
            id=row.pk,
            subject_id=row.subject_id,
            subject_ref=self.entities[row.subject_id].ref,
            subject_scope=self.entities[row.subject_id].scope_ref,
            subject_label=self._label(row.subject_id),
            predicate=row.predicate,
            predicate_label=label,
            inverse_label=inverse_label,
            polarity=row.polarity,
            object=self._object(row),
            statement=row.statement,
            status=self._status(row, closed),
            valid_from=shown(row.valid_from),
            valid_to=row.valid_to,
            valid_from_precision=row.valid_from_precision,
            valid_to_precision=row.valid_to_precision,
            valid_from_stated=row.valid_from_stated,
            valid_to_stated=row.valid_to_stated,
            recorded_at=row.recorded_at,
            superseded_at=row.superseded_at if closed else None,
            observed_at=row.observed_at,
            learned_at=evidence[0].recorded_at if evidence else row.recorded_at,
            last_touched_at=evidence[-1].recorded_at if evidence else row.recorded_at,
            confidence=folded(row.confidence, [piece.weight for piece in evidence]),
            source=row.source,
            source_trust_tier=row.source_trust_tier,
            memory_type=row.memory_type,
            rank=row.rank,
            acted_by=row.acted_by,
            scope_ref=row.scope_ref,
            applies_to_ref=applies_to.ref if applies_to else None,
            domain=row.domain,
            topic=row.topic,
            supersedes_fact_id=row.supersedes_fact_id,
            closed_by_fact_id=row.closed_by_fact_id if closed else None,
            closed_reason=row.closed_reason if closed else None,
            origin_fact_id=row.origin_fact_id,
            run_id=row.run_id,
            reason=row.reason if closed else None,
            evidence=tuple(
                EvidenceView(
                    kind=piece.kind,
                    text=piece.text,
                    ref=piece.ref,
                    source=piece.source,
                    rank=piece.rank,
                    recorded_at=piece.recorded_at,
                )
                for piece in evidence
            ),
            mentions=max(1, sum(piece.weight > 0 for piece in evidence)),
        )

    def _labels(self, predicate: str) -> tuple[str, str]:
        """How a relation reads from either end. Asked for each row, and each time for the reader's language."""
        if predicate not in self.labels:
            self.labels[predicate] = self.terms.predicate_label(predicate), self.terms.inverse_label(predicate)
        return self.labels[predicate]

    def _object(self, row: Fact) -> ObjectView:
        if row.object_entity_id is None:
            return ObjectView(kind="literal", value=row.object_value, label=readable(row.object_value))
        entity = self.entities.get(row.object_entity_id)
        if entity is None:
            return ObjectView(kind="entity", entity_id=row.object_entity_id, label="…")
        return ObjectView(
            kind="entity",
            ref=entity.ref,
            entity_id=entity.pk,
            entity_scope=entity.scope_ref,
            label=self._label(entity.pk),
        )

    def _label(self, entity_id: UUID) -> str:
        return self.names.get(entity_id, self.entities[entity_id].ref)

    def _status(self, row: Fact, closed: bool) -> str:
        """Derived, never stored: no job has to run for it to be right."""
        if closed:
            return "invalidated" if row.closed_reason in _WRONG else "superseded"
        if row.valid_to is None or row.valid_to > self.moment.valid_at:
            return "active"
        last_begin = self.last_begins.get((row.slot, row.scope_ref))
        return "superseded" if last_begin and last_begin >= row.valid_to else "expired"


def folded(confidence: float, weights: Sequence[float]) -> float:
    """How sure a statement is: as sure as it was first stated, and each later one closes three tenths of the doubt that
    remained, by its weight (a person 1.0, an agent 0.7, an import 0.6, a tool 0.5; `writing/provenance.py`).

    `c ← c + (1 - c) · 0.3 · weight` never falls and never exceeds 1. With the evidence known at a moment it is what was
    believed then.
    """
    for weight in weights[1:]:
        confidence += (1 - confidence) * _RESTATEMENT_WEIGHT * weight
    return round(min(confidence, 1.0), 6)


def fact_views(rows: Iterable[Fact], moment: Moment) -> tuple[FactView, ...]:
    """Views of rows that all are known at the moment, of subjects that may be read; four further queries at most.

    Entities are read by a query of their own: each table joined under policies costs more to plan than to read.
    """
    known = [row for row in rows if row.scope_ref in moment.ticks]
    mentioned = {id for row in known for id in (row.subject_id, row.object_entity_id, row.applies_to_id) if id}
    entities = {entity.pk: entity for entity in select(Entity, "id = ANY(%s)", [list(mentioned)])} if mentioned else {}
    listed = [row for row in known if row.subject_id in entities]
    evidence: dict[UUID, list[FactEvidence]] = {}
    origins = list({row.origin_fact_id for row in listed})
    for piece in select(FactEvidence, "fact_id = ANY(%s) ORDER BY recorded_at, id", [origins]) if origins else ():
        if piece.recorded_at <= moment.ticks.get(piece.scope_ref, piece.recorded_at):
            evidence.setdefault(piece.fact_id, []).append(piece)
    named = {row.subject_id for row in listed} | {row.object_entity_id for row in listed if row.object_entity_id}
    reader = _Reader(
        moment,
        catalogue(),
        entities,
        names_at({id: entities[id] for id in named if id in entities}, moment),
        evidence,
        _last_begins(listed, moment),
    )
    return tuple(reader.view(row) for row in listed)


def _last_begins(rows: Sequence[Fact], moment: Moment) -> dict[tuple[UUID, str], datetime]:
    """Where the last belief of a slot begins; asked only for the slots of beliefs that are over."""
    over = [row for row in rows if row.valid_to is not None and row.valid_to <= moment.valid_at]
    if not over:
        return {}
    asked = Conditions().naming("subject_id", list({row.subject_id for row in over})).known_at(moment)
    asked.that("slot = ANY(%s)", list({row.slot for row in over}))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT slot, scope_ref, max(valid_from) FROM facts WHERE {asked.text} GROUP BY slot, scope_ref",  # noqa: S608
            asked.parameters,
        )
        return {(slot, scope_ref): last for slot, scope_ref, last in cursor.fetchall()}


def names_at(entities: Mapping[UUID, Entity], moment: Moment) -> dict[UUID, str]:
    """What entities were called at a moment, as known then; where no name held, the last before it or the first after.

    The name cached with the entity is today's, and would make an old answer change. A name that another scope gives
    an entity is not its name.
    """
    named = Conditions().naming("subject_id", list(entities)).known_at(moment)
    named.that("predicate = 'name' AND polarity AND applies_to_id IS NULL")
    names: dict[UUID, str] = {}
    with connection.cursor() as cursor:
        cursor.execute(_NAMES.format(named.text), named.parameters)
        for id, scope_ref, name, valid_from in cursor.fetchall():
            if scope_ref == entities[id].scope_ref and (valid_from <= moment.valid_at or id not in names):
                names[id] = name
    nameless = {id: entity for id, entity in entities.items() if id not in names}
    return names | (_last_names(nameless, moment) if nameless else {})


_NAMES = "SELECT subject_id, scope_ref, object_value #>> '{{}}', valid_from FROM facts WHERE {} ORDER BY valid_from"


def _last_names(entities: Mapping[UUID, Entity], moment: Moment) -> dict[UUID, str]:
    """What entities without a name at a moment were called when they last had one, before a merge."""
    named = Fact.objects.filter(subject_id__in=list(entities), predicate="name", polarity=True, applies_to=None)
    return {
        id: str(name)
        for id, scope_ref, name, recorded_at in named.order_by("recorded_at", "valid_from").values_list(
            "subject_id", "scope_ref", "object_value", "recorded_at"
        )
        if scope_ref == entities[id].scope_ref and scope_ref in moment.ticks and recorded_at <= moment.ticks[scope_ref]
    }


def card(entity: Entity, *, name: str, aliases: Iterable[str]) -> str:
    """What an entity is found by, in lines: its names, its kind in both languages, its description."""
    kind = catalogue().kinds.get(entity.kind)
    labels = dict.fromkeys(label for label in (kind.label_de, kind.label_en) if label) if kind else ()
    lines = [name, *(alias for alias in aliases if alias != name), " / ".join(labels), entity.description]
    return "\n".join(line for line in lines if line)


def entity_view(
    entity: Entity, *, aliases: Sequence[str] = (), fact_count: int = 0, last: datetime | None = None
) -> EntityView:
    """A view of an entity as it is cached today."""
    terms = catalogue()
    return EntityView(
        id=entity.pk,
        ref=entity.ref,
        kind=entity.kind,
        kind_label=terms.kind_label(entity.kind),
        icon=terms.icon(entity.kind),
        name=entity.canonical_name,
        aliases=tuple(aliases),
        description=entity.description,
        status=entity.status,
        scope_ref=entity.scope_ref,
        is_self=entity.is_self,
        created_at=entity.recorded_at,
        fact_count=fact_count,
        last_learned_at=last,
    )
