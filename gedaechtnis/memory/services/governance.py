"""A person's word on waiting proposals: accept or reject, each exactly once."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.utils.translation import gettext as _
from pydantic import TypeAdapter

from gedaechtnis.common.problems import Problem
from gedaechtnis.common.rank import Rank
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.schemas import (
    AssertFact,
    AssertRelationship,
    InvalidateFact,
    MemoryType,
    Operation,
    OperationResult,
    Outcome,
    Source,
)
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.memory.services import merges
from gedaechtnis.memory.writing import (
    assertions,
    freetext,
    operations,
    proposals,
    questions,
    settling,
    statements,
    suppressions,
)
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.entities import EntityBook, Sketch
from gedaechtnis.memory.writing.provenance import Provenance
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.settling import Keep
from gedaechtnis.memory.writing.shelf import NO_MEANINGS, Meanings
from gedaechtnis.scoping.context import Scope, current_scope, scope
from gedaechtnis.scoping.models import PUBLIC
from gedaechtnis.world.models import Fact, Proposal

_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)


def accept_proposal(
    *,
    principal: Principal,
    proposal_id: UUID,
    reason: str | None = None,
    choice: UUID | None = None,
    keep: Keep | None = None,
) -> OperationResult:
    """Carry the operation out on the person's authority, at the tick of acceptance, with those that follow it.

    `choice` answers a question with one of its candidates; if another name in it is not clear either, that one is
    asked for next, and the outcome is `pending`. `keep` says of a statement that contradicts believed ones what holds:
    the `new` one instead of them, `both`, or the `old` ones, which declines it. Without it both are written, and the
    contradiction stays open.

    Raises:
        NotFound: no such proposal for this principal.
        Problem: `person_required` (403); `already_decided` (409, first wins); `stale` (409) when
            the slot moved since: the proposal is kept, with the present value; `choice_required`,
            `not_a_candidate`, `nothing_to_choose`; `nothing_to_settle` for `keep` where nothing contradicts.
    """
    _require_person(principal)
    proposal = _find(principal, proposal_id)
    if keep is not None and not proposal.against:
        raise Problem("nothing_to_settle", _("There is nothing here that contradicts it."), field="keep")
    if keep == "old":
        return reject_proposal(principal=principal, proposal_id=proposal_id, reason=reason)
    moved = False
    meanings = _meanings_of(proposal)
    with scope(principal, write=proposal.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session, proposal = _begin(opened, proposal, meanings)
        if proposal.kind == proposals.MERGE and choice is None:
            return _merge(session, proposal, reason)
        op = _chosen(proposal, choice)
        book = _book(session, proposal)
        _bind_met_meanwhile(book)
        moved = proposal.kind != proposals.QUESTION and _refresh_if_moved(session, book, op, proposal)
        if not moved:
            result = _carry_out(session, book, op, proposal, reason, keep)
            session.finish()
            return result
        session.proposals.append(proposal.pk)
        session.finish()
    raise Problem("stale", _("What this builds on has changed since. Please look at it again."), 409)


def _chosen(proposal: Proposal, choice: UUID | None) -> Operation:
    if proposal.kind == proposals.QUESTION:
        return questions.answered(proposal, _OPERATION.validate_python(proposal.operation), choice)
    if choice is not None:
        raise Problem("nothing_to_choose", _("There is nothing to choose here."), field="candidate_id")
    return _OPERATION.validate_python(proposal.operation)


def _carry_out(
    session: WriteSession,
    book: EntityBook,
    op: Operation,
    proposal: Proposal,
    reason: str | None,
    keep: Keep | None,
) -> OperationResult:
    tick, is_answer = session.ticks[0], proposal.kind == proposals.QUESTION
    provenance = _accepted(op, proposal)
    # Who says whom they mean has not looked at what stands against it.
    act = Act(
        session=session,
        book=book,
        index=0,
        tick=tick,
        provenance=provenance,
        decided=not is_answer,
        settled=frozenset(map(UUID, proposal.against)) if keep else frozenset(),
    )
    try:
        with book.operation(said_at=proposal.default_from):
            result = operations.perform(act, op)
    except references.AmbiguousReference as unclear:
        questions.renew(book, proposal, op, unclear)
        return OperationResult(op_index=0, outcome=Outcome.PENDING, proposal_id=proposal.pk, extra=unclear.extra)
    for following in map(_OPERATION.validate_python, proposal.following):
        with book.operation(said_at=proposal.default_from):
            operations.perform(replace(act, provenance=_accepted(following, proposal)), following)
    if keep is not None and result.fact_id is not None:
        result = _settle(session, proposal, result, keep)
    proposal.state = Proposal.State.ACCEPTED
    proposal.fact_id = result.fact_id
    _decide(session, proposal, reason)
    event_id = proposals.add_event(
        session, proposal, "proposal.accepted", tick, {"fact_id": str(result.fact_id) if result.fact_id else None}
    )
    return result.model_copy(
        update={"proposal_id": result.proposal_id or proposal.pk, "event_id": result.event_id or event_id}
    )


def _settle(session: WriteSession, proposal: Proposal, result: OperationResult, keep: Keep) -> OperationResult:
    """What becomes of the statements that the accepted one contradicts."""
    new = session.ledger.believed(result.fact_id) if result.fact_id else None
    if new is None:
        raise RuntimeError("an accepted statement is believed")
    others = conflicts.standing(map(UUID, proposal.against)).values()
    if keep == "both":
        settling.let_both_stand(session, new, others)
        return result
    closed = [id for other in others for id in settling.supersede(session, other, by=new)]
    return result.model_copy(update={"closed_fact_ids": [*result.closed_fact_ids, *closed]})


def reject_proposal(*, principal: Principal, proposal_id: UUID, reason: str | None = None) -> OperationResult:
    """Decline: nothing is written but the decision and a hash that keeps it from being suggested again.

    Raises: as `accept_proposal`, without `stale`.
    """
    _require_person(principal)
    proposal = _find(principal, proposal_id)
    with scope(principal, write=proposal.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session, proposal = _begin(opened, proposal)
        proposal.state = Proposal.State.REJECTED
        _decide(session, proposal, reason)
        _remember_declined(session, proposal)
        event_id = proposals.add_event(session, proposal, "proposal.rejected", session.ticks[0])
        session.finish()
    return OperationResult(
        op_index=0, outcome=Outcome.REJECTED, proposal_id=proposal.pk, event_id=event_id, reason=reason
    )


def _remember_declined(session: WriteSession, proposal: Proposal) -> None:
    if proposal.kind == proposals.MERGE:
        suppressions.remember_key(session, suppressions.pair_key(*_pair(proposal)))
        return
    book, op = _book(session, proposal), _OPERATION.validate_python(proposal.operation)
    questions.leave_open(book, proposal, op)
    suppressions.remember(session, book, op)


def _merge(session: WriteSession, proposal: Proposal, reason: str | None) -> OperationResult:
    """Take the two for one. If they are by now, there is nothing left to do."""
    source_id, target_id = _pair(proposal)
    merged = None
    try:
        merged = merges.merge_entities(
            principal=session.principal, source_id=source_id, target_id=target_id, reason=reason or ""
        )
    except Problem as problem:
        if problem.code != "merge_into_self":
            raise
    proposal.state = Proposal.State.ACCEPTED
    _decide(session, proposal, reason)
    event_id = proposals.add_event(
        session,
        proposal,
        "proposal.accepted",
        session.ticks[0],
        {"merge_event_id": str(merged.event_id) if merged else None},
    )
    session.finish()
    return OperationResult(
        op_index=0,
        outcome=Outcome.COMMITTED if merged else Outcome.RESTATED,
        entity_id=target_id,
        entity_ref=merged.target_ref if merged else None,
        proposal_id=proposal.pk,
        event_id=merged.event_id if merged else event_id,
    )


def _pair(proposal: Proposal) -> tuple[UUID, UUID]:
    """(source, target) of a suggested merge."""
    return UUID(proposal.operation["subject_ref"]), UUID(proposal.operation["object_ref"])


def _require_person(principal: Principal) -> None:
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can decide this."), 403)


def _find(principal: Principal, proposal_id: UUID) -> Proposal:
    with scope(principal):
        proposal = Proposal.objects.filter(pk=proposal_id).first()
    if proposal is None:
        raise references.not_found(str(proposal_id))
    return proposal


def _meanings_of(proposal: Proposal) -> Meanings:
    """What was believed since may contradict it. Within an open scope no model is asked: letters are compared."""
    if current_scope() is not None or proposal.kind == proposals.MERGE:
        return NO_MEANINGS
    return freetext.meanings_of([_OPERATION.validate_python(op) for op in (proposal.operation, *proposal.following)])


def _begin(opened: Scope, proposal: Proposal, meanings: Meanings = NO_MEANINGS) -> tuple[WriteSession, Proposal]:
    """Lock the scope, then read the proposal anew: of two answers the first one counts."""
    session = WriteSession.begin(opened, run_id=f"proposal-{proposal.pk}", meanings=meanings)
    current = Proposal.objects.get(pk=proposal.pk)
    if current.state != Proposal.State.OPEN:
        raise Problem("already_decided", _("This was answered already."), 409, extra={"state": current.state})
    session.level = current.classification
    return session, current


def _accepted(op: Operation, proposal: Proposal) -> Provenance:
    return Provenance(
        rank=Rank.PERSON,
        source=Source.USER_ASSERTION if op.source is Source.USER_ASSERTION else op.source,
        trust_tier="trusted",
        memory_type=MemoryType(op.memory_type),
        commits=True,
        said_at=proposal.default_from,
    )


def _bind_met_meanwhile(book: EntityBook) -> None:
    """A sketch whose name has been met since the proposal is that entity, not a second one."""
    for hint, sketch in list(book.sketches.items()):
        met = references.by_name(sketch.name, scopes=book.scopes, kinds=(sketch.kind,))
        if met is not None:
            book.bound[hint] = met
            del book.sketches[hint]


def _book(session: WriteSession, proposal: Proposal) -> EntityBook:
    sketches = {hint: Sketch(hint=hint, **sketch) for hint, sketch in proposal.entities.items()}
    return EntityBook(session=session, sketches=sketches, said_at=proposal.default_from)


def _refresh_if_moved(session: WriteSession, book: EntityBook, op: Operation, proposal: Proposal) -> bool:
    """Whether the slot changed since the proposal; then its view of the present is renewed."""
    rows: dict[UUID, Fact] = {}
    present = ""
    against = list(conflicts.standing(map(UUID, proposal.against)).values()) if proposal.against else []
    match op:
        case AssertFact() | AssertRelationship():
            statement = statements.resolve(op, session, book, said_at=proposal.default_from)
            said = operations.said_of(session, op, statement)
            rows = assertions.believed_rows(session, statement, said)
            present = proposals.told(proposals.standing(statement, rows), proposals.in_words(against))
        case InvalidateFact():
            row = assertions.locate(op.target_fact_id, session, field="target_fact_id")
            rows = assertions.rows_of_origin(session, row)
            present = proposals.in_words(rows.values())
    if proposals.built_on(rows) == proposal.built_on and len(against) == len(proposal.against):
        return False
    proposal.built_on = proposals.built_on(rows)
    proposal.against = [str(row.origin_fact_id) for row in against]
    proposal.present = present
    proposal.kind = proposals.CONFLICT if proposal.present else proposal.kind
    proposal.classification = max(proposal.classification, *(row.classification for row in rows.values()), PUBLIC)
    proposal.save(update_fields=["built_on", "against", "present", "kind", "classification"])
    return True


def _decide(session: WriteSession, proposal: Proposal, reason: str | None) -> None:
    proposal.decided_at = session.ticks[0]
    proposal.decided_by = session.principal.acted_by
    proposal.decision_reason = reason or ""
    proposal.save(update_fields=["state", "decided_at", "decided_by", "decision_reason", "fact_id"])
    session.proposals.append(proposal.pk)
