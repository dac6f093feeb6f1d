"""Who says an operation, and whether it may be written without a person."""

from __future__ import annotations

from gedaechtnis.common.instants import parse_instant
from gedaechtnis.memory import ports, references
from gedaechtnis.memory.schemas import (
    AddAlias,
    AssertFact,
    AssertRelationship,
    InvalidateFact,
    MemoryType,
    Operation,
    UpsertEntity,
)
from gedaechtnis.memory.writing import assertions, proposals
from gedaechtnis.memory.writing.entities import EntityBook
from gedaechtnis.memory.writing.provenance import Provenance, judge
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.world.models import Entity


def judge_operation(session: WriteSession, op: Operation) -> Provenance:
    """The server's view of who says this, and whether they may without a person, whatever it is about."""
    observed = getattr(op, "observed_at", None)
    return judge(
        principal=session.principal,
        scope_ref=session.scope_ref,
        claimed=op.source,
        memory_type=op.memory_type,
        evidence=op.evidence,
        observed_at=parse_instant(observed, zone=session.zone, field="observed_at") if observed else None,
    )


def guarded(
    provenance: Provenance, session: WriteSession, book: EntityBook, op: Operation, *, force_review: bool = False
) -> Provenance:
    """The same judgement, but a person decides where it touches policies, or where review was asked for.

    Raises:
        Problem: a reference that cannot be resolved; `invalid_domain`; `grant_denied` for a rule
            where the agent may propose none.
    """
    _check_domain(session, op)
    if session.principal.is_person:
        return provenance
    if is_privileged(session, book, op):
        return proposals.held_back(provenance, why="privileged")
    if force_review and provenance.commits:
        return proposals.held_back(provenance, why="review")
    return provenance


def _check_domain(session: WriteSession, op: Operation) -> None:
    """Whether it may stand in the domain that it names, and a rule in that of the one it takes the place of."""
    predicate, named = "", set[str]()
    match op:
        case UpsertEntity() if op.kind in references.KEYED:
            named = {op.canonical_name}
        case AssertFact() | AssertRelationship() if op.domain:
            predicate, named = op.predicate, {op.domain}
        case AssertFact() if (known := session.catalogue.predicates.get(op.predicate)) and known.privileged:
            predicate, named = op.predicate, {""}
    if predicate and isinstance(op, AssertFact) and op.replaces_fact_id:
        named.add(assertions.locate(op.replaces_fact_id, session, field="replaces_fact_id").domain)
    for domain in sorted(named):
        ports.check_domain(session.principal, session.scope_ref, predicate, domain)


def is_privileged(session: WriteSession, book: EntityBook, op: Operation) -> bool:
    """Policies and capabilities always need a person: new ones, and whatever touches one.

    Raises:
        Problem: a reference that cannot be resolved.
    """
    kinds, predicates = session.catalogue.kinds, session.catalogue.predicates
    kind, predicate = "", ""
    match op:
        case UpsertEntity():
            kind = op.kind
        case AssertFact() | AssertRelationship():
            predicate = op.predicate
            allowed = predicates[predicate].subject_kinds if predicate in predicates else ()
            kind = book.bind(op.subject_ref, field="subject_ref", kinds=allowed).kind
        case AddAlias():
            kind = book.bind(op.entity_ref, field="entity_ref").kind
        case InvalidateFact():
            row = assertions.locate(op.target_fact_id, session, field="target_fact_id")
            subject = Entity.objects.filter(pk=row.subject_id).first()
            kind, predicate = subject.kind if subject else "", row.predicate
    introduced = {book.sketches[ref].kind for ref in references.named_by(op) if ref in book.sketches}
    return (
        op.memory_type is MemoryType.POLICY
        or any(kinds[one].privileged for one in {kind, *introduced} if one in kinds)
        or (predicate in predicates and predicates[predicate].privileged)
    )
