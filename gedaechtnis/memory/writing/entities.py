"""Entities: meeting new ones, giving them further names, and finding them within one proposal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text, fold_space, name_key, slugify
from gedaechtnis.memory import references
from gedaechtnis.memory.planner.intervals import FOREVER, Edge, Interval
from gedaechtnis.memory.planner.refusals import empty_interval
from gedaechtnis.memory.references import AmbiguousReference
from gedaechtnis.memory.schemas import Operation, Source, UpsertEntity
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.world.models import Entity, EntityAlias

_FALLBACK_SLUG_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """An entity that a proposal introduces but nobody has confirmed yet."""

    hint: str
    kind: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    valid_from: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "name": self.name,
            "aliases": list(self.aliases),
            "description": self.description,
            "valid_from": self.valid_from,
        }


@dataclass(kw_only=True)
class EntityBook:
    """What references mean within one proposal: its own hints first, then what is known.

    `sketches` are entities that only a waiting operation names; they are not created before a person agrees.
    `unclear` are hints for a name that several entities bear; whoever uses one needs a person's answer first.
    `meant` is what the fields of the operation under way were bound to.
    """

    session: WriteSession
    bound: dict[str, Entity] = field(default_factory=dict)
    sketches: dict[str, Sketch] = field(default_factory=dict)
    unclear: dict[str, AmbiguousReference] = field(default_factory=dict)
    meant: dict[str, Entity] = field(default_factory=dict)
    said_at: datetime | None = None

    @property
    def scopes(self) -> Sequence[str]:
        """Where to look, nearest first."""
        return self.session.directory.scopes

    @contextmanager
    def operation(self, *, said_at: datetime) -> Iterator[None]:
        """One operation, all or nothing; names mean what they meant when it was said."""
        bound, sketches = dict(self.bound), dict(self.sketches)
        self.said_at, self.meant = said_at, {}
        try:
            with self.session.attempt():
                yield
        except Problem:
            self.bound, self.sketches = bound, sketches
            raise

    @contextmanager
    def standing_in(self, ref: str, entity: Entity) -> Iterator[None]:
        """For a while a reference means an entity that will not be stored."""
        before = self.bound.get(ref)
        self.bound[ref] = entity
        try:
            yield
        finally:
            del self.bound[ref]
            if before is not None:
                self.bound[ref] = before

    def bind(self, ref: str, *, field: str, kinds: Collection[str] = ()) -> Entity:
        """The entity a reference means; a name that several bear means the one of a fitting kind.

        Raises:
            Problem: `unknown_reference` (missing and foreign alike) or `ambiguous_reference`.
        """
        if ref in self.unclear and ref not in self.bound:
            unclear = self.unclear[ref]
            raise AmbiguousReference(unclear.name, unclear.entities, field)
        found = self.bound.get(ref)
        if found is None and ref in self.sketches:
            found = self.bound[ref] = sketched(self.sketches[ref], self.session)
        if found is None:
            found = self.known(ref, field=field, kinds=kinds)
        if found is None:
            raise Problem(
                "unknown_reference",
                _("Nothing is known under “%(ref)s”, and this proposal does not introduce it.") % {"ref": ref[:80]},
                field=field,
            )
        self.meant[field] = found
        return found

    def known(self, ref: str, *, field: str, kinds: Collection[str] = ()) -> Entity | None:
        """By UUID or `kind:slug`, else by exact name or alias; only what exists for the caller's clearance."""
        directory = self.session.directory.seen_by(self.session.principal.clearance)
        entity = references.look_up(ref, scopes=self.scopes, among=directory)
        if entity is not None or references.split_ref(ref) is not None:
            return entity
        named = references.bearing(ref, scopes=self.scopes, at=self.said_at, among=directory)
        fitting = [entity for entity in named if entity.kind in kinds] or named
        if len(fitting) > 1:
            raise AmbiguousReference(ref, fitting, field)
        return fitting[0] if fitting else None

    def match(self, op: UpsertEntity) -> Entity | None:
        """The entity that an `upsert_entity` already means: by reference, exact name or alias.

        Raises:
            AmbiguousReference: several of that kind bear the name.
        """
        directory = self.session.directory
        by_ref = references.look_up(op.id_hint, scopes=self.scopes, among=directory)
        if by_ref is not None and by_ref.kind == op.kind:
            return by_ref
        return references.by_name(
            op.canonical_name,
            scopes=self.scopes,
            kinds=(op.kind,),
            at=self.said_at,
            field="canonical_name",
            among=directory,
        )

    def pinned(self, op: Operation) -> dict[str, Any]:
        """An operation as JSON that can wait: names and hints that only this proposal understands become ids."""
        body = op.model_dump(mode="json")
        for name in references.FIELDS:
            entity = self.meant.get(name)
            if entity is not None and not is_sketch(entity) and body[name] != entity.ref:
                body[name] = str(entity.pk)
        return body

    def waiting_on(self, op: Operation) -> dict[str, dict[str, object]]:
        """The sketches that an operation depends on, to be kept with its proposal."""
        return {ref: self.sketches[ref].as_json() for ref in references.named_by(op) if ref in self.sketches}


def sketched(sketch: Sketch, session: WriteSession) -> Entity:
    """An unsaved entity standing for a sketch, so that a waiting operation can be checked and worded."""
    return Entity(
        id=uuid7(),
        **session.ownership,
        kind=sketch.kind,
        slug=slugify(sketch.name) or "new",
        canonical_name=sketch.name,
        name_key=name_key(sketch.name),
    )


def is_sketch(entity: Entity) -> bool:
    """Whether an entity only stands for a sketch and will not be stored."""
    return entity.recorded_at is None


def read_name(text: str, *, field: str) -> str:
    """A name fit to store: no control characters, folded white space, not empty."""
    name = fold_space(check_text(text, field=field, limit=500))
    key = name_key(name)
    if not key:
        raise Problem("empty_name", _("A name needs at least one visible character."), field=field)
    # Folding can make it longer: one ligature stands for up to eighteen letters.
    check_text(key, field=field, limit=500)
    return name


def create_entity(
    *, session: WriteSession, kind: str, name: str, tick: datetime, description: str = "", is_self: bool = False
) -> Entity:
    """Insert an entity in the session's scope. The caller asserts its `name`."""
    entity = Entity(
        id=uuid7(),
        **session.ownership,
        classification=session.level,
        kind=kind,
        slug="",
        canonical_name=name,
        name_key=name_key(name),
        description=description,
        is_self=is_self,
        recorded_at=tick,
        acted_by=session.principal.acted_by,
    )
    entity.slug = free_slug(session, kind, name, entity.pk)
    session.directory.add(entity)
    session.to_identify |= not is_self
    session.ledger.begin_entity(entity.pk)
    session.touched.add(entity.pk)
    return entity


def free_slug(session: WriteSession, kind: str, name: str, id: UUID) -> str:
    """The slug of a name, `-2`, `-3` … on collision, a short id where nothing is left of the name."""
    base = slugify(name) or id.hex[-_FALLBACK_SLUG_LENGTH:]
    if not any(entity.scope_ref == session.scope_ref for entity in session.directory.by_slug(kind, base)):
        return base
    stored = Entity.objects.filter(scope_ref=session.scope_ref, kind=kind, slug__startswith=base)
    taken = {*stored.values_list("slug", flat=True), *(e.slug for e in session.directory.made if e.kind == kind)}
    return next(slug for number in range(2, len(taken) + 3) if (slug := f"{base}-{number}") not in taken)


def add_alias(
    *,
    session: WriteSession,
    entity: Entity,
    alias: str,
    tick: datetime,
    source: Source,
    rank: int,
    namespace: str = "name",
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
) -> list[EntityAlias]:
    """Give an entity a further name for as long as it does not bear it already.

    Raises:
        Problem: `empty_interval`; `name_of_another` when it is somebody else's own name and no person says so.
    """
    name = read_name(alias, field="alias")
    key = name_key(name)
    start = valid_from or UNKNOWN_START
    if valid_to is not None and valid_to <= start:
        raise empty_interval()
    if namespace == "name" and key == entity.name_key:
        return []
    bearers = EntityAlias.objects.filter(
        scope_ref=session.scope_ref, namespace=namespace, key=key, entity=entity, superseded_at=None
    )
    new = (a for a in session.directory.named if (a.entity_id, a.namespace, a.key) == (entity.pk, namespace, key))
    times = unborne(start, valid_to, (*bearers, *new))
    if not times:
        return []
    other = next((e for e in session.directory.by_key(key) if e.scope_ref == session.scope_ref and e != entity), None)
    if namespace == "name" and other is not None and not session.principal.is_person:
        raise Problem(
            "name_of_another",
            _("“%(alias)s” is the name of %(other)s; only a person can give it to another.")
            % {"alias": name, "other": other.ref},
            409,
            "alias",
        )
    made = [
        EntityAlias(
            id=uuid7(),
            **session.ownership,
            classification=entity.classification,
            entity=entity,
            alias=name,
            key=key,
            namespace=namespace,
            valid_from=begin,
            valid_to=end,
            recorded_at=tick,
            source=source,
            rank=rank,
            acted_by=session.principal.acted_by,
        )
        for begin, end in times
    ]
    session.directory.named += made
    session.to_identify |= namespace != "name"
    session.touched.add(entity.pk)
    return made


def unborne(
    start: datetime, end: datetime | None, borne: Iterable[EntityAlias]
) -> list[tuple[datetime, datetime | None]]:
    """The parts of `[start, end)` in which none of the aliases holds, in order."""
    taken = (Interval(Edge(alias.valid_from), Edge(alias.valid_to or FOREVER)) for alias in borne)
    free = Interval(Edge(start), Edge(end or FOREVER)).outside(taken)
    return [(gap.start.at, None if gap.end.at == FOREVER else gap.end.at) for gap in free]
