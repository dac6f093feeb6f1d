"""Telling namesakes apart by something that is known of each: “Julia from Nürnberg or Julia from Augsburg?”"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import moments
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.selectors.moments import settle
from gedaechtnis.memory.selectors.views import fact_views
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.world.models import Entity, Fact

_TELLING = (
    "lives_in", "species", "owned_by", "works_at", "located_in", "part_of", "member_of", "job_title", "breed",
    "partner_of", "married_to", "born_on", "age", "colour",
)  # fmt: skip
"""Predicates by which people tell others apart, the most usual first; any other comes after."""


def labels(entities: Sequence[Entity], *, principal: Principal) -> list[str]:
    """A few words for each of several entities that tell them apart, as far as the principal knows. In an open scope.

    Their names if these differ; else the most telling thing that is known of all of them, or of all but one.
    """
    return next(told for told in _ways_to_tell(entities, principal) if len(set(told)) == len(entities))


def question(told: Sequence[str]) -> str:
    """Which of them is meant, from their labels."""
    return _("%(others)s or %(last)s?") % {"others": ", ".join(told[:-1]), "last": told[-1]}


def _ways_to_tell(entities: Sequence[Entity], principal: Principal) -> Iterator[list[str]]:
    yield [entity.canonical_name for entity in entities]
    known = _known(entities, principal)
    usual = [predicate for predicate in _TELLING if predicate in known]
    predicates = [*usual, *sorted(known.keys() - set(usual))]
    for unknown in (0, 1):
        for predicate in predicates:
            values = known[predicate]
            if len(values) == len(entities) - unknown:
                yield [_told(entity, predicate, values.get(entity.pk)) for entity in entities]
    kind_label = catalogue().kind_label
    yield [f"{entity.canonical_name} ({kind_label(entity.kind)})" for entity in entities]
    yield [f"{entity.canonical_name} ({entity.ref})" for entity in entities]
    yield [str(entity.pk) for entity in entities]


def _known(entities: Sequence[Entity], principal: Principal) -> Mapping[str, Mapping[UUID, str]]:
    """Predicate → entity → what holds of it now; where several things do, the first."""
    moment = settle(principal=principal)
    at = moment.valid_at
    held = Fact.objects.believed().filter(
        Q(valid_to=None) | Q(valid_to__gt=at),
        subject_id__in=[entity.pk for entity in entities],
        polarity=True,
        applies_to=None,
        valid_from__lte=at,
    )
    known: dict[str, dict[UUID, str]] = {}
    for fact in fact_views(held.exclude(predicate="name").order_by("valid_from", "id"), moment):
        known.setdefault(fact.predicate, {}).setdefault(fact.subject_id, fact.object.label)
    return known


def _told(entity: Entity, predicate: str, value: str | None) -> str:
    if value is None:
        return _("%(name)s, nothing further known") % {"name": entity.canonical_name}
    words = {"name": entity.canonical_name, "value": moments.calendar(value)}
    if predicate == "lives_in":
        return _("%(name)s from %(value)s") % words
    return f"{entity.canonical_name} ({catalogue().predicate_label(predicate)} {words['value']})"
