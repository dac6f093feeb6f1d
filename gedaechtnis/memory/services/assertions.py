"""From a statement to rows: read the slot, let the planner decide, apply its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import UNKNOWN, Bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import name_key
from gedaechtnis.memory import planner, references, values
from gedaechtnis.memory.schemas import Evidence, MemoryType, Source
from gedaechtnis.memory.services import classification
from gedaechtnis.memory.services.entities import create_entity, read_name
from gedaechtnis.memory.services.provenance import Provenance
from gedaechtnis.memory.services.session import WriteSession
from gedaechtnis.memory.services.statements import Statement, sentence_of
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.world.models import Entity, Fact, FactEvidence

# What a remainder or a confirmed row copies from the row it descends from; everything else the plan sets.
_DESCRIPTION = (
    "classification",
    "subject_id",
    "predicate",
    "object_value",
    "object_entity_id",
    "object_key",
    "slot",
    "applies_to_id",
    "observed_at",
    "mirror_of",
    "statement",
    "confidence",
    "source",
    "source_trust_tier",
    "memory_type",
    "acted_by",
    "domain",
    "topic",
    "run_id",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What describes a new statement beside its content."""

    confidence: float = 1.0
    domain: str = ""
    topic: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a statement was made, as far as the planner cares."""

    still: bool = False
    correction: bool = False
    replaces_origin_id: UUID | None = None
    based_on_fact_id: UUID | None = None
    decided: bool = False


def believed_rows(scope_ref: str, statement: Statement, said: Said) -> dict[UUID, Fact]:
    """The believed rows a statement can touch, by id: its slot's group, and the beliefs it names."""
    rows = Fact.objects.believed().filter(
        scope_ref=scope_ref,
        subject_id=statement.subject.pk,
        predicate=statement.predicate.key,
        applies_to_id=statement.applies_to_id,
    )
    if not statement.predicate.is_functional:
        rows = rows.filter(
            Q(object_key=statement.object_key) | Q(origin_fact_id=said.replaces_origin_id) | Q(pk=said.based_on_fact_id)
        )
    return {row.pk: row for row in rows}


def plan_assertion(
    *,
    statement: Statement,
    said: Said,
    provenance: Provenance,
    rows: dict[UUID, Fact],
    tick: datetime,
    session: WriteSession,
) -> planner.Plan:
    """What asserting would do now. Raises the planner's problems; writes nothing."""
    predicate = statement.predicate
    others = [row for row in rows.values() if predicate.immutable and row.object_key != statement.object_key]
    operation = planner.Assert(
        object_key=statement.object_key,
        polarity=statement.polarity,
        functional=predicate.is_functional,
        immutable=predicate.immutable,
        valid_from=statement.valid_from,
        valid_to=statement.valid_to,
        still=said.still,
        correction=said.correction,
        replaces_origin_id=said.replaces_origin_id,
        based_on_fact_id=said.based_on_fact_id,
        decided=said.decided,
        rank=provenance.rank,
        authority_source=predicate.authority == Predicate.Authority.SOURCE,
        default_from=Bound(provenance.said_at or tick),
        start_defaults_unknown=predicate.starts_unknown,
        refines=frozenset(row.object_key for row in others if values.refines(statement.value, row.object_value)),
        refined_by=frozenset(row.object_key for row in others if values.refines(row.object_value, statement.value)),
        zone=session.zone,
    )
    return ask_planner(rows, operation, tick)


def ask_planner(rows: dict[UUID, Fact], operation: planner.Operation, tick: datetime) -> planner.Plan:
    """The plan for an operation; the planner's refusals come in the reader's language."""
    try:
        return planner.plan([belief(row) for row in rows.values()], operation, tick, uuid7)
    except Problem as problem:
        raise Problem(problem.code, _(problem.detail), problem.status, problem.field, problem.extra) from problem


def belief(row: Fact) -> planner.Belief:
    """A stored row as the planner sees it."""
    return planner.Belief(
        id=row.pk,
        object_key=row.object_key,
        polarity=row.polarity,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        valid_from_precision=planner.Precision(row.valid_from_precision),
        valid_to_precision=planner.Precision(row.valid_to_precision),
        valid_from_stated=row.valid_from_stated,
        valid_to_stated=row.valid_to_stated,
        rank=row.rank,
        origin_id=row.origin_fact_id,
        made_at=row.made_at,
    )


def apply_assertion(
    *,
    session: WriteSession,
    plan: planner.Plan,
    rows: dict[UUID, Fact],
    statement: Statement,
    provenance: Provenance,
    extras: Extras,
    evidence: Evidence | None,
    event_id: UUID,
) -> None:
    """Write a committed or restated plan, with its evidence."""
    register_predicate(statement.predicate)
    new = {
        "classification": session.level,
        "subject_id": statement.subject.pk,
        "predicate": statement.predicate.key,
        "object_value": statement.value,
        "object_entity_id": statement.object.pk if statement.object else None,
        "object_key": statement.object_key,
        "slot": statement.slot,
        "applies_to_id": statement.applies_to_id,
        "observed_at": statement.observed_at,
        "mirror_of": None,
        "statement": statement.sentence,
        "confidence": extras.confidence,
        "source": provenance.source,
        "source_trust_tier": provenance.trust_tier,
        "memory_type": provenance.memory_type,
        "acted_by": session.principal.acted_by,
        "domain": extras.domain,
        "topic": extras.topic,
        "run_id": session.run_id or None,
    }
    apply_plan(session=session, plan=plan, rows=rows, new=new, event_id=event_id, reason=None)
    new_origins = [insert.origin_id for insert in plan.inserts if insert.copy_of is None]
    for origin_id in dict.fromkeys([*_without(evidence, plan.evidence_for), *new_origins]):
        session.add_evidence(
            fact_id=origin_id,
            recorded_at=plan.tick,
            kind=evidence.kind if evidence else "statement",
            text=evidence.text if evidence else "",
            ref=evidence.ref if evidence else None,
            source=provenance.source,
            rank=provenance.rank,
        )
    session.touched.add(statement.subject.pk)
    if statement.object is not None:
        session.touched.add(statement.object.pk)


def _without(evidence: Evidence | None, origins: Sequence[UUID]) -> list[UUID]:
    """The origins that do not rest on this evidence already: one message read twice is no second confirmation."""
    if evidence is None or evidence.ref is None or not origins:
        return list(origins)
    same = FactEvidence.objects.filter(fact_id__in=origins, kind=evidence.kind, ref=evidence.ref, text=evidence.text)
    known = set(same.values_list("fact_id", flat=True))
    return [origin for origin in origins if origin not in known]


def apply_plan(
    *,
    session: WriteSession,
    plan: planner.Plan,
    rows: dict[UUID, Fact],
    new: dict[str, Any] | None,
    event_id: UUID,
    reason: str | None,
) -> None:
    """Close, then insert, both at the plan's tick."""
    for close in plan.closes:
        closed = Fact.objects.filter(pk=close.id, superseded_at=None).update(
            superseded_at=plan.tick, closed_reason=close.reason, closed_by_fact_id=close.closed_by, reason=reason
        )
        if not closed:
            raise RuntimeError(f"row {close.id} is not believed: it was read without the scope's lock")
    Fact.objects.bulk_create([_row(insert, rows, new, session, plan.tick, event_id) for insert in plan.inserts])


def _row(
    insert: planner.Insert,
    rows: dict[UUID, Fact],
    new: dict[str, Any] | None,
    session: WriteSession,
    tick: datetime,
    event_id: UUID,
) -> Fact:
    if insert.copy_of is None:
        if new is None:
            raise RuntimeError("the plan of an ending never holds a new statement")
        described, supersedes = new, insert.supersedes
    else:
        source = rows[insert.copy_of]
        described = {name: getattr(source, name) for name in _DESCRIPTION}
        supersedes = source.supersedes_fact_id
    return Fact(
        id=insert.id,
        **session.ownership,
        **described,
        polarity=insert.polarity,
        valid_from=insert.valid_from,
        valid_to=insert.valid_to,
        valid_from_precision=insert.valid_from_precision,
        valid_to_precision=insert.valid_to_precision,
        valid_from_stated=insert.valid_from_stated,
        valid_to_stated=insert.valid_to_stated,
        rank=insert.rank,
        made_at=insert.made_at,
        recorded_at=tick,
        origin_fact_id=insert.origin_id,
        supersedes_fact_id=supersedes,
        event_id=event_id,
    )


def register_predicate(predicate: Predicate) -> None:
    """Make a predicate that nobody registered a set predicate, listed for review in the admin."""
    if predicate._state.adding:
        Predicate.objects.bulk_create([predicate], ignore_conflicts=True)
        predicate._state.adding = False
        transaction.on_commit(catalogue.forget)


def refresh_name(session: WriteSession, entity: Entity, tick: datetime) -> None:
    """Keep the cached name equal to the believed `name` at the tick, or to the last one there was."""
    if entity.scope_ref != session.scope_ref:
        return
    named = entity.facts.believed().filter(scope_ref=session.scope_ref, predicate="name", polarity=True)
    row = named.valid_at(tick).first() or named.filter(valid_from__lte=tick).order_by("-valid_from").first()
    if row is not None and isinstance(row.object_value, str) and row.object_value != entity.canonical_name:
        entity.canonical_name = read_name(row.object_value, field="object_value")
        entity.name_key = name_key(entity.canonical_name)
        entity.save(update_fields=["canonical_name", "name_key"])


def introduce(
    *,
    session: WriteSession,
    kind: str,
    name: str,
    tick: datetime,
    description: str = "",
    is_self: bool = False,
    provenance: Provenance | None = None,
    evidence: Evidence | None = None,
) -> Entity:
    """Create an entity together with its first `name`, which holds since an unknown time."""
    session.level = classification.of_kind(session, kind)
    entity = create_entity(session=session, kind=kind, name=name, tick=tick, description=description, is_self=is_self)
    said_by = provenance or Provenance(
        rank=session.principal.rank,
        source=Source.SYSTEM_RULE,
        trust_tier="trusted",
        memory_type=MemoryType.USER_ASSERTION,
        commits=True,
    )
    predicate = session.catalogue.predicates["name"]
    object_key = canonical.object_key(value=name)
    statement = Statement(
        subject=entity,
        predicate=predicate,
        polarity=True,
        value=name,
        object=None,
        applies_to=None,
        object_key=object_key,
        valid_from=UNKNOWN,
        valid_to=None,
        observed_at=None,
        sentence=sentence_of(session, entity, predicate, True, name, None),
    )
    session.level = classification.of_statement(session, statement, memory_type=said_by.memory_type)
    event_id = uuid7()
    plan = plan_assertion(statement=statement, said=Said(), provenance=said_by, rows={}, tick=tick, session=session)
    apply_assertion(
        session=session,
        plan=plan,
        rows={},
        statement=statement,
        provenance=said_by,
        extras=Extras(),
        evidence=evidence,
        event_id=event_id,
    )
    session.add_event(
        id=event_id,
        event_type="entity.created",
        tick=tick,
        source=said_by.source,
        trust_tier=said_by.trust_tier,
        target_entity_id=entity.pk,
        payload={"entity_id": str(entity.pk), "fact_ids": [str(i.id) for i in plan.inserts], "closed_fact_ids": []},
        summary=name,
    )
    return entity


def locate(fact_id: str | UUID, session: WriteSession, *, field: str) -> Fact:
    """A row of the scope by an id of any age.

    Raises:
        NotFound: missing, foreign, above the caller's clearance, or in a scope that is not the one being written.
    """
    id = fact_id if isinstance(fact_id, UUID) else references.as_uuid(fact_id)
    with session.as_caller():
        row = Fact.objects.filter(pk=id, scope_ref=session.scope_ref).first() if id else None
    if row is None:
        raise references.not_found(str(fact_id), field)
    return row


def changes_of(plan: planner.Plan) -> dict[str, Any]:
    """The ids an event keeps: enough to explain the operation and to undo it."""
    return {
        "fact_ids": [str(insert.id) for insert in plan.inserts],
        "closed_fact_ids": [str(close.id) for close in plan.closes],
        "primary_fact_id": str(plan.primary) if plan.primary else None,
    }
