"""Two that are one, one that is two, and taking back what happened."""

from __future__ import annotations

from uuid import UUID

from ninja import Query, Router

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.common import PageIn
from gedaechtnis.api.schemas.conflicts import ConflictOut, ConflictPage, Settlement
from gedaechtnis.api.schemas.entities import (
    MergeOut,
    OptionalMerge,
    OptionalSplit,
    OptionalUndo,
    SplitOut,
    UndoOut,
)
from gedaechtnis.memory.answers import ConflictsAnswer, ConflictView
from gedaechtnis.memory.selectors import conflicts, entities
from gedaechtnis.memory.services import conflicts as settling
from gedaechtnis.memory.services import merges, splits, undo

router = Router(tags=["identity"])


@router.post("/entities/{ref}/merge", response=MergeOut, summary="Take one entity for another")
def merge_entity(request: ApiRequest, ref: str, into: str, payload: OptionalMerge) -> merges.MergeResult:
    """`into` is the one that stays. Both keep their past; facts that clashed are listed with what holds now."""
    source, target = (entities.get_entity(principal=request.auth, ref=name) for name in (ref, into))
    return merges.merge_entities(
        principal=request.auth, source_id=source.id, target_id=target.id, **payload.model_dump()
    )


@router.post("/entities/{ref}/split", response=SplitOut, summary="Take a merge back")
def split_entity(request: ApiRequest, ref: str, payload: OptionalSplit) -> splits.SplitResult:
    """`ref` is the one that was merged away. Facts learned since are listed with whose they seem to be."""
    asked = entities.get_entity(principal=request.auth, ref=ref)
    return splits.split_entity(
        principal=request.auth, source_id=asked.asked_id, move=payload.move, reason=payload.reason
    )


@router.post("/events/{event_id}/undo", response=UndoOut, summary="Take back what an event did")
def undo_event(request: ApiRequest, event_id: UUID, payload: OptionalUndo) -> undo.UndoResult:
    """What it closed is believed again, what it wrote no longer. Undo the undoing to have it back."""
    return undo.undo_event(principal=request.auth, event_id=event_id, reason=payload.reason)


@router.get("/conflicts", response=ConflictPage, summary="Facts that contradict each other")
def list_conflicts(request: ApiRequest, filters: Query[PageIn]) -> ConflictsAnswer:
    """Statements that were written although another one contradicts them, the latest first, with both sides."""
    return conflicts.list_conflicts(principal=request.auth, cursor=filters.cursor, limit=filters.limit)


@router.post("/conflicts/{conflict_id}/settle", response=ConflictOut, summary="Say which of two statements holds")
def settle_conflict(request: ApiRequest, conflict_id: UUID, payload: Settlement) -> ConflictView:
    """What goes is closed and stays in the history; `both` are not held against each other again.

    Once: 409 `already_settled`, and 409 `stale` if one of them is believed no longer.
    """
    return settling.settle(principal=request.auth, conflict_id=conflict_id, keep=payload.keep, reason=payload.reason)
