"""The committer: one proposal, one transaction, an outcome for each operation. Deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import ports
from gedaechtnis.memory.schemas import (
    AssertFact,
    MemoryMutationProposal,
    Operation,
    OperationResult,
    Outcome,
    ProposalResult,
)
from gedaechtnis.memory.writing import form, freetext, operations, statements
from gedaechtnis.memory.writing.classification import admitted
from gedaechtnis.memory.writing.entities import EntityBook
from gedaechtnis.memory.writing.prefetch import prefetch
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.shelf import Meanings
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import PUBLIC
from gedaechtnis.world.models import OperationRecord


def commit_proposal(
    *,
    principal: Principal,
    proposal: MemoryMutationProposal,
    scope_ref: str | None = None,
    review: frozenset[int] = frozenset(),
    together: bool = False,
    zone: ZoneInfo | None = None,
    meanings: Meanings | None = None,
) -> ProposalResult:
    """Carry out a proposal in one scope (the principal's default unless named).

    `review` names operations that wait for a person whatever their provenance (routing may only
    be stricter than the committer). `together`: all of it or nothing; what waits is one proposal, which a person
    accepts or declines as a whole. `zone` is the zone of bare dates; the principal's by default.
    `meanings` are those of its free texts (`freetext.meanings_of`): who calls this within an open scope asks before.
    Asked again with the same run and body, the stored outcome is returned as `duplicate`.
    What lies above the principal's clearance is written all the same, and its outcome `withheld`.

    Raises:
        Problem: malformed input, located at `operations.<n>.<field>`; `scope_denied`; `unknown_source`;
            `run_id_reused` (409) if the run id came before with another body; with `together` what a rule refuses.
    """
    run_id = proposal.run_id or f"r-{uuid7()}"
    form.check(proposal, zone=zone or principal.zone)
    write = scope_ref or principal.default_scope
    _check_sources(principal, write, proposal.operations)
    hashes = [canonical.digest(op.model_dump_json()) for op in proposal.operations]
    if meanings is None:
        meanings = freetext.meanings_of(proposal.operations)
    with scope(principal, write=write, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(
            opened, operations=len(hashes), zone=zone, run_id=run_id, chat_id=proposal.chat_id, meanings=meanings
        )
        session.together = together
        earlier = _earlier_results(principal, write, run_id, hashes)
        book = EntityBook(session=session)
        ops = [statements.directed(op, session.catalogue) for op in proposal.operations]
        prefetch(session, book, ops)
        results, levels = [], []
        for index, op in enumerate(ops):
            if index in earlier:
                results.append(_replayed(earlier[index], op, book))
                levels.append(earlier[index].classification)
            else:
                results.append(_carry_out(session, book, op, index, force_review=index in review))
                levels.append(session.level)
        operations.settle_hints(session, book, ops, results)
        for result in results if together else ():
            raise_refusal(result)
        for index in range(len(hashes)):
            if index not in earlier:
                session.add_record(
                    op_index=index,
                    body_hash=hashes[index],
                    tick=session.ticks[index],
                    result=results[index].model_dump(mode="json"),
                    level=levels[index],
                )
        session.finish()
    shown = [admitted(result, level, principal.clearance) for result, level in zip(results, levels, strict=True)]
    return ProposalResult(run_id=run_id, results=shown)


def _check_sources(principal: Principal, scope_ref: str, ops: Sequence[Operation]) -> None:
    """Raises Problem `unknown_source`, alike for what is missing and what is another's."""
    named = [
        (f"operations.{index}.sources.{place}", ref)
        for index, op in enumerate(ops)
        if isinstance(op, AssertFact)
        for place, ref in enumerate(op.sources)
    ]
    refs = [ref for _place, ref in named]
    for unknown in ports.unknown_sources(principal, scope_ref, refs) if refs else ():
        field, ref = named[unknown]
        raise Problem(
            "unknown_source",
            _("You have no observation “%(ref)s” in this workspace.") % {"ref": ref[:80]},
            field=field,
        )


def _carry_out(
    session: WriteSession, book: EntityBook, op: Operation, index: int, *, force_review: bool
) -> OperationResult:
    """One operation; a rule that refuses it is its outcome, an error of the database is not caught."""
    session.level = PUBLIC
    try:
        return operations.carry_out(session, book, op, index, force_review=force_review)
    except Problem as problem:
        return OperationResult(
            op_index=index,
            outcome=Outcome.REJECTED,
            code=problem.code,
            reason=problem.detail,
            field=problem.field,
            extra=problem.extra,
        )


def raise_refusal(result: OperationResult) -> None:
    """Raises the Problem that a refusal stands for, also where it was asked for again and comes as a duplicate."""
    if result.code is not None:
        status = 409 if result.code in _CONFLICTS else 422
        raise Problem(result.code, result.reason or _("This was refused."), status, result.field, result.extra)


_CONFLICTS = frozenset({"nothing_believed", "already_ended", "stale", "suppressed", "quota_exceeded"})


def _earlier_results(
    principal: Principal, scope_ref: str, run_id: str, hashes: Sequence[UUID]
) -> dict[int, OperationRecord]:
    found = OperationRecord.objects.filter(scope_ref=scope_ref, principal=principal.acted_by, run_id=run_id)
    earlier = {record.op_index: record for record in found}
    for index, record in earlier.items():
        if index >= len(hashes) or record.body_hash != hashes[index]:
            raise Problem(
                "run_id_reused",
                _("The run “%(run_id)s” was used before with other content.") % {"run_id": run_id[:80]},
                409,
                "run_id",
            )
    return earlier


def _replayed(record: OperationRecord, op: Operation, book: EntityBook) -> OperationResult:
    """The stored outcome as a duplicate; later operations of the proposal may still name its entity."""
    stored = OperationResult.model_validate(record.result)
    if op.op == "upsert_entity" and stored.entity_id is not None:
        entity = book.known(str(stored.entity_id), field="id_hint")
        if entity is not None:
            book.bound[op.id_hint] = entity
    return stored.model_copy(update={"outcome": Outcome.DUPLICATE})
