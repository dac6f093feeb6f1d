"""Other names of entities, over time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Query, Router

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest, chosen_scope
from gedaechtnis.api.schemas.aliases import AliasesOut, AliasIn, EndAliasIn, EndedOut
from gedaechtnis.api.schemas.common import IdempotencyKey, WriteScope
from gedaechtnis.api.schemas.facts import AsOfIn
from gedaechtnis.common.instants import parse_bound
from gedaechtnis.memory.schemas import OperationResult
from gedaechtnis.memory.selectors.aliases import list_aliases as aliases_of
from gedaechtnis.memory.selectors.entities import get_entity
from gedaechtnis.memory.services import aliases

router = Router(tags=["identity"])


@router.get("/entities/{ref}/aliases", response=AliasesOut, summary="Other names of an entity")
def list_aliases(request: ApiRequest, ref: str, filters: Query[AsOfIn]) -> dict[str, Any]:
    """As known at a moment; without `valid_at` and `as_of` also names that are over."""
    valid_at, known_at = inputs.moment_of(filters, principal=request.auth)
    asked = get_entity(principal=request.auth, ref=ref).asked_id
    return {"items": aliases_of(principal=request.auth, entity_id=asked, valid_at=valid_at, known_at=known_at)}


@router.post("/entities/{ref}/aliases", response=OperationResult, summary="Give an entity another name")
def add_alias(
    request: ApiRequest, ref: str, payload: AliasIn, idempotency_key: IdempotencyKey, write_scope: WriteScope
) -> OperationResult:
    """One name may be several entities', at the same time or one after the other. What an agent names waits."""
    entity = get_entity(principal=request.auth, ref=ref)
    with inputs.single_operation():
        return aliases.add_alias(
            principal=request.auth,
            entity_id=entity.id,
            scope_ref=chosen_scope(request.auth, write_scope) or request.auth.default_scope,
            run_id=idempotency_key,
            **payload.model_dump(),
        )


@router.delete("/aliases/{alias_id}", response=EndedOut, summary="End another name")
def end_alias(request: ApiRequest, alias_id: UUID, filters: Query[EndAliasIn]) -> dict[str, Any]:
    """From now on, or since `at`, it means this entity no longer. What it was bound to before stays bound."""
    at = parse_bound(filters.at, zone=request.auth.zone, field="at") if filters.at is not None else None
    left = aliases.end_alias(
        principal=request.auth, alias_id=alias_id, mode=filters.mode, at=at.at if at is not None else None
    )
    return {"left": left}
