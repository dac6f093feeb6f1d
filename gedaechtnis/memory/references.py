"""Finding the entity that a reference means. Binding is exact: doubtful identity is never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.common.text import name_key
from gedaechtnis.identity.principals import GLOBAL_SCOPE
from gedaechtnis.memory.schemas import Operation
from gedaechtnis.world.models import Entity, EntityAlias

FIELDS = ("subject_ref", "object_ref", "applies_to_ref", "entity_ref")
"""The fields in which an operation names the entities it is about."""

SELF_REFS = frozenset({"me", "person:me"})


def named_by(op: Operation) -> list[str]:
    """The entities an operation is about, as it refers to them."""
    return [ref for name in FIELDS if (ref := getattr(op, name, None))]


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def split_ref(ref: str) -> tuple[str, str] | None:
    """(`kind`, `slug`) of `kind:slug`; a kind may hold colons, so the last one splits."""
    kind, colon, slug = ref.rpartition(":")
    return (kind, slug) if colon and kind and slug else None


def not_found(ref: str, field: str | None = None) -> NotFound:
    return NotFound(_("Nothing is known under “%(ref)s”.") % {"ref": ref[:80]}, field=field)


def in_order(scopes: Sequence[str], write: str | None) -> list[str]:
    """Where to look first: the write scope, then own, group, org, global (the order of `scopes`)."""
    return [write, *(ref for ref in scopes if ref != write)] if write else list(scopes)


def reach(scope_ref: str, *, org_id: UUID | None, readable: Sequence[str]) -> list[str]:
    """Where the references of a row in that scope (of an org, or of none) lead, nearest first.

    A row names only what every reader of its scope reads: for a person's own rows that is all they read; for shared
    ones neither their own things nor other groups'.
    """
    if not scope_ref.startswith("user:"):
        readable = [ref for ref in readable if ref in (GLOBAL_SCOPE, f"org:{org_id}")]
    return in_order(readable, scope_ref)


def find(ref: str, *, scopes: Sequence[str], field: str | None = None) -> Entity:
    """The entity behind a UUID, a `kind:slug` or `me`.

    Raises:
        NotFound: missing and unreadable alike.
    """
    found = look_up(ref, scopes=scopes)
    if found is None:
        raise not_found(ref, field)
    return found


def look_up(ref: str, *, scopes: Sequence[str]) -> Entity | None:
    """As `find`, with None for nothing."""
    if ref in SELF_REFS:
        return Entity.objects.filter(is_self=True, scope_ref=scopes[0]).first()
    if (id := as_uuid(ref)) is not None:
        return Entity.objects.filter(pk=id, scope_ref__in=scopes).first()
    parts = split_ref(ref)
    if parts is None:
        return None
    kind, slug = parts
    return _nearest(Entity.objects.filter(kind=kind, slug=slug), scopes)


def by_name(name: str, *, scopes: Sequence[str], kind: str | None = None, field: str | None = None) -> Entity | None:
    """The one entity of that name or alias in the nearest scope that has any; None if there is none.

    Equal name keys are the same name; an exact canonical name beats an alias.

    Raises:
        Problem: `ambiguous_reference` (with the candidates) when several bear it.
    """
    key = name_key(name)
    if not key:
        return None
    wanted = Q(scope_ref__in=scopes, kind=kind) if kind else Q(scope_ref__in=scopes)
    named = list(Entity.objects.filter(wanted, name_key=key).exclude(status=Entity.Status.MERGED)[:20])
    if not named:
        now = clock.now()
        bearers = EntityAlias.objects.filter(
            Q(valid_to=None) | Q(valid_to__gt=now), key=key, superseded_at=None, valid_from__lte=now
        ).values("entity_id")
        named = list(Entity.objects.filter(wanted, pk__in=bearers).exclude(status=Entity.Status.MERGED)[:20])
    for scope_ref in scopes:
        here = [entity for entity in named if entity.scope_ref == scope_ref]
        if len(here) > 1:
            raise Problem(
                "ambiguous_reference",
                _("“%(name)s” could be several: %(refs)s. Which one?")
                % {"name": name[:80], "refs": ", ".join(sorted(entity.ref for entity in here))},
                409,
                field,
                {"candidates": sorted(entity.ref for entity in here)},
            )
        if here:
            return here[0]
    return None


def _nearest(candidates: Iterable[Entity], scopes: Sequence[str]) -> Entity | None:
    by_scope = {entity.scope_ref: entity for entity in candidates}
    return next((by_scope[scope_ref] for scope_ref in scopes if scope_ref in by_scope), None)
