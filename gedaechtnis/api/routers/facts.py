"""Single facts: what they say, why they are believed, and a person's verbs for them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from ninja import Query, Router, Status

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.common import IdempotencyKey, OptionalReason
from gedaechtnis.api.schemas.entities import UndoOut
from gedaechtnis.api.schemas.facts import (
    CorrectIn,
    ExplanationOut,
    FactAloneOut,
    FactOut,
    FactsOut,
    MatchingFactsIn,
    OptionalEnd,
    OptionalInvalidate,
    OverlapIn,
    OverlapOut,
)
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.answers import FactsAnswer, FactView, OverlapAnswer
from gedaechtnis.memory.schemas import OperationResult
from gedaechtnis.memory.selectors import asof, explain, moments, relations
from gedaechtnis.memory.selectors.explain import Explanation
from gedaechtnis.memory.services import facts, undo

router = Router(tags=["facts"])


@router.get("", response=FactsOut, summary="Who or what a predicate holds for")
def list_facts(request: ApiRequest, filters: Query[MatchingFactsIn]) -> FactsAnswer:
    """Facts of one predicate at a moment; with `object` only those with that object ("who lives in Nürnberg?")."""
    valid_at, known_at = inputs.moment_of(filters, principal=request.auth)
    wanted = (
        inputs.object_of(filters.object, predicate=filters.predicate, principal=request.auth)
        if filters.object is not None
        else {}
    )
    return asof.matching_facts(
        principal=request.auth,
        predicate=filters.predicate,
        applies_to=inputs.context_of(filters.applies_to, principal=request.auth),
        valid_at=valid_at,
        known_at=known_at,
        **wanted,
    )


@router.get("/overlap", response=OverlapOut, summary="When two facts held together")
def list_overlaps(request: ApiRequest, filters: Query[OverlapIn]) -> OverlapAnswer:
    """Each interval that both held in, as known at a moment; none if one only followed the other."""
    known_at = moments.read_known_at(filters.known_at, principal=request.auth) if filters.known_at is not None else None
    return relations.overlap(principal=request.auth, first_id=filters.a, second_id=filters.b, known_at=known_at)


@router.get("/{fact_id}", response=FactAloneOut, summary="One fact")
def get_fact(request: ApiRequest, fact_id: UUID) -> FactView:
    """Believed or not. Missing and foreign ones answer alike."""
    return explain.get_fact(principal=request.auth, fact_id=fact_id)


@router.get("/{fact_id}/explain", response=ExplanationOut, summary="Why a fact is believed")
def explain_fact(request: ApiRequest, fact_id: UUID) -> Explanation:
    """Its evidence, every belief that stood in its place, and what closed it."""
    return explain.explain_fact(principal=request.auth, fact_id=fact_id)


@router.post("/{fact_id}/invalidate", response=OperationResult, summary="It never held")
def invalidate_fact(
    request: ApiRequest, fact_id: UUID, idempotency_key: IdempotencyKey, payload: OptionalInvalidate
) -> OperationResult:
    """Close all that is still believed of the statement (`piece`: only this row)."""
    with inputs.single_operation():
        return facts.retract_fact(
            principal=request.auth,
            fact_id=fact_id,
            reason=payload.reason or "",
            piece=payload.piece,
            run_id=idempotency_key,
        )


@router.post("/{fact_id}/end", response=OperationResult, summary="It stopped holding")
def end_fact(
    request: ApiRequest, fact_id: UUID, idempotency_key: IdempotencyKey, payload: OptionalEnd
) -> OperationResult:
    """From `at` on (now without it); what held before stays."""
    with inputs.single_operation():
        return facts.end_fact(
            principal=request.auth,
            fact_id=fact_id,
            at=payload.at,
            reason=payload.reason or "",
            piece=payload.piece,
            run_id=idempotency_key,
        )


@router.post("/{fact_id}/correct", response=OperationResult, summary="It was wrong all along")
def correct_fact(
    request: ApiRequest, fact_id: UUID, payload: CorrectIn, idempotency_key: IdempotencyKey
) -> OperationResult:
    """Replace the belief wholly. Fields that are left out stay as they are; `"valid_to": null` opens the end."""
    with inputs.single_operation():
        return facts.correct_fact(
            principal=request.auth, fact_id=fact_id, changes=_changes(payload), run_id=idempotency_key
        )


def _changes(payload: CorrectIn) -> dict[str, Any]:
    """What was named, null or not; what was left out is no change."""
    changes = payload.model_dump(exclude_unset=True)
    if {"object_value", "object_ref"} <= set(changes):
        raise Problem(
            "conflicting_fields", _("A fact has a value or an entity as its object, not both."), field="object_ref"
        )
    return changes


@router.patch("/{fact_id}", response={200: FactOut, 202: OperationResult}, summary="As correct, for partial updates")
def patch_fact(
    request: ApiRequest, fact_id: UUID, payload: CorrectIn, idempotency_key: IdempotencyKey
) -> Status[FactView | OperationResult]:
    """What is left out stays, null opens the end. The fact as it is believed now; the same one if nothing is new.

    202 with the result where a person must decide first.
    """
    present = get_fact(request, fact_id)
    changes = _changes(payload)
    if changes.get("valid_to", present) is None and present.valid_to is None:
        del changes["valid_to"]
    if not changes:
        return Status(200, present)
    try:
        with inputs.single_operation():
            result = facts.correct_fact(
                principal=request.auth, fact_id=fact_id, changes=changes, run_id=idempotency_key
            )
    except Problem as problem:
        if problem.code != "nothing_to_change":
            raise
        return Status(200, present)
    if result.fact_id is None:
        return Status(202, result)
    return Status(200, get_fact(request, result.fact_id))


@router.post("/{fact_id}/restore", response=UndoOut, summary="It holds after all")
def restore_fact(request: ApiRequest, fact_id: UUID, payload: OptionalReason) -> undo.UndoResult:
    """Undo the event that closed this belief. 409 `moved_since` if anything it did has changed since."""
    return undo.restore_fact(principal=request.auth, fact_id=fact_id, reason=payload.reason or "")
