"""What a name means."""

from __future__ import annotations

from ninja import Query, Router

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.resolve import ResolvedOut, ResolveIn
from gedaechtnis.memory import resolution

router = Router(tags=["identity"])


@router.get("/resolve", response=ResolvedOut, summary="What a name means")
def resolve(request: ApiRequest, filters: Query[ResolveIn]) -> resolution.ResolvedEntity:
    """By reference, exact name or alias; else the one thing whose name is spelt otherwise or looks alike.

    `step` says which. Several exact bearers need an answer to `question`; what only resembles is listed.
    """
    inputs.check_kind(filters.kind)
    return resolution.resolve(principal=request.auth, name=filters.ref, kind=filters.kind)
