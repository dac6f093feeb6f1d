"""What each run in a workspace is told first."""

from __future__ import annotations

from ninja import Router

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.preamble import PreambleIn, PreambleOut
from gedaechtnis.knowledge.preamble import Preamble, preamble_for_run

router = Router(tags=["knowledge"])


@router.post("/preamble", response=PreambleOut, summary="What a run is told first")
def read_preamble(request: ApiRequest, payload: PreambleIn) -> Preamble:
    """The rules in force, the agent's own notes, and at most five facts that the words of its task find.

    Where the database fails meanwhile, what was read until then; a run without its rules is told so.
    """
    return preamble_for_run(principal=request.auth, task=payload.task, repo=payload.repo, scope_ref=payload.scope_ref)
