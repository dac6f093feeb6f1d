"""Recall: what an agent should know before it begins."""

from __future__ import annotations

from ninja import Router

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.recall import ContextIn, ContextOut
from gedaechtnis.memory.selectors.context import ContextBlock, context_for_run

router = Router(tags=["recall"])


@router.post("/context", response=ContextOut, summary="What to know before a run")
def build_context(request: ApiRequest, body: ContextIn) -> ContextBlock:
    """The facts that bear on a message, as one block of text for a prompt; "" where nothing is known.

    Where the database fails meanwhile, the block is empty too: memory never breaks a run.
    """
    valid_at, known_at = inputs.moment_of(body, principal=request.auth)
    return context_for_run(
        principal=request.auth,
        text=body.text,
        chat_id=body.chat_id,
        applies_to=body.applies_to,
        task=body.task,
        budget_tokens=body.budget_tokens,
        valid_at=valid_at,
        known_at=known_at,
    )
