"""Finding the entity that a reference means. Binding is exact: doubtful identity is never guessed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.common.text import fold_space, name_key
from gedaechtnis.identity.principals import GLOBAL_SCOPE
from gedaechtnis.memory.schemas import Operation
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.world.models import Entity, EntityAlias

FIELDS = ("subject_ref", "object_ref", "applies_to_ref", "entity_ref")
"""The fields in which an operation names the entities it is about."""

SELF_REFS = frozenset({"me", "person:me"})

FIRST_PERSON = frozenset({"me", "i", "myself", "ich", "mich", "mir", "ich selbst"})
"""Name keys by which people speak of themselves."""


def named_by(op: Operation) -> list[str]:
    """The entities an operation is about, as it refers to them."""
    said = vars(op)
    return [ref for name in FIELDS if (ref := said.get(name))]


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def split_ref(ref: str) -> tuple[str, str] | None:
    """(`kind`, `slug`) of `kind:slug`; a kind may hold colons, so the last one splits."""
    kind, colon, slug = ref.rpartition(":")
    return (kind, slug) if colon and kind and slug else None


def is_reference(text: str) -> bool:
    """Whether something can be known under `text`; `08:00` reads like a reference, but of no kind."""
    named = split_ref(text)
    return text in SELF_REFS or as_uuid(text) is not None or (named is not None and named[0] in catalogue().kinds)


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


KEYED = frozenset({"domain"})
"""Kinds whose names are keys: told apart letter by letter, and each scope has its own."""


def keyed() -> str:
    """Why none of these is given another name: rows stand under it."""
    return _("What a domain is called is its key: it is neither renamed nor merged.")


class Finder(Protocol):
    """Where entities are looked for by what names them exactly. Merged ones have no names of their own any more."""

    def by_id(self, id: UUID) -> Entity | None: ...

    def by_slug(self, kind: str, slug: str) -> list[Entity]: ...

    def by_key(self, key: str) -> list[Entity]:
        """Those whose own name has this key."""
        ...

    def by_alias(self, key: str, at: datetime) -> list[Entity]:
        """Those that bear another name of this key at an instant."""
        ...

    def self_of(self, scope_ref: str) -> Entity | None:
        """The entity that stands for the person whose scope it is."""
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """The tables, in some of the scopes that are open for reading."""

    scopes: Sequence[str]

    def by_id(self, id: UUID) -> Entity | None:
        return self.entities.filter(pk=id).first()

    def by_slug(self, kind: str, slug: str) -> list[Entity]:
        return list(self.entities.filter(kind=kind, slug=slug))

    def by_key(self, key: str) -> list[Entity]:
        return list(self.named.filter(name_key=key))

    def by_alias(self, key: str, at: datetime) -> list[Entity]:
        return list(self.named.filter(pk__in=bearers([key]).filter(borne_at(at)).values("entity_id")))

    def self_of(self, scope_ref: str) -> Entity | None:
        return Entity.objects.filter(is_self=True, scope_ref=scope_ref).first()

    @property
    def entities(self) -> QuerySet[Entity]:
        return Entity.objects.filter(scope_ref__in=self.scopes)

    @property
    def named(self) -> QuerySet[Entity]:
        return self.entities.exclude(status=Entity.Status.MERGED)


def bearers(keys: Collection[str]) -> QuerySet[EntityAlias]:
    """The aliases of these keys, whenever they hold, as believed today."""
    return EntityAlias.objects.filter(key__in=keys, superseded_at=None)


def borne_at(at: datetime) -> Q:
    """Aliases that hold at an instant."""
    return Q(valid_from__lte=at) & (Q(valid_to=None) | Q(valid_to__gt=at))


def find(ref: str, *, scopes: Sequence[str], field: str | None = None) -> Entity:
    """The entity behind a UUID, a `kind:slug` or `me`; of a merged one, what it was merged into.

    Raises:
        NotFound: missing and unreadable alike.
    """
    return found_of(ref, scopes=scopes, field=field)[1]


def found_of(ref: str, *, scopes: Sequence[str], field: str | None = None) -> tuple[Entity, Entity]:
    """The entity that a reference names, and the one it is now; two where it was merged. Raises as `find`."""
    finder = Stored(scopes)
    named = _exactly(ref, scopes, finder)
    found = survivor(named, finder)
    if named is None or found is None:
        raise not_found(ref, field)
    return named, found


def look_up(ref: str, *, scopes: Sequence[str], among: Finder | None = None) -> Entity | None:
    """As `find`, with None for nothing. `among` may hold more than is stored yet."""
    finder = among or Stored(scopes)
    return survivor(_exactly(ref, scopes, finder), finder)


def _exactly(ref: str, scopes: Sequence[str], finder: Finder) -> Entity | None:
    if ref in SELF_REFS:
        return finder.self_of(scopes[0])
    if (id := as_uuid(ref)) is not None:
        return finder.by_id(id)
    parts = split_ref(ref)
    return None if parts is None else _nearest(finder.by_slug(*parts), scopes)


def survivor(entity: Entity | None, finder: Finder) -> Entity | None:
    """What an entity was merged into, however often; itself if it was not."""
    while entity is not None and entity.status == Entity.Status.MERGED and entity.merged_into_id is not None:
        entity = finder.by_id(entity.merged_into_id)
    return entity


class AmbiguousReference(Problem):
    """A name that several entities bear: which of them is meant, only a person can say."""

    def __init__(self, name: str, entities: Iterable[Entity], field: str | None) -> None:
        self.name = name
        self.entities = sorted(entities, key=lambda entity: (entity.ref, entity.pk))[:_CANDIDATES]
        refs = [entity.ref for entity in self.entities]
        super().__init__(
            "ambiguous_reference",
            _("“%(name)s” could be several: %(refs)s. Which one?") % {"name": name[:80], "refs": ", ".join(refs)},
            409,
            field,
            {"candidates": refs},
        )


_CANDIDATES = 20


def by_name(
    name: str,
    *,
    scopes: Sequence[str],
    kinds: Collection[str] = (),
    at: datetime | None = None,
    field: str | None = None,
    among: Finder | None = None,
) -> Entity | None:
    """The one entity that a name means exactly (`bearing`); None if there is none.

    What is `KEYED` has the name letter by letter, in the first scope.

    Raises:
        AmbiguousReference: several bear it.
    """
    if kinds and KEYED.issuperset(kinds):
        same = (
            one for one in (among or Stored(scopes)).by_key(name_key(name)) if one.canonical_name == fold_space(name)
        )
        return next((one for one in same if one.kind in kinds and one.scope_ref == scopes[0]), None)
    found = bearing(name, scopes=scopes, kinds=kinds, at=at, among=among)
    if len(found) > 1:
        raise AmbiguousReference(name, found, field)
    return found[0] if found else None


def bearing(
    name: str,
    *,
    scopes: Sequence[str],
    kinds: Collection[str] = (),
    at: datetime | None = None,
    among: Finder | None = None,
) -> list[Entity]:
    """Who bears a name or alias at an instant (now by default), in the nearest scope that has any.

    Equal name keys are the same name; an exact canonical name beats an alias. Whoever says “I” means the person whose
    scope it is. `kinds`: only those, if any are given.
    """
    key = name_key(name)
    finder = among or Stored(scopes)
    if key in FIRST_PERSON and (not kinds or "person" in kinds) and (own := finder.self_of(scopes[0])):
        return [own]
    moment = at or clock.now()
    for find in (finder.by_key, lambda key: finder.by_alias(key, moment)) if key else ():
        found = find(key)
        for scope_ref in scopes:
            here = [entity for entity in found if entity.scope_ref == scope_ref and (not kinds or entity.kind in kinds)]
            if here:
                return list({entity.pk: entity for entity in here}.values())
    return []


def _nearest(candidates: Iterable[Entity], scopes: Sequence[str]) -> Entity | None:
    by_scope = {entity.scope_ref: entity for entity in candidates}
    return next((by_scope[scope_ref] for scope_ref in scopes if scope_ref in by_scope), None)
