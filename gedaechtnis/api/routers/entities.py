"""Things of the world, what is known about them."""

from __future__ import annotations

from ninja import Query, Router

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.paging import page_of
from gedaechtnis.api.schemas.common import PageIn
from gedaechtnis.api.schemas.entities import (
    EntitiesIn,
    EntityOut,
    EntityPage,
    NeighborsIn,
    NeighborsOut,
    TimelineOut,
)
from gedaechtnis.api.schemas.facts import ChangePage, EntityFactsIn, FactPage, FactsOut, HistoryIn
from gedaechtnis.memory.answers import Change, EntityView, FactsAnswer, FactView, NeighborsAnswer, Page, Timeline
from gedaechtnis.memory.selectors import asof, changes, entities, relations

router = Router(tags=["entities"])


@router.get("/entities", response=EntityPage, summary="Find entities")
def list_entities(request: ApiRequest, filters: Query[EntitiesIn]) -> Page[EntityView]:
    """By name; with `q` those whose name or alias contains it."""
    inputs.check_kind(filters.kind)
    return entities.search_entities(principal=request.auth, **filters.model_dump())


@router.get("/entities/{ref}", response=EntityOut, summary="One entity")
def get_entity(request: ApiRequest, ref: str) -> EntityView:
    """`ref` is a UUID, `kind:slug` or `me`. Missing and foreign ones answer alike."""
    return entities.get_entity(principal=request.auth, ref=ref)


@router.get("/entities/{ref}/facts", response=FactsOut, summary="What holds about an entity")
def list_entity_facts(request: ApiRequest, ref: str, filters: Query[EntityFactsIn]) -> FactsAnswer:
    """At a moment, on both axes of time; or, with `valid_from` and `valid_to`, all that touches the range.

    `bounds=clamped` trims to the range; `beliefs=all` adds what is no longer believed.
    """
    valid_at, known_at = inputs.moment_of(filters, principal=request.auth)
    between = inputs.range_of(filters, principal=request.auth)
    entity = entities.get_entity(principal=request.auth, ref=ref)
    return asof.entity_facts(
        principal=request.auth,
        entity_id=entity.asked_id,
        valid_at=valid_at,
        known_at=known_at,
        predicate=filters.predicate,
        applies_to=inputs.context_of(filters.applies_to, principal=request.auth),
        valid_from=between[0] if between else None,
        valid_to=between[1] if between else None,
        clamped=filters.bounds == "clamped",
        beliefs=filters.beliefs,
    )


@router.get("/entities/{ref}/history", response=FactPage, summary="Everything that held about an entity")
def list_entity_history(request: ApiRequest, ref: str, filters: Query[HistoryIn]) -> Page[FactView]:
    """By predicate and `valid_from`; `beliefs=all` adds what is no longer believed, in order of belief."""
    entity = entities.get_entity(principal=request.auth, ref=ref)
    rows = asof.history(principal=request.auth, entity_id=entity.asked_id, predicate=filters.predicate, beliefs="all")
    return page_of(
        rows,
        cursor=filters.cursor,
        limit=filters.limit,
        shown=lambda row: filters.beliefs == "all" or row.superseded_at is None,
    )


@router.get("/entities/{ref}/neighbors", response=NeighborsOut, summary="What is around an entity")
def list_neighbors(request: ApiRequest, ref: str, filters: Query[NeighborsIn]) -> NeighborsAnswer:
    """At a moment, as far as relationships lead in `depth` steps, in either direction; with these relationships."""
    valid_at, known_at = inputs.moment_of(filters, principal=request.auth)
    entity = entities.get_entity(principal=request.auth, ref=ref)
    return relations.neighbors(
        principal=request.auth,
        entity_id=entity.asked_id,
        depth=filters.depth,
        predicate=filters.predicate,
        valid_at=valid_at,
        known_at=known_at,
    )


@router.get("/entities/{ref}/timeline", response=TimelineOut, summary="When something changed about an entity")
def get_timeline(request: ApiRequest, ref: str) -> Timeline:
    """The instants on both axes that are worth asking for, each with the number of changes."""
    entity = entities.get_entity(principal=request.auth, ref=ref)
    return asof.timeline(principal=request.auth, entity_id=entity.asked_id)


@router.get("/entities/{ref}/changes", response=ChangePage, summary="Which beliefs about an entity came and went")
def list_changes(request: ApiRequest, ref: str, filters: Query[PageIn]) -> Page[Change]:
    """In the order of system time, the latest first; as subject or as object."""
    entity = entities.get_entity(principal=request.auth, ref=ref)
    rows = changes.changes(principal=request.auth, entity_id=entity.asked_id)
    return page_of(rows, cursor=filters.cursor, limit=filters.limit)
