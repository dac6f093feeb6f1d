"""What agents of a role may do in a domain."""

from __future__ import annotations

from typing import Any

from ninja import Query, Router

from gedaechtnis.api.auth import ApiRequest, chosen_scope
from gedaechtnis.api.schemas.common import WriteScope
from gedaechtnis.api.schemas.grants import GrantIn, GrantsOut, SetGrantOut, WorkspaceIn
from gedaechtnis.knowledge import grants

router = Router(tags=["knowledge"])


@router.get("/grants", response=GrantsOut, summary="What agents may do in which domain")
def list_grants(request: ApiRequest, filters: Query[WorkspaceIn]) -> dict[str, Any]:
    """Where nothing is said, every role may write."""
    return {"items": grants.list_grants(principal=request.auth, scope_ref=filters.scope_ref)}


@router.put("/grants", response=SetGrantOut, summary="Say what agents may do in a domain")
def set_grant(request: ApiRequest, payload: GrantIn, write_scope: WriteScope) -> dict[str, Any]:
    """Only a person who leads the workspace. Below `write`, agents of the role propose no rules there."""
    scope_ref = chosen_scope(request.auth, write_scope)
    return {"grant": grants.set_grant(principal=request.auth, scope_ref=scope_ref, **payload.model_dump())}
