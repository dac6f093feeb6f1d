"""Operations that wait for a person: kept whole, worded for reading, never among the facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import translation
from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory import planner
from gedaechtnis.memory.schemas import (
    AddAlias,
    AssertFact,
    AssertRelationship,
    Evidence,
    InvalidateFact,
    Operation,
    OperationResult,
    Outcome,
    UpsertEntity,
)
from gedaechtnis.memory.services.entities import EntityBook, is_sketch, read_name
from gedaechtnis.memory.services.provenance import Provenance
from gedaechtnis.memory.services.session import WriteSession
from gedaechtnis.memory.services.statements import Statement
from gedaechtnis.scoping import work
from gedaechtnis.world.models import Entity, Fact, Proposal, Suppression

POST_REVIEW = "post_review"
"""Kind of the work that shows open proposals to the person; handled by the chat."""

FACT = "fact"
CONFLICT = "conflict"
ENTITY = "entity"


def held_back(provenance: Provenance, *, why: str) -> Provenance:
    """The same judgement, but a person decides."""
    return replace(provenance, commits=False, why=why)


def unquoted(evidence: Evidence) -> Evidence:
    """A claimed quotation that was found nowhere: a note, so that nobody reads it as the person's words."""
    return evidence.model_copy(update={"kind": "note"}) if evidence.kind == "conversation_quote" else evidence


def suppression_key(statement: Statement) -> UUID:
    """The hash under which a declined suggestion is remembered; holds no readable text."""
    subject = statement.subject
    return canonical.digest(
        "suppressed",
        subject.ref if is_sketch(subject) else str(subject.pk),
        statement.predicate.key,
        str(statement.object_key),
        str(statement.applies_to_id or ""),
    )


def hold(
    *,
    session: WriteSession,
    book: EntityBook,
    op: AssertFact | AssertRelationship,
    index: int,
    tick: datetime,
    provenance: Provenance,
    statement: Statement,
    rows: dict[UUID, Fact],
    conflict: planner.Conflict | None,
) -> OperationResult:
    """Keep an assertion for a person.

    Raises:
        Problem: `suppressed` if the person declined the same suggestion before.
    """
    refs = [op.subject_ref, getattr(op, "object_ref", "")]
    key = suppression_key(statement)
    _refuse_suppressed(session, key, tick)
    standing = [row for row in rows.values() if row.object_key != statement.object_key or row.polarity != op.polarity]
    return _store(
        session=session,
        op=op,
        index=index,
        tick=tick,
        provenance=provenance,
        kind=CONFLICT if conflict or standing else FACT,
        why="conflict" if conflict and provenance.commits else provenance.why,
        statement=statement.sentence,
        entities=book.waiting_on(refs),
        built_on=sorted(str(id) for id in rows),
        present="; ".join(row.statement for row in standing),
        entity_ref=statement.subject.ref,
    )


def hold_invalidation(
    *, session: WriteSession, op: InvalidateFact, index: int, tick: datetime, provenance: Provenance, row: Fact
) -> OperationResult:
    """Keep an ending or a retraction for a person."""
    with translation.override(session.principal.language):
        worded = _("No longer: %(statement)s") if op.mode == "end" else _("Not true: %(statement)s")
    return _store(
        session=session,
        op=op,
        index=index,
        tick=tick,
        provenance=provenance,
        kind=CONFLICT,
        why=provenance.why,
        statement=worded % {"statement": row.statement},
        built_on=[str(row.pk)],
        present=row.statement,
        entity_ref=None,
    )


def hold_alias(
    *, session: WriteSession, op: AddAlias, index: int, tick: datetime, provenance: Provenance, entity: Entity
) -> OperationResult:
    """Keep a further name for a person."""
    with translation.override(session.principal.language):
        worded = _("%(name)s is also called %(alias)s")
    return _store(
        session=session,
        op=op,
        index=index,
        tick=tick,
        provenance=provenance,
        kind=ENTITY,
        why=provenance.why,
        statement=worded % {"name": entity.canonical_name, "alias": read_name(op.alias, field="alias")},
        entity_ref=entity.ref,
    )


def hold_entity(
    *, session: WriteSession, op: UpsertEntity, index: int, tick: datetime, provenance: Provenance
) -> UUID | None:
    """Keep a new entity for a person, when no waiting fact brings it along."""
    with translation.override(session.principal.language):
        label = session.catalogue.kind_label(op.kind)
    result = _store(
        session=session,
        op=op,
        index=index,
        tick=tick,
        provenance=provenance,
        kind=ENTITY,
        why=provenance.why,
        statement=f"{read_name(op.canonical_name, field='canonical_name')} ({label})",
        entity_ref=op.id_hint,
    )
    return result.proposal_id


def _refuse_suppressed(session: WriteSession, key: UUID, tick: datetime) -> None:
    suppressed = Suppression.objects.filter(scope_ref=session.scope_ref, key=key).first()
    if suppressed is not None and (suppressed.expires_at is None or suppressed.expires_at > tick):
        raise Problem("suppressed", _("This was declined before."), 409)


def _store(
    *,
    session: WriteSession,
    op: Operation,
    index: int,
    tick: datetime,
    provenance: Provenance,
    kind: str,
    why: str,
    statement: str,
    entity_ref: str | None,
    entities: dict[str, dict[str, object]] | None = None,
    built_on: list[str] | None = None,
    present: str = "",
) -> OperationResult:
    proposal = Proposal.objects.create(
        id=uuid7(),
        **session.ownership,
        kind=kind,
        operation=op.model_dump(mode="json"),
        entities=entities or {},
        statement=statement,
        why=why,
        quote=op.evidence.text if op.evidence and op.evidence.kind == "conversation_quote" else "",
        built_on=built_on or [],
        default_from=provenance.said_at or tick,
        present=present,
        proposed_by=session.principal.acted_by,
        run_id=session.run_id,
        op_index=index,
        recorded_at=tick,
    )
    add_event(session, proposal, "proposal.opened", tick)
    session.proposals.append(proposal.pk)
    work.enqueue(
        kind=POST_REVIEW,
        scope_ref=session.scope_ref,
        org_id=session.org_id,
        acting_sub=session.principal.sub,
        dedupe_key=POST_REVIEW,
    )
    return OperationResult(
        op_index=index, outcome=Outcome.PENDING, entity_ref=entity_ref, proposal_id=proposal.pk, reason=why
    )


def add_event(
    session: WriteSession, proposal: Proposal, event_type: str, tick: datetime, changes: dict[str, Any] | None = None
) -> UUID:
    """Append what happened to a proposal."""
    event_id = uuid7()
    session.add_event(
        id=event_id,
        event_type=event_type,
        tick=tick,
        source="system_rule",
        payload={"proposal_id": str(proposal.pk), **(changes or {})},
    )
    return event_id
