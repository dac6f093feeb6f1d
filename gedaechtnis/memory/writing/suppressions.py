"""What a person declined is not suggested again: remembered as a hash without text."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import canonical, clock
from gedaechtnis.common.likeness import essence
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.rank import Rank
from gedaechtnis.common.text import name_key
from gedaechtnis.memory import values
from gedaechtnis.memory.schemas import AddAlias, AssertFact, AssertRelationship, InvalidateFact, Operation, UpsertEntity
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.assertions import locate
from gedaechtnis.memory.writing.entities import EntityBook, is_sketch
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.shelf import PREDICATE
from gedaechtnis.world.models import Entity, Suppression

LASTS = timedelta(days=365)


def refuse(act: Act, op: Operation) -> None:
    """Raises Problem `suppressed` (409) if a person declined this and has not said it themselves since."""
    declined = (
        Suppression.objects.filter(scope_ref=act.session.scope_ref, key__in=_keys(act.session, act.book, op))
        .filter(Q(expires_at=None) | Q(expires_at__gt=act.tick))
        .order_by("-recorded_at")
        .first()
    )
    if declined is None:
        return
    if act.provenance.rank >= Rank.PERSON and act.said_at > declined.recorded_at:
        return
    raise Problem("suppressed", _("This was declined before."), 409)


def remember(session: WriteSession, book: EntityBook, op: Operation) -> None:
    """Keep what an operation would have done from being suggested again for a year."""
    remember_key(session, _keys(session, book, op)[0])


def remember_key(session: WriteSession, key: UUID, *, lasts: timedelta | None = LASTS) -> None:
    """Keep what goes by this hash from being suggested again: for a year, or for ever."""
    Suppression.objects.update_or_create(
        scope_ref=session.scope_ref,
        key=key,
        defaults={
            "org_id": session.org_id,
            "recorded_at": session.ticks[0],
            "expires_at": session.ticks[0] + lasts if lasts else None,
        },
    )


def pair_key(one: UUID, other: UUID) -> UUID:
    """The hash of taking two entities for one, whichever for the other."""
    return canonical.digest("suppressed", "merge", *sorted((str(one), str(other))))


def is_declined(scope_ref: str, key: UUID) -> bool:
    """Whether what goes by this hash was declined, not so long ago."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    return Suppression.objects.filter(lasting, scope_ref=scope_ref, key=key).exists()


def _keys(session: WriteSession, book: EntityBook, op: Operation) -> list[UUID]:
    """The hashes an operation answers to, first the one by which it is remembered.

    An entity that nobody has met yet goes by kind and name, and answers to these when it was met; one that others
    were merged into also answers to what they went by.
    """
    parts: list[tuple[str, ...]]
    match op:
        case AssertFact() | AssertRelationship():
            predicate = session.catalogue.predicates.get(op.predicate)
            contexts = _identities(book, op.applies_to_ref, "applies_to_ref") if op.applies_to_ref else [""]
            if isinstance(op, AssertRelationship):
                objects = _identities(book, op.object_ref, "object_ref")
            else:
                objects = [str(values.object_key(predicate, value=_comparable(op)))]
            subjects = _identities(book, op.subject_ref, "subject_ref")
            ends = list(product(subjects, objects))
            if predicate is not None and predicate.symmetric:
                ends = [(min(pair), max(pair)) for pair in ends]
            parts = [(one, op.predicate, other, context) for (one, other), context in product(ends, contexts)]
        case UpsertEntity():
            parts = [("entity", op.kind, name_key(op.canonical_name))]
        case AddAlias():
            entities = _identities(book, op.entity_ref, "entity_ref")
            parts = list(product(["alias"], entities, [op.namespace], [name_key(op.alias)]))
        case InvalidateFact():
            row = locate(op.target_fact_id, session, field="target_fact_id")
            parts = [(op.mode, str(row.origin_fact_id))]
        case _:
            raise RuntimeError(f"operations of kind {op.op} never wait")
    return [canonical.digest("suppressed", *part) for part in parts]


def _comparable(op: AssertFact) -> Any:
    """The value; of a sentence about a domain what it says, however it is spelt."""
    is_sentence = op.predicate == PREDICATE and op.domain and isinstance(op.object_value, str)
    return essence(op.object_value) if is_sentence else op.object_value


def _identities(book: EntityBook, ref: str, field: str) -> list[str]:
    entity: Entity = book.meant.get(field) or book.bind(ref, field=field)
    if is_sketch(entity):
        return [_by_name(entity)]
    known = members(entity)
    return [*(str(one.pk) for one in known), *map(_by_name, known)]


def members(entity: Entity) -> list[Entity]:
    """An entity and all that were merged into it, itself first."""
    known = [entity]
    for one in known:
        known += Entity.objects.filter(merged_into_id=one.pk)
    return known


def _by_name(entity: Entity) -> str:
    return f"{entity.kind}:{entity.name_key}"
