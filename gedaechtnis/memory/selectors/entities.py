"""Entities: listing, finding by name, counting."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text, search_keys
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import EntityView, Page
from gedaechtnis.memory.selectors import names, views
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, EntityAlias, Fact

MAX_PAGE = 200


@dataclass(frozen=True, slots=True)
class Totals:
    """How much is remembered, as far as this principal may see."""

    entities: int
    facts: int
    last_learned_at: datetime | None


def search_entities(
    *,
    principal: Principal,
    q: str = "",
    kind: str | None = None,
    status: str = Entity.Status.ACTIVE,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[EntityView]:
    """Entities that have or resemble a name, the best fit first; all of them, by name, for an empty `q`.

    A name or alias fits by being it, beginning with it, holding it (from three characters on anywhere,
    below that where a word begins), or being alike (a typo).

    Raises:
        Problem: `invalid_text`, `invalid_cursor`, `invalid_limit`.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise Problem(
            "invalid_limit",
            _("The limit must be between 1 and %(max)s.") % {"max": MAX_PAGE},
            field="limit",
        )
    check_text(q, field="q", limit=500)
    check_text(kind or "", field="kind", limit=100)
    with scope(principal):
        if q.strip():
            return _named_like(q, kind=kind, status=status, cursor=cursor, limit=limit)
        rows = Entity.objects.filter(status=status)
        if kind:
            rows = rows.filter(kind=kind)
        if cursor:
            after = _read_cursor(cursor, searching=False)
            rows = rows.filter(Q(name_key__gt=after.key) | Q(name_key=after.key, id__gt=after.id))
        found = _first_by_name(rows, principal.read_scopes, limit + 1)
        page = found[:limit]
        more = _cursor(names.Place(None, page[-1].name_key, page[-1].pk)) if len(found) > limit else None
        return Page(items=entity_views(page), cursor=more)


def _first_by_name(rows: QuerySet[Entity], scopes: Sequence[str], limit: int) -> list[Entity]:
    """The first of each scope, which the index yields in order, and of these the first: large scopes are not sorted."""
    ordered = ("name_key", "id")
    first, *others = [rows.filter(scope_ref=ref).order_by(*ordered)[:limit] for ref in scopes]
    return list(first.union(*others, all=True).order_by(*ordered)[:limit] if others else first)


def _named_like(q: str, *, kind: str | None, status: str, cursor: str | None, limit: int) -> Page[EntityView]:
    after = _read_cursor(cursor, searching=True) if cursor else None
    found = names.find(search_keys(q), kind=kind, status=status, after=after, limit=limit + 1)
    # Read once more under the policies, whichever way the names were found.
    entities = Entity.objects.in_bulk([place.id for place in found[:limit]])
    page = [entities[place.id] for place in found[:limit] if place.id in entities]
    more = _cursor(found[limit - 1]) if len(found) > limit else None
    return Page(items=entity_views(page), cursor=more)


def recently_learned(*, principal: Principal, limit: int = 5) -> tuple[EntityView, ...]:
    """The entities about which something was learned last, the latest first."""
    with scope(principal):
        latest = (
            Fact.objects.believed()
            .values("subject_id")
            .annotate(last=Max("recorded_at"))
            .order_by("-last", "subject_id")
        )
        order = [row["subject_id"] for row in latest[:limit]]
        found = {entity.pk: entity for entity in Entity.objects.filter(pk__in=order)}
        return entity_views([found[id] for id in order if id in found])


def get_entity(*, principal: Principal, ref: str) -> EntityView:
    """The entity behind a UUID, `kind:slug` or `me`.

    Raises:
        NotFound: missing and foreign alike.
    """
    check_text(ref, field="ref", limit=500)
    with scope(principal):
        named, found = references.found_of(ref, scopes=principal.read_scopes)
        return replace(entity_views([found])[0], redirected_from=named.pk if named != found else None)


def kind_counts(*, principal: Principal) -> list[tuple[str, str, int]]:
    """(key, label, number) of each kind that occurs, by label."""
    with scope(principal):
        counted = (
            Entity.objects.filter(status=Entity.Status.ACTIVE).values("kind").annotate(n=Count("id")).order_by("kind")
        )
        terms = catalogue()
        return sorted(((row["kind"], terms.kind_label(row["kind"]), row["n"]) for row in counted), key=lambda r: r[1])


def totals(*, principal: Principal) -> Totals:
    """Numbers for the page's footer."""
    with scope(principal):
        facts = Fact.objects.believed().aggregate(n=Count("id"), last=Max("recorded_at"))
        entities = Entity.objects.filter(status=Entity.Status.ACTIVE).count()
    return Totals(entities=entities, facts=facts["n"], last_learned_at=facts["last"])


def entity_views(entities: Sequence[Entity]) -> tuple[EntityView, ...]:
    """Entities of the open scope with their names of today and how much is known about them."""
    ids = [entity.pk for entity in entities]
    now = clock.now()
    aliases: dict[UUID, list[str]] = {}
    for alias in EntityAlias.objects.filter(
        Q(valid_to=None) | Q(valid_to__gt=now), entity_id__in=ids, superseded_at=None
    ).order_by("alias"):
        aliases.setdefault(alias.entity_id, []).append(alias.alias)
    facts: dict[UUID, tuple[int, datetime]] = {
        row["subject_id"]: (row["n"], row["last"])
        for row in Fact.objects.believed()
        .filter(subject_id__in=ids)
        .values("subject_id")
        .annotate(n=Count("id"), last=Max("recorded_at"))
    }
    return tuple(
        views.entity_view(
            entity,
            aliases=aliases.get(entity.pk, ()),
            fact_count=facts[entity.pk][0] if entity.pk in facts else 0,
            last=facts[entity.pk][1] if entity.pk in facts else None,
        )
        for entity in entities
    )


def _cursor(last: names.Place) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.tier, last.key, str(last.id)]).encode()).decode()


def _read_cursor(cursor: str, *, searching: bool) -> names.Place:
    """A search is ranked and a list is not, so neither reads the marker of the other."""
    try:
        tier, key, id = json.loads(base64.urlsafe_b64decode(cursor))
        if (tier in range(names.TIERS)) if searching else (tier is None):
            return names.Place(tier=tier, key=check_text(key, field="cursor"), id=UUID(id))
    except (ValueError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
        raise Problem("invalid_cursor", _("This page marker cannot be read."), field="cursor") from error
    raise Problem("invalid_cursor", _("This page marker cannot be read."), field="cursor")
