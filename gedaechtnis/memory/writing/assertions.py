"""From a statement to rows: read the slot, let the planner decide, apply its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import UNKNOWN, Bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import name_key
from gedaechtnis.memory import planner, references, values
from gedaechtnis.memory.schemas import Evidence, MemoryType, Source
from gedaechtnis.memory.writing import classification, witnesses
from gedaechtnis.memory.writing.apply import Applied, apply_plan, compared_key, keys_of
from gedaechtnis.memory.writing.entities import create_entity, read_name
from gedaechtnis.memory.writing.ledger import Group
from gedaechtnis.memory.writing.provenance import Provenance, veracity
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.statements import Statement, sentence_of
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.world.models import Entity, Fact

HANDLES = ("email", "identifier", "phone")
"""Predicates whose value may tell who somebody is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What describes a new statement beside its content."""

    confidence: float = 1.0
    domain: str = ""
    topic: str = ""
    sources: Sequence[str] = ()
    by_veracity: bool = False
    """Whether it is at most as sure as the one who says it is reliable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a statement was made, as far as the planner cares."""

    still: bool = False
    correction: bool = False
    replaces: Fact | None = None
    based_on: Fact | None = None
    decided: bool = False


def believed_rows(session: WriteSession, statement: Statement, said: Said) -> dict[UUID, Fact]:
    """The believed rows a statement can touch, by id: its slot's group, and the beliefs it names.

    What holds both ways competes at either end; a pair of rows is seen once, from the subject where it can be.
    """
    rows = session.ledger.group(group_of(statement))
    if statement.is_mirrored and statement.object is not None:
        there = session.ledger.group(group_of(statement.reversed()))
        rows |= {id: row for id, row in there.items() if row.object_entity_id != statement.subject.pk}
    for named in (said.replaces, said.based_on):
        if named is not None:
            rows |= rows_of_origin(session, named)
    return rows


def rows_of_origin(session: WriteSession, row: Fact) -> dict[UUID, Fact]:
    """All believed pieces of the statement of a row, also where a merge has moved them: what closing it may touch.

    Pairs once, from the row's own end or else from the end that was written first.
    """
    here = _pieces(session, row, row)
    if here:
        return here
    moved = list(Fact.objects.believed().filter(scope_ref=row.scope_ref, origin_fact_id=row.origin_fact_id))
    subject = standing_for(session, row.subject_id)
    own_end = [other for other in moved if other.subject_id == subject]
    pieces: dict[UUID, Fact] = {}
    for other in own_end or (other for other in moved if other.mirror_of is None):
        pieces |= _pieces(session, row, other)
    return pieces


def _pieces(session: WriteSession, row: Fact, place: Fact) -> dict[UUID, Fact]:
    group = group_of_row(session, place)
    return {
        id: other for id, other in session.ledger.group(group).items() if other.origin_fact_id == row.origin_fact_id
    }


def standing_for(session: WriteSession, entity_id: UUID) -> UUID:
    """What an entity was merged into; itself if it was not."""
    found = references.look_up(str(entity_id), scopes=session.directory.scopes, among=session.directory)
    return found.pk if found is not None else entity_id


def group_of(statement: Statement) -> Group:
    """Where a statement competes. In a set predicate only equal objects touch each other."""
    return Group(
        statement.subject.pk,
        statement.predicate.key,
        statement.applies_to_id,
        None if statement.predicate.is_functional else statement.object_key,
    )


def group_of_row(session: WriteSession, row: Fact) -> Group:
    """The group of a stored row, whatever became of it, and of its object's key if the rules have changed since."""
    object_key = row.object_key if row.superseded_at is None else keys_of(session, row)[0]
    return Group(row.subject_id, row.predicate, row.applies_to_id, object_key)


def plan_assertion(
    *,
    statement: Statement,
    said: Said,
    provenance: Provenance,
    rows: dict[UUID, Fact],
    tick: datetime,
    session: WriteSession,
) -> planner.Plan:
    """What asserting would do now; writes nothing.

    Raises the planner's problems; `stale` and `nothing_believed` tell the present values.
    """
    predicate = statement.predicate
    others = [row for row in rows.values() if predicate.immutable and row.object_key != statement.object_key]
    operation = planner.Assert(
        object_key=statement.compared_key,
        polarity=statement.polarity,
        functional=predicate.is_functional,
        immutable=predicate.immutable,
        valid_from=statement.valid_from,
        valid_to=statement.valid_to,
        still=said.still,
        correction=said.correction,
        replaces_origin_id=said.replaces.origin_fact_id if said.replaces else None,
        based_on_fact_id=said.based_on.pk if said.based_on else None,
        decided=said.decided,
        rank=provenance.rank,
        authority_source=predicate.authority == Predicate.Authority.SOURCE,
        default_from=Bound(provenance.said_at or tick),
        start_defaults_unknown=predicate.starts_unknown,
        refines=frozenset(row.object_key for row in others if values.refines(statement.value, row.object_value)),
        refined_by=frozenset(row.object_key for row in others if values.refines(row.object_value, statement.value)),
        zone=session.zone,
    )
    try:
        return ask_planner(session, rows, operation, tick)
    except Problem as problem:
        if problem.code in ("stale", "nothing_believed"):
            problem.extra["present"] = _present(session, statement, rows, tick)
        raise


def _present(
    session: WriteSession, statement: Statement, rows: dict[UUID, Fact], tick: datetime
) -> list[dict[str, Any]]:
    """What is believed to hold at a tick where a statement would compete, for whoever built on what is gone."""
    here = group_of(statement)
    current = [
        row
        for row in rows.values()
        if (row.subject_id, row.applies_to_id) == (here.subject_id, here.applies_to_id)
        and row.valid_from <= tick
        and (row.valid_to is None or tick < row.valid_to)
    ]
    return [
        {
            "fact_id": str(row.pk),
            "polarity": row.polarity,
            "object_value": row.object_value,
            "object_ref": target.ref if (target := _object_of(session, row)) else None,
            "statement": row.statement,
        }
        for row in sorted(current, key=lambda row: (row.valid_from, row.pk))
    ]


def _object_of(session: WriteSession, row: Fact) -> Entity | None:
    return session.directory.by_id(row.object_entity_id) if row.object_entity_id else None


def ask_planner(
    session: WriteSession, rows: dict[UUID, Fact], operation: planner.Operation, tick: datetime
) -> planner.Plan:
    """The plan for an operation; the planner's refusals come in the reader's language."""
    try:
        return planner.plan([belief(session, row) for row in rows.values()], operation, tick, uuid7)
    except Problem as problem:
        raise Problem(problem.code, _(problem.detail), problem.status, problem.field, problem.extra) from problem


def belief(session: WriteSession, row: Fact) -> planner.Belief:
    """A stored row as the planner sees it."""
    return planner.Belief(
        id=row.pk,
        object_key=compared_key(session, row),
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
) -> Applied:
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
        "statement": statement.sentence,
        "confidence": min(extras.confidence, veracity(provenance, evidence))
        if extras.by_veracity
        else extras.confidence,
        "source": provenance.source,
        "source_trust_tier": provenance.trust_tier,
        "memory_type": provenance.memory_type,
        "acted_by": session.principal.acted_by,
        "domain": extras.domain,
        "topic": extras.topic,
        "run_id": session.run_id or None,
    }
    applied = apply_plan(session=session, plan=plan, rows=rows, new=new, event_id=event_id, reason=None)
    session.check_quota()
    witnesses.add(
        session,
        new=[insert.origin_id for insert in plan.inserts if insert.copy_of is None],
        known=plan.evidence_for,
        provenance=provenance,
        evidence=evidence,
        confidence=extras.confidence,
        sources=extras.sources,
        tick=plan.tick,
    )
    session.to_identify |= statement.predicate.key in HANDLES
    session.touched.update(thing.pk for thing in (statement.subject, statement.object) if thing is not None)
    return applied


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
    named = [row for row in session.ledger.group(Group(entity.pk, "name", None, None)).values() if row.polarity]
    begun = sorted((row for row in named if row.valid_from <= tick), key=lambda row: row.valid_from)
    row = next((row for row in begun if row.valid_to is None or tick < row.valid_to), begun[-1] if begun else None)
    if row is not None and isinstance(row.object_value, str) and row.object_value != entity.canonical_name:
        name = read_name(row.object_value, field="object_value")
        entity.canonical_name, entity.name_key = name, name_key(name)
        if entity not in session.directory.made:
            entity.save(update_fields=["canonical_name", "name_key"])
        session.directory.forget()


def introduce(
    *,
    session: WriteSession,
    kind: str,
    name: str,
    tick: datetime,
    description: str = "",
    is_self: bool = False,
    since: Bound | None = None,
    provenance: Provenance | None = None,
    evidence: Evidence | None = None,
) -> Entity:
    """Create an entity together with its first `name`, which holds since an unknown time unless `since` says more."""
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
        valid_from=since or UNKNOWN,
        valid_to=None,
        observed_at=None,
        sentence=sentence_of(session, entity, predicate, True, name, None),
    )
    session.level = classification.of_statement(session, statement, memory_type=said_by.memory_type)
    event_id = uuid7()
    plan = plan_assertion(statement=statement, said=Said(), provenance=said_by, rows={}, tick=tick, session=session)
    applied = apply_assertion(
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
        payload={"entity_id": str(entity.pk), **applied.as_payload()},
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
