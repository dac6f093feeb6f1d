"""A statement about the world, resolved and checked: what the planner and the tables need of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.instants import UNKNOWN, Bound, Precision, parse_bound, parse_instant
from gedaechtnis.common.likeness import essence
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text
from gedaechtnis.identity.principals import PrincipalKind
from gedaechtnis.memory import references, values
from gedaechtnis.memory.schemas import AssertFact, AssertRelationship, Operation
from gedaechtnis.memory.wording import readable, sentence
from gedaechtnis.memory.writing.entities import EntityBook
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.slots import pair_key, slot_key
from gedaechtnis.registry.catalogue import Catalogue
from gedaechtnis.registry.models import PREDICATE_KEY, Predicate, State
from gedaechtnis.world.models import Entity

FREE_TEXT = ("statement", "domain")
"""Predicate and kind of subject of a sentence about a domain: it reads as it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Subject, predicate and object are known; bounds are read. `sentence` is what people see."""

    subject: Entity
    predicate: Predicate
    polarity: bool
    value: Any
    object: Entity | None
    applies_to: Entity | None
    object_key: UUID
    valid_from: Bound | None
    valid_to: Bound | None
    observed_at: datetime | None
    sentence: str

    @property
    def applies_to_id(self) -> UUID | None:
        return self.applies_to.pk if self.applies_to else None

    @property
    def is_mirrored(self) -> bool:
        """Whether it holds from either end, as a pair of rows."""
        return self.predicate.symmetric and self.object is not None

    @property
    def compared_key(self) -> UUID:
        """The object as the planner compares it."""
        if self.object is None or not self.is_mirrored:
            return self.object_key
        return pair_key(self.subject.pk, self.object.pk)

    def reversed(self) -> Statement:
        """A mirrored statement as it reads from its object."""
        if self.object is None:
            raise ValueError("a literal has no other end")
        return replace(
            self,
            subject=self.object,
            object=self.subject,
            object_key=canonical.object_key(entity_id=self.subject.pk),
        )

    @property
    def slot(self) -> UUID:
        """The place in which beliefs compete; the exclusion constraint compares it."""
        return slot_key(
            subject_id=self.subject.pk,
            predicate=self.predicate.key,
            functional=self.predicate.is_functional,
            applies_to_id=self.applies_to_id,
            object_key=self.object_key,
            polarity=self.polarity,
        )


def read_from(text: str | None, session: WriteSession, field: str) -> Bound | None:
    """A start as callers write it: nothing, `unknown`, an instant or a date.

    Raises:
        Problem: `invalid_time` for a start that never comes.
    """
    if text is None:
        return None
    if text.strip().lower() in ("unknown", "-infinity"):
        return UNKNOWN
    start = parse_bound(text, zone=session.zone, field=field)
    if start is None:
        raise Problem("invalid_time", _("Nothing starts at infinity."), field=field)
    return start


def read_to(text: str | None, session: WriteSession, field: str, *, said_at: datetime) -> Bound | None:
    """An end as callers write it: nothing or infinity (open), an instant or a date, or `unknown`.

    `unknown` means that it is over, but nobody knows since when: it ends with the statement.
    """
    if text is None:
        return None
    if text.strip().lower() == "unknown":
        return Bound(said_at, Precision.UNKNOWN)
    return parse_bound(text, zone=session.zone, field=field)


def directed(op: Operation, catalogue: Catalogue) -> Operation:
    """A relation said from its object (`anna owns rex`) as the registry names it (`rex owned_by anna`)."""
    if not isinstance(op, AssertRelationship) or op.predicate in catalogue.predicates:
        return op
    registered = catalogue.inverses.get(op.predicate)
    if registered is None:
        return op
    turned = {"predicate": registered.key, "subject_ref": op.object_ref, "object_ref": op.subject_ref}
    return op.model_copy(update=turned)


def resolve(
    op: AssertFact | AssertRelationship, session: WriteSession, book: EntityBook, *, said_at: datetime
) -> Statement:
    """Check an assertion against registry and references; `said_at` is when it was stated.

    Raises:
        Problem: `unknown_reference`, `ambiguous_reference`, `kind_misfit`, `value_misfit`,
            `invalid_predicate`, `unknown_predicate`, `deprecated_predicate`, `keyed_name`, or a problem of the
            times and texts.
    """
    predicate = predicate_for(op.predicate, session)
    if predicate.state == State.DEPRECATED and not op.correction:
        raise Problem(
            "deprecated_predicate",
            _("“%(key)s” is deprecated: what was said with it stays, nothing new is.") % {"key": predicate.key},
            field="predicate",
        )
    subject = book.bind(op.subject_ref, field="subject_ref", kinds=predicate.subject_kinds)
    values.check_kind(predicate, subject.kind, predicate.subject_kinds, field="subject_ref")
    value, target = None, None
    if isinstance(op, AssertRelationship):
        target = book.bind(op.object_ref, field="object_ref", kinds=predicate.object_kinds)
        if predicate.value_type not in (Predicate.ValueType.ENTITY, Predicate.ValueType.ANY):
            values.check_value(predicate, None, field="object_ref")
        values.check_kind(predicate, target.kind, predicate.object_kinds, field="object_ref")
        if target.pk == subject.pk:
            raise Problem("self_reference", _("Nothing stands in a relation to itself."), field="object_ref")
    else:
        value = canonical.check_literal(op.object_value, field="object_value")
        values.check_value(predicate, value, field="object_value")
    if predicate.key == "name" and subject.kind in references.KEYED and value != subject.canonical_name:
        raise Problem("keyed_name", references.keyed(), field="object_value")
    statement = check_text(op.statement, field="statement") if op.statement else ""
    free_text = ""
    if (predicate.key, subject.kind) == FREE_TEXT and isinstance(value, str):
        free_text = check_text(value, field="object_value")
        if not essence(free_text):
            raise Problem("empty_text", _("This says nothing yet."), field="object_value")
    applies_to = book.bind(op.applies_to_ref, field="applies_to_ref") if op.applies_to_ref else None
    return Statement(
        subject=subject,
        predicate=predicate,
        polarity=op.polarity,
        value=value,
        object=target,
        applies_to=applies_to,
        object_key=values.object_key(predicate, value=value, entity_id=target.pk if target else None),
        valid_from=read_from(op.valid_from, session, "valid_from"),
        valid_to=read_to(op.valid_to, session, "valid_to", said_at=said_at),
        observed_at=parse_instant(op.observed_at, zone=session.zone, field="observed_at") if op.observed_at else None,
        sentence=statement
        or (free_text if op.polarity else "")
        or sentence_of(session, subject, predicate, op.polarity, value, target),
    )


def predicate_for(key: str, session: WriteSession) -> Predicate:
    """A registered predicate, or an unsaved set predicate that becomes listed for governance when used.

    Raises:
        Problem: `unknown_predicate` for an integration, which registers its own; `invalid_predicate`.
    """
    found = session.catalogue.predicates.get(key)
    if found is not None:
        return found
    if session.principal.kind is PrincipalKind.INTEGRATION:
        raise Problem("unknown_predicate", _("Nobody registered “%(key)s”.") % {"key": key[:60]}, field="predicate")
    if key in session.catalogue.inverses:
        raise Problem(
            "value_misfit",
            _("“%(key)s” needs a thing as its object, not a value.") % {"key": key},
            field="object_value",
        )
    if not PREDICATE_KEY.fullmatch(key):
        raise Problem("invalid_predicate", _("“%(key)s” cannot be a predicate.") % {"key": key[:60]}, field="predicate")
    return Predicate(key=key, source=session.principal.kind.value, state="unreviewed")


def sentence_of(
    session: WriteSession, subject: Entity, predicate: Predicate, polarity: bool, value: Any, target: Entity | None
) -> str:
    """One plain sentence in the writer's language."""
    with session.wording():
        return sentence(
            subject=subject.canonical_name,
            predicate=predicate.key,
            label=predicate.label,
            what=target.canonical_name if target else readable(value),
            polarity=polarity,
            is_relation=target is not None,
        )
