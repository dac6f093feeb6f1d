"""The believed facts about linked entities at a moment, with all that is needed to tell them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.common.instants import shown
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.schemas import MemoryType
from gedaechtnis.memory.selectors import identity, views
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.context.linker import LinkedEntity
from gedaechtnis.memory.selectors.context.related import Related
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.registry.catalogue import catalogue

MOST_SAID = 200
"""Facts about all linked entities together; who knows more of them asks with the tools."""
MOST_POINTING = 40
"""Relationships that point to a linked entity: of a town everybody lives in they are many."""
_MOST_PREFERENCES = 40
_PREFERENCES = [MemoryType.PREFERENCE, MemoryType.DERIVED_PREFERENCE]

# Labels and evidence come along, so that it stays one question. Rows of scopes that the policies hide do not.
COLUMNS = """
  f.id, f.subject_id, s.kind || ':' || s.slug, s.canonical_name, f.predicate, f.polarity, f.object_value,
  f.object_entity_id, o.kind || ':' || o.slug, o.canonical_name, c.kind || ':' || c.slug,
  f.valid_from, f.valid_from_precision, f.valid_from_stated, f.valid_to, f.valid_to_precision, f.recorded_at,
  f.confidence, f.source, f.acted_by, f.source_trust_tier, f.memory_type, f.rank, f.scope_ref, f.domain, f.topic,
  ev.seen, ev.weights
"""
LABELLED = """
FROM f JOIN entities s ON s.id = f.subject_id
LEFT JOIN entities o ON o.id = f.object_entity_id
LEFT JOIN entities c ON c.id = f.applies_to_id
LEFT JOIN LATERAL (
  SELECT array_agg(e.recorded_at ORDER BY e.recorded_at, e.id) AS seen,
    array_agg(e.weight ORDER BY e.recorded_at, e.id) AS weights
  FROM fact_evidence e WHERE e.fact_id = f.origin_fact_id
) AS ev ON true
WHERE (f.object_entity_id IS NULL OR o.id IS NOT NULL) AND (f.applies_to_id IS NULL OR c.id IS NOT NULL)
"""
NOW = "now AS (SELECT greatest(%(at)s::timestamptz, max(tick)) AS at FROM scopes WHERE scope_ref = ANY(%(scopes)s))"
"""Or the last tick, if that is later."""
HOLDS = (
    "superseded_at IS NULL AND valid_from <= (SELECT at FROM now) "
    "AND (valid_to IS NULL OR valid_to > (SELECT at FROM now))"
)
_FACTS = f"""
WITH {NOW}, f AS (
  (SELECT * FROM facts WHERE scope_ref = ANY(%(scopes)s) AND subject_id = ANY(%(ids)s) AND {HOLDS}
     AND (object_entity_id IS NULL OR predicate = ANY(%(outgoing)s)) LIMIT %(most_said)s)
  UNION ALL
  (SELECT * FROM facts WHERE object_entity_id = ANY(%(ids)s) AND predicate = ANY(%(incoming)s) AND {HOLDS}
     AND subject_id <> ALL(%(ids)s) LIMIT %(most_pointing)s)
  UNION ALL
  (SELECT * FROM facts WHERE scope_ref = ANY(%(scopes)s) AND subject_id = ANY(%(me)s) AND {HOLDS}
     AND memory_type = ANY(%(preferences)s) AND object_entity_id IS NULL LIMIT %(most_preferences)s)
  {{related}}
)
SELECT {COLUMNS} {LABELLED}
"""  # noqa: S608 (all parts are ours)
_RELATED = f"""
  UNION ALL
  (SELECT * FROM facts WHERE scope_ref = ANY(%(scopes)s) AND subject_id IN (
       SELECT object_entity_id FROM facts WHERE scope_ref = ANY(%(scopes)s) AND subject_id = ANY(%(owners)s)
         AND predicate = ANY(%(leading_out)s) AND object_entity_id IS NOT NULL AND polarity AND {HOLDS}
       UNION SELECT subject_id FROM facts WHERE object_entity_id = ANY(%(owners)s)
         AND predicate = ANY(%(leading_in)s) AND polarity AND {HOLDS})
     AND subject_id <> ALL(%(ids)s) AND {HOLDS}
     AND (object_entity_id IS NULL OR predicate = ANY(%(outgoing)s)) LIMIT %(most_said)s)
"""  # noqa: S608 (all parts are ours)
"""Only for a message that names a relation: what is said of its other end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFact:
    """One belief with its labels, as far as a line about it tells."""

    id: UUID
    subject_id: UUID
    subject_ref: str
    subject_label: str
    predicate: str
    polarity: bool
    value: Any
    object_id: UUID | None
    object_ref: str | None
    object_label: str
    applies_to_ref: str | None
    valid_from: datetime | None
    valid_from_precision: str
    valid_from_stated: bool
    valid_to: datetime | None
    valid_to_precision: str
    recorded_at: datetime
    learned_at: datetime
    touched_at: datetime
    confidence: float
    source: str
    source_trust_tier: str
    acted_by: str
    memory_type: str
    rank: int
    scope_ref: str
    domain: str
    topic: str
    status: str = "active"
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Facts in no order. `related`: at the other end of the relations that were asked for. `has_more`: there are other
    facts, beyond what one context reads.
    """

    facts: tuple[ContextFact, ...]
    related: tuple[LinkedEntity, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class _Wanted:
    ids: list[UUID]
    me: list[UUID]
    outgoing: list[str]
    incoming: list[str]


def believed_now(
    entities: Sequence[LinkedEntity],
    me: LinkedEntity | None,
    *,
    related: Sequence[Related],
    scopes: Sequence[str],
    at: datetime,
) -> Found:
    """What is believed now and holds at `at`, or at the last tick if that is later. One question, in an open scope."""
    wanted = _wanted(entities, me)
    parameters: dict[str, Any] = {
        "scopes": list(scopes),
        "at": at,
        "ids": wanted.ids,
        "me": wanted.me,
        "outgoing": wanted.outgoing,
        "incoming": wanted.incoming,
        "preferences": _PREFERENCES,
        "most_said": MOST_SAID + 1,
        "most_pointing": MOST_POINTING + 1,
        "most_preferences": _MOST_PREFERENCES,
        "owners": sorted({id for one in related for id in one.owners}),
        "leading_out": sorted({key for one in related for key in one.outgoing}),
        "leading_in": sorted({key for one in related for key in one.incoming}),
    }
    with connection.cursor() as cursor:
        cursor.execute(_FACTS.format(related=_RELATED if related else ""), parameters)
        facts = [fact_of(row) for row in cursor.fetchall()]
    return _found(facts, wanted, _ends(facts, related, me))


def believed_at(
    entities: Sequence[LinkedEntity], me: LinkedEntity | None, moment: Moment, *, related: Sequence[Related]
) -> Found:
    """The same at a moment of the past, with the labels of then; some more questions."""
    wanted = _wanted(
        [replace(entity, ids=tuple(identity.ids_of(entity.id, moment))) for entity in entities],
        replace(me, ids=tuple(identity.ids_of(me.id, moment))) if me else None,
    )
    asked = Conditions().naming("subject_id", wanted.ids).known_at(moment).valid_at(moment.valid_at)
    asked.that("object_entity_id IS NULL OR predicate = ANY(%s)", wanted.outgoing)
    rows = asked.facts(MOST_SAID + 1)
    asked = Conditions().naming("object_entity_id", wanted.ids).known_at(moment).valid_at(moment.valid_at)
    asked.that("predicate = ANY(%s) AND subject_id <> ALL(%s)", wanted.incoming, wanted.ids)
    rows += asked.facts(MOST_POINTING + 1)
    asked = Conditions().naming("subject_id", wanted.me).known_at(moment).valid_at(moment.valid_at)
    asked.that("object_entity_id IS NULL AND memory_type = ANY(%s)", _PREFERENCES)
    rows += asked.facts(_MOST_PREFERENCES)
    facts = [_of(view) for view in views.fact_views(rows, moment)]
    ends = _ends(facts, related, me)
    if ends:
        asked = Conditions().naming("subject_id", [id for end in ends for id in end.ids]).known_at(moment)
        asked.valid_at(moment.valid_at).that("subject_id <> ALL(%s)", wanted.ids)
        asked.that("object_entity_id IS NULL OR predicate = ANY(%s)", wanted.outgoing)
        facts += [_of(view) for view in views.fact_views(asked.facts(MOST_SAID + 1), moment)]
    return _found(facts, wanted, ends)


def _wanted(entities: Sequence[LinkedEntity], me: LinkedEntity | None) -> _Wanted:
    """Around whom to look, and along which relations; of a person who is linked all is asked for anyway."""
    ids = [id for entity in entities for id in entity.ids]
    relations = [term for term in catalogue().predicates.values() if term.inference_enabled]
    return _Wanted(
        ids,
        [id for id in me.ids if id not in ids] if me else [],
        sorted(term.key for term in relations),
        sorted(term.key for term in relations if not term.symmetric),  # those are told from either end anyway
    )


def _ends(
    facts: Sequence[ContextFact], related: Sequence[Related], me: LinkedEntity | None
) -> tuple[LinkedEntity, ...]:
    """Whom the facts put in one of the roles."""
    ends: dict[UUID, LinkedEntity] = {}
    for one in related:
        for fact in facts:
            if fact.predicate in one.outgoing and fact.subject_id in one.owners:
                id, ref, name = fact.object_id, fact.object_ref, fact.object_label
            elif fact.predicate in one.incoming and fact.object_id in one.owners:
                id, ref, name = fact.subject_id, fact.subject_ref, fact.subject_label
            else:
                continue
            if id is None or ref is None or not fact.polarity:
                continue
            kind = ref.rpartition(":")[0]
            if me is not None and id in me.ids:
                ends[me.id] = me
            elif one.role.kind in ("", kind):
                ends[id] = LinkedEntity(
                    id=id, kind=kind, ref=ref, name=name, scope_ref=fact.scope_ref, is_self=False, said=name, ids=(id,)
                )
    return tuple(sorted(ends.values(), key=lambda entity: entity.ref))


def _found(facts: Sequence[ContextFact], wanted: _Wanted, related: tuple[LinkedEntity, ...]) -> Found:
    """What is asked for, each once: of a relation only those are told of whom it means, whatever else it leads to."""
    about, me = set(wanted.ids), set(wanted.me)
    meant = {id for entity in related for id in entity.ids}
    told = [
        fact
        for fact in {fact.id: fact for fact in facts}.values()
        if fact.subject_id in about | meant
        or fact.object_id in about
        or (fact.subject_id in me and fact.memory_type in _PREFERENCES)
    ]
    said = sum(fact.subject_id in about for fact in told)
    pointing = sum(fact.object_id in about and fact.subject_id not in about for fact in told)
    of_meant = sum(fact.subject_id in meant - about for fact in told)
    trusted = [fact for fact in told if not _carries_on_untrusted(fact)]
    return Found(tuple(trusted), related, said > MOST_SAID or pointing > MOST_POINTING or of_meant > MOST_SAID)


def _carries_on_untrusted(fact: ContextFact) -> bool:
    """What would carry on along a chain, on the word of somebody whom nobody trusts."""
    term = catalogue().predicates.get(fact.predicate)
    return fact.source_trust_tier == "untrusted" and fact.object_id is not None and term is not None and term.transitive


def fact_of(row: Sequence[Any]) -> ContextFact:
    """A row of `COLUMNS`."""
    (id, subject_id, subject_ref, subject_label, predicate, polarity, value, object_id, object_ref, object_label,
     applies_to_ref, valid_from, valid_from_precision, valid_from_stated, valid_to,
     valid_to_precision, recorded_at, confidence, source, acted_by, tier, memory_type, rank, scope_ref, domain,
     topic, seen, weights) = row  # fmt: skip
    return ContextFact(
        id=id,
        subject_id=subject_id,
        subject_ref=subject_ref,
        subject_label=subject_label,
        predicate=predicate,
        polarity=polarity,
        value=json.loads(value) if value is not None else None,
        object_id=object_id,
        object_ref=object_ref,
        object_label=object_label or "",
        applies_to_ref=applies_to_ref,
        valid_from=shown(valid_from),
        valid_from_precision=valid_from_precision,
        valid_from_stated=valid_from_stated,
        valid_to=valid_to,
        valid_to_precision=valid_to_precision,
        recorded_at=recorded_at,
        learned_at=seen[0] if seen else recorded_at,
        touched_at=seen[-1] if seen else recorded_at,
        confidence=views.folded(confidence, weights or ()),
        source=source,
        source_trust_tier=tier,
        acted_by=acted_by,
        memory_type=memory_type,
        rank=rank,
        scope_ref=scope_ref,
        domain=domain,
        topic=topic,
    )


def _of(view: FactView) -> ContextFact:
    return ContextFact(
        id=view.id,
        subject_id=view.subject_id,
        subject_ref=view.subject_ref,
        subject_label=view.subject_label,
        predicate=view.predicate,
        polarity=view.polarity,
        value=view.object.value,
        object_id=view.object.entity_id,
        object_ref=view.object.ref,
        object_label=view.object.label if view.object.kind == "entity" else "",
        applies_to_ref=view.applies_to_ref,
        valid_from=view.valid_from,
        valid_from_precision=view.valid_from_precision,
        valid_from_stated=view.valid_from_stated,
        valid_to=view.valid_to,
        valid_to_precision=view.valid_to_precision,
        recorded_at=view.recorded_at,
        learned_at=view.learned_at,
        touched_at=view.last_touched_at,
        confidence=view.confidence,
        source=view.source,
        source_trust_tier=view.source_trust_tier,
        acted_by=view.acted_by,
        memory_type=view.memory_type,
        rank=view.rank,
        scope_ref=view.scope_ref,
        domain=view.domain,
        topic=view.topic,
        status=view.status,
        superseded_at=view.superseded_at,
    )
