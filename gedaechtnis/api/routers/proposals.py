"""Changing the memory: proposals of operations, and a person's word on those that wait."""

from __future__ import annotations

from uuid import UUID

from ninja import Query, Router

from gedaechtnis.api.auth import ApiRequest, chosen_scope
from gedaechtnis.api.inputs import run_id_of
from gedaechtnis.api.paging import page_of
from gedaechtnis.api.schemas.common import IdempotencyKey, OptionalReason, WriteScope
from gedaechtnis.api.schemas.proposals import (
    AcceptIn,
    AnswerIn,
    OptionalAcceptance,
    ProposalPage,
    ProposalsIn,
    ReviewItemsIn,
)
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import Page, ProposalView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, ProposalResult
from gedaechtnis.memory.selectors import proposals
from gedaechtnis.memory.services import commit, governance

router = Router(tags=["proposals"])
review_router = Router(tags=["review"])


@router.post("", response=ProposalResult, summary="Propose changes")
def propose(
    request: ApiRequest, payload: MemoryMutationProposal, idempotency_key: IdempotencyKey, write_scope: WriteScope
) -> ProposalResult:
    """Carry out operations in one transaction, with an outcome for each.

    An operation that a rule refuses is reported as `rejected` and the others go on; a malformed
    proposal changes nothing. The same run id with the same body answers the stored outcomes as
    `duplicate`, with another body 409. A single operation that builds on a fact which has changed since
    answers 409 `stale`, with the values that stand there now in `present`.
    """
    run_id = run_id_of(idempotency_key, payload.run_id, field="run_id")
    result = commit.commit_proposal(
        principal=request.auth,
        proposal=payload.model_copy(update={"run_id": run_id}),
        scope_ref=chosen_scope(request.auth, write_scope),
    )
    first, *others = result.results
    if first.code == "stale" and not others:
        raise Problem(first.code, first.reason or "", 409, f"operations.0.{first.field}", first.extra)
    return result


@router.get("", response=ProposalPage, summary="Waiting and decided operations")
def list_proposals(request: ApiRequest, filters: Query[ProposalsIn]) -> Page[ProposalView]:
    """Oldest first. `state` is `open` unless named; `all` for every one."""
    return _listed(request.auth, filters.state, filters.cursor, filters.limit)


@router.post("/{proposal_id}/accept", response=OperationResult, summary="Accept a waiting operation")
def accept_proposal(request: ApiRequest, proposal_id: UUID, payload: OptionalAcceptance) -> OperationResult:
    """Carry it out on the person's authority, now. 409 `stale` if what it builds on has changed: look again.

    A question is answered with `candidate_id`; should the answer raise another one, the outcome is `pending`.
    """
    return _accept(request, proposal_id, payload)


@router.post("/{proposal_id}/reject", response=OperationResult, summary="Decline a waiting operation")
def reject_proposal(request: ApiRequest, proposal_id: UUID, payload: OptionalReason) -> OperationResult:
    """Nothing is written but the decision; the same is not suggested again."""
    return governance.reject_proposal(principal=request.auth, proposal_id=proposal_id, reason=payload.reason)


@review_router.get("", response=ProposalPage, summary="What waits for the person")
def list_review_items(request: ApiRequest, filters: Query[ReviewItemsIn]) -> Page[ProposalView]:
    """The proposals, as the chat shows them."""
    return _listed(request.auth, filters.status, filters.cursor, filters.limit)


@review_router.post("/{item_id}/answer", response=OperationResult, summary="Answer a review item")
def answer_review_item(request: ApiRequest, item_id: UUID, payload: AnswerIn) -> OperationResult:
    """Accept or reject; of two answers the first one counts, the second gets 409 `already_decided`."""
    if payload.action == "accept":
        return _accept(request, item_id, payload)
    return governance.reject_proposal(principal=request.auth, proposal_id=item_id, reason=payload.reason)


def _accept(request: ApiRequest, proposal_id: UUID, payload: AcceptIn) -> OperationResult:
    return governance.accept_proposal(
        principal=request.auth,
        proposal_id=proposal_id,
        reason=payload.reason,
        choice=payload.candidate_id,
        keep=payload.keep,
    )


def _listed(principal: Principal, state: str, cursor: str | None, limit: int) -> Page[ProposalView]:
    rows = proposals.list_proposals(principal=principal, state=None)
    return page_of(rows, cursor=cursor, limit=limit, shown=lambda row: state in {"all", row.state})
