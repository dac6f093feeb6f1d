"""What agents keep for themselves: notes, observations, what they want remembered."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Query, Router, Status

from gedaechtnis.api.auth import ApiRequest, chosen_scope
from gedaechtnis.api.schemas.common import WriteScope
from gedaechtnis.api.schemas.notes import (
    ConsolidatedOut,
    ConsolidateIn,
    HarmonizedOut,
    HarmonizeIn,
    HotEntriesOut,
    HotEntryOut,
    HotIn,
    ListIn,
    NotesIn,
    NotesOut,
    ObservationIn,
    ObservationOut,
    ObservationsOut,
    RememberIn,
    WhoseIn,
)
from gedaechtnis.knowledge import consolidation, harmonizing, hot, pads

router = Router(tags=["knowledge"])


@router.get("/notes", response=NotesOut, summary="One's own notes")
def read_notes(request: ApiRequest, filters: Query[WhoseIn]) -> pads.Pad:
    """An agent's own; a person's own, or those of an agent of theirs. Nobody else in the workspace reads them."""
    return pads.read(principal=request.auth, scope_ref=filters.scope_ref, agent=filters.agent)


@router.put("/notes", response=NotesOut, summary="Write one's notes anew")
def update_notes(request: ApiRequest, payload: NotesIn, write_scope: WriteScope, agent: str | None = None) -> pads.Pad:
    """Where they were changed meanwhile it is 409 `version_conflict`, with the present `text` and `version`."""
    return pads.update(
        principal=request.auth,
        text=payload.text,
        based_on_version=payload.based_on_version,
        scope_ref=chosen_scope(request.auth, write_scope),
        agent=agent,
    )


@router.get("/observations", response=ObservationsOut, summary="What an agent noticed")
def list_observations(request: ApiRequest, filters: Query[ListIn]) -> dict[str, Any]:
    """The latest first."""
    found = pads.list_observations(
        principal=request.auth, scope_ref=filters.scope_ref, agent=filters.agent, limit=filters.limit
    )
    return {"items": found}


@router.post("/observations", response={201: ObservationOut}, summary="Record an observation")
def record_observation(
    request: ApiRequest, payload: ObservationIn, write_scope: WriteScope
) -> Status[pads.Observation]:
    """It never changes, is a source by its `ref`, and stands in the notes with its day."""
    scope_ref = chosen_scope(request.auth, write_scope)
    return Status(201, pads.record_observation(principal=request.auth, text=payload.text, scope_ref=scope_ref))


@router.get("/hot", response=HotEntriesOut, summary="What an agent wants remembered")
def list_hot(request: ApiRequest, filters: Query[HotIn]) -> dict[str, Any]:
    """The latest first; those about which nothing was decided yet, unless another `state` is asked for."""
    found = hot.list_hot(
        principal=request.auth,
        scope_ref=filters.scope_ref,
        agent=filters.agent,
        session_id=filters.session_id,
        states=[filters.state],
        limit=filters.limit,
    )
    return {"items": found}


@router.post("/hot", response={201: HotEntryOut}, summary="Remember something for now")
def remember(request: ApiRequest, payload: RememberIn, write_scope: WriteScope) -> Status[hot.HotEntry]:
    """For the agent alone, and believed by nobody until it is consolidated and a person agrees."""
    scope_ref = chosen_scope(request.auth, write_scope)
    return Status(201, hot.remember(principal=request.auth, scope_ref=scope_ref, **payload.model_dump()))


@router.delete("/hot/{entry_id}", response={204: None}, summary="Forget one of these")
def forget_hot(request: ApiRequest, entry_id: UUID) -> Status[None]:
    """It is erased. What was proposed of it stays."""
    hot.forget(principal=request.auth, entry_id=entry_id)
    return Status(204, None)


@router.post("/consolidate", response=ConsolidatedOut, summary="Propose what was remembered")
def consolidate(request: ApiRequest, payload: ConsolidateIn, write_scope: WriteScope) -> consolidation.Consolidated:
    """What says the same becomes one proposal; what is known or waits already none. Call again until nothing is `left`.

    Broken off at any point nothing is lost, and nothing is proposed twice.
    """
    return consolidation.consolidate(
        principal=request.auth, scope_ref=chosen_scope(request.auth, write_scope), **payload.model_dump()
    )


@router.post("/harmonize", response=HarmonizedOut, summary="Ask about beliefs that drifted apart")
def harmonize(request: ApiRequest, payload: HarmonizeIn, write_scope: WriteScope) -> harmonizing.Harmonized:
    """Statements of different agents that contradict each other in one domain and topic: each pair is asked about once.

    Nothing changes before a person says what holds.
    """
    return harmonizing.harmonize(
        principal=request.auth, scope_ref=chosen_scope(request.auth, write_scope), **payload.model_dump()
    )
