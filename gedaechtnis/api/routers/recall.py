"""Recall: finding again what is remembered, and what an agent should know before it begins."""

from __future__ import annotations

from ninja import Router

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.recall import ContextIn, ContextOut, SearchIn, SearchOut
from gedaechtnis.knowledge import domains
from gedaechtnis.knowledge.briefing import Briefing, brief
from gedaechtnis.memory import usage
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchAnswer, SearchQuery

router = Router(tags=["recall"])


@router.post("/context", response=ContextOut, summary="What to know before a run")
def build_context(request: ApiRequest, body: ContextIn) -> Briefing:
    """The rules in force, the agent's notes, and the facts that bear on a message, as one text for a prompt.

    "" where nothing is known. Where the database fails meanwhile, it is what was read until then: memory never breaks
    a run. A run without its rules is told so, in the text and by `policies_read`.
    """
    valid_at, known_at = inputs.moment_of(body, principal=request.auth)
    return brief(
        principal=request.auth,
        text=body.text,
        repo=body.repo,
        chat_id=body.chat_id,
        applies_to=body.applies_to,
        task=body.task,
        budget_tokens=body.budget_tokens,
        valid_at=valid_at,
        known_at=known_at,
    )


@router.post("/search", response=SearchOut, summary="Search in facts, entities and conversations")
def search_world(request: ApiRequest, body: SearchIn) -> SearchAnswer:
    """What a question finds, by its words, its meaning, the times it names and how things hang together.

    Everything is read from the graph at the moment asked about before it is told.
    """
    principal = request.auth
    valid_at, known_at = inputs.moment_of(body, principal=principal)
    answer = search.search(
        principal=principal,
        query=SearchQuery(
            text=body.query,
            mode=body.mode,
            kinds=tuple(body.kinds),
            source_kinds=tuple(body.source_kinds),
            chat=inputs.chat_of(body.chat, principal=principal),
            predicate=body.predicate,
            repo=domains.parse_repo(body.repo) if body.repo else None,
            time_range=inputs.time_range_of(body.time_range, principal=principal),
            valid_at=valid_at,
            known_at=known_at,
            limit=body.limit,
            cursor=body.cursor,
        ),
    )
    usage.told((hit.scope_ref, hit.fact_id) for hit in answer.hits if hit.fact_id)
    return answer
