"""The words of the graph: kinds, predicates, event types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninja import Router

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.vocabulary import EventTypeList, KindList, PredicateList
from gedaechtnis.registry.catalogue import catalogue

router = Router(tags=["vocabulary"])


@router.get("/kinds", response=KindList, summary="Kinds of entities")
def list_kinds(request: ApiRequest) -> dict[str, Any]:
    """Labels and descriptions come in the language of the request."""
    return _sorted(catalogue().kinds)


@router.get("/predicates", response=PredicateList, summary="Predicates")
def list_predicates(request: ApiRequest) -> dict[str, Any]:
    """What can be said, how many values hold at a time, and what subjects and objects may be."""
    return _sorted(catalogue().predicates)


@router.get("/event-types", response=EventTypeList, summary="Types of events")
def list_event_types(request: ApiRequest) -> dict[str, Any]:
    """What a `record_event` operation may name."""
    return _sorted(catalogue().event_types)


def _sorted(terms: Mapping[str, Any]) -> dict[str, Any]:
    return {"items": [terms[key] for key in sorted(terms)]}
