"""The lower steps of the ladder: entities whose name is spelt otherwise, looks alike, or is close in meaning."""

from __future__ import annotations

from collections.abc import Iterator

from gedaechtnis.common import clock
from gedaechtnis.common.text import search_keys
from gedaechtnis.memory.resolution.plausibility import is_plausible
from gedaechtnis.memory.selectors import names
from gedaechtnis.memory.selectors.recall import nearest
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.selectors.recall.meaning import Asked
from gedaechtnis.scoping.context import current_scope
from gedaechtnis.world.models import Entity, Projection

SURE = 0.6
"""From this share of common trigrams on two names are alike."""

CLOSE = 0.6
"""From this similarity on a name and the card of an entity are close in meaning; unrelated ones stay below 0.4."""

_LOOKED_AT = 20
_SPELT_OTHERWISE = 2
"""Search ranks below this the names that are one of the keys asked for."""


def spelt_otherwise(name: str, kind: str | None) -> list[Entity]:
    """Whose name or alias is this one in another spelling (umlauts, possessives)."""
    found = _places(name, kind)
    return _plausible(name, [place for place in found if place.tier is not None and place.tier < _SPELT_OTHERWISE])


def alike(name: str, kind: str | None) -> list[Entity]:
    """Whose name or alias looks alike, the likest first."""
    found = _places(name, kind)
    shares = names.likeness(found, search_keys(name))
    sure = [place for place in found if shares[place.id] >= SURE]
    return _plausible(name, sorted(sure, key=lambda place: -shares[place.id]))


def close_in_meaning(asked: Asked, name: str, kind: str | None) -> list[Entity]:
    """Whose card is close in meaning to the name as the embedding model sees it, and whose own name could be it."""
    seen = current_scope()
    if seen is None:
        return []
    cards = Filters(
        ticks=dict.fromkeys(seen.read, clock.now()),
        source_kinds=(Projection.Source.ENTITY,),
        kinds=(kind,) if kind else (),
    )
    found = nearest.nearest(asked.vector, asked.model, cards, _LOOKED_AT)
    sources = dict(Projection.objects.filter(pk__in=[id for id, _near in found]).values_list("pk", "source_id"))
    close = [sources[id] for id, near in found if near >= CLOSE and id in sources]
    entities = Entity.objects.filter(status=Entity.Status.ACTIVE).in_bulk(close)
    return [entities[id] for id in close if id in entities and is_plausible(name, entities[id].canonical_name)]


def _places(name: str, kind: str | None) -> list[names.Place]:
    return names.find(search_keys(name), status=Entity.Status.ACTIVE, kind=kind, limit=_LOOKED_AT)


def _plausible(name: str, places: list[names.Place]) -> list[Entity]:
    entities = Entity.objects.in_bulk([place.id for place in places])
    return [entities[place.id] for place in places if place.id in entities and _fits(name, entities[place.id], place)]


def _fits(name: str, entity: Entity, place: names.Place) -> bool:
    """Search keys are folded, so the name it was found by is compared in each way in which the asked one is."""
    spellings: Iterator[str] = (key for key in (name, *search_keys(name)))
    return any(is_plausible(spelling, known) for spelling in spellings for known in (entity.canonical_name, place.key))
