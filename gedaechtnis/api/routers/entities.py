"""Things of the world, what is known about them, and what a name means."""

from __future__ import annotations

from ninja import Query, Router

from gedaechtnis.api import inputs
from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.paging import page_of
from gedaechtnis.api.schemas.entities import EntitiesIn, EntityOut, EntityPage, ResolvedOut, ResolveIn
from gedaechtnis.api.schemas.facts import EntityFactsIn, FactPage, FactsOut, HistoryIn
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import EntityView, FactsAnswer, FactView, Page
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.scoping.context import scope

router = Router(tags=["entities"])

_MAX_CANDIDATES = 20


@router.get("/entities", response=EntityPage, summary="Find entities")
def list_entities(request: ApiRequest, filters: Query[EntitiesIn]) -> Page[EntityView]:
    """By name; with `q` those whose name or alias contains it."""
    _check_kind(filters.kind)
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


@router.get("/resolve", response=ResolvedOut, summary="What a name means")
def resolve(request: ApiRequest, filters: Query[ResolveIn]) -> ResolvedOut:
    """By reference, else by exact name or alias. Several bearers need a question; what sounds alike is only listed."""
    _check_kind(filters.kind)
    name, kind, principal = filters.ref, filters.kind, request.auth
    try:
        with scope(principal):
            by_ref = references.look_up(name, scopes=principal.read_scopes)
            if by_ref is not None and kind in {None, by_ref.kind}:
                return ResolvedOut(
                    name=by_ref.canonical_name, kind=by_ref.kind, entity_id=by_ref.pk, ref=by_ref.ref, is_reference=True
                )
            named = references.by_name(name, scopes=principal.read_scopes, kind=kind, field="ref")
    except Problem as problem:
        if problem.code != "ambiguous_reference":
            raise
        meant = [entities.get_entity(principal=principal, ref=ref) for ref in problem.extra["candidates"]]
        return ResolvedOut(
            name=name, kind=kind, needs_clarification=True, question=problem.detail, candidates=_shown(meant)
        )
    if named is not None:
        return ResolvedOut(name=named.canonical_name, kind=named.kind, entity_id=named.pk, ref=named.ref)
    return ResolvedOut(name=name, kind=kind, is_new=True, candidates=_shown(_alike(principal, name, kind)))


def _alike(principal: Principal, name: str, kind: str | None) -> tuple[EntityView, ...]:
    return entities.search_entities(principal=principal, q=name, kind=kind, limit=_MAX_CANDIDATES).items


def _shown(views: list[EntityView] | tuple[EntityView, ...]) -> list[EntityOut]:
    return [EntityOut.model_validate(view) for view in views]


def _check_kind(kind: str | None) -> None:
    """A filter by a kind that nobody registered is a typo; a deprecated one still has entities."""
    if kind is not None and kind not in catalogue().kinds:
        catalogue().kind(kind)
