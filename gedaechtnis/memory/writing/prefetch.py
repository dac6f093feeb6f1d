"""Reads what a whole proposal will ask for in a few statements. Only speed depends on it, never a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from uuid import UUID

from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import slugify
from gedaechtnis.memory import references, values
from gedaechtnis.memory.schemas import AssertFact, AssertRelationship, Operation, UpsertEntity
from gedaechtnis.memory.writing.entities import EntityBook
from gedaechtnis.memory.writing.ledger import Group
from gedaechtnis.memory.writing.session import WriteSession


def prefetch(session: WriteSession, book: EntityBook, ops: Sequence[Operation]) -> None:
    """Entities by every reference and name that is used, then the groups that the assertions compete in."""
    refs = {ref for op in ops for ref in references.named_by(op)}
    names = {ref for ref in refs if references.split_ref(ref) is None and references.as_uuid(ref) is None}
    upserts = [op for op in ops if isinstance(op, UpsertEntity)]
    refs.update(op.id_hint for op in upserts)
    # What a new entity will ask for: whether its slug is taken.
    refs.update(f"{op.kind}:{slug}" for op in upserts if (slug := slugify(op.canonical_name)))
    names.update(op.canonical_name for op in upserts)
    session.directory.read(refs=refs, names=names)
    met = dict(_met(book, upserts))
    session.ledger.read(_groups(session, book, ops, met))


def _met(book: EntityBook, upserts: Sequence[UpsertEntity]) -> Iterator[tuple[str, UUID]]:
    """The hints that mean an entity which is stored already."""
    for op in upserts:
        try:
            entity = book.match(op)
        except Problem:  # the operation itself will be refused with it
            continue
        if entity is not None:
            yield op.id_hint, entity.pk


def _groups(session: WriteSession, book: EntityBook, ops: Sequence[Operation], met: dict[str, UUID]) -> Iterator[Group]:
    @cache
    def known(ref: str | None) -> UUID | None:
        if ref is None or ref in met:
            return met.get(ref or "")
        try:
            entity = book.known(ref, field="")
        except Problem:
            return None
        return entity.pk if entity else None

    for op in ops:
        if not isinstance(op, AssertFact | AssertRelationship):
            continue
        subject, predicate = known(op.subject_ref), session.catalogue.predicates.get(op.predicate)
        if subject is None:
            continue
        key = None
        if predicate is None or not predicate.is_functional:
            target = known(op.object_ref) if isinstance(op, AssertRelationship) else None
            if isinstance(op, AssertRelationship) and target is None:
                continue
            value = op.object_value if isinstance(op, AssertFact) else None
            key = values.object_key(predicate, value=value, entity_id=target)
        yield Group(subject, op.predicate, known(op.applies_to_ref), key)
