"""Reading what several resources take: run ids, moments, ranges, objects, and the paths of errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.api.schemas.facts import AsOfIn, EntityFactsIn
from gedaechtnis.chat import selectors as chats
from gedaechtnis.common import canonical, clock
from gedaechtnis.common.instants import parse_as_of, parse_bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references, values
from gedaechtnis.memory.selectors import entities
from gedaechtnis.memory.selectors.moments import Basis, read_known_at
from gedaechtnis.registry.catalogue import catalogue

_OPERATION_PREFIX = "operations.0."


def run_id_of(header: str | None, body: str | None, *, field: str) -> str | None:
    """The run id, which header and body may name, but not differently.

    Raises:
        Problem: `run_id_conflict`, located at the body's `field`.
    """
    if header and body and header != body:
        raise Problem("run_id_conflict", _("The header Idempotency-Key and the body name different runs."), field=field)
    return header or body


def moment_of(asked: AsOfIn, *, principal: Principal) -> tuple[datetime | None, datetime | Basis | None]:
    """(`valid_at`, `known_at`) of a question; None where the present is meant.

    Raises:
        Problem: `conflicting_parameters`, or a problem of the times.
    """
    now = clock.now()
    if asked.as_of is not None:
        if asked.valid_at is not None or asked.known_at is not None:
            raise Problem("conflicting_parameters", _("“as_of” sets both times: leave out the others."), field="as_of")
        at = parse_as_of(asked.as_of, zone=principal.zone, field="as_of", now=now)
        return at, at
    valid_at = (
        parse_as_of(asked.valid_at, zone=principal.zone, field="valid_at", now=now)
        if asked.valid_at is not None
        else None
    )
    known_at = read_known_at(asked.known_at, principal=principal) if asked.known_at is not None else None
    return valid_at, known_at


def chat_of(ref: str | None, *, principal: Principal) -> str | None:
    """The id of a chat that is named by it, or by the id that it had where it came from.

    Raises:
        NotFound: missing and foreign alike.
    """
    if ref is None or references.as_uuid(ref) is not None:
        return ref
    found = chats.find_imported(principal=principal, external_id=ref)
    if found is None:
        raise chats.no_chat()
    return str(found.id)


def time_range_of(asked: tuple[str, str] | None, *, principal: Principal) -> tuple[datetime, datetime] | None:
    """`[from, to)` of a search, as instants.

    Raises:
        Problem: `empty_range`, or a problem of the times.
    """
    if asked is None:
        return None
    start, end = (
        parse_bound(text, zone=principal.zone, field=f"time_range.{place}") for place, text in enumerate(asked)
    )
    if start is None or end is None:
        raise Problem("incomplete_range", _("A range needs a start and an end."), field="time_range")
    if start.at >= end.at:
        raise Problem("empty_range", _("A range must end after it begins."), field="time_range")
    return start.at, end.at


def range_of(asked: EntityFactsIn, *, principal: Principal) -> tuple[datetime, datetime] | None:
    """The half-open range of a question, or None if it is about an instant.

    Raises:
        Problem: `incomplete_range`, `empty_range`, or a problem of the times.
    """
    if asked.valid_from is None and asked.valid_to is None and asked.bounds is None:
        return None
    read = {
        field: parse_bound(text, zone=principal.zone, field=field) if text is not None else None
        for field, text in (("valid_from", asked.valid_from), ("valid_to", asked.valid_to))
    }
    for field, bound in read.items():
        if bound is None:
            raise Problem("incomplete_range", _("A range needs a start and an end."), field=field)
    start, end = (bound.at for bound in read.values() if bound is not None)
    if start >= end:
        raise Problem("empty_range", _("A range must end after it begins."), field="valid_to")
    return start, end


def object_of(text: str, *, predicate: str, principal: Principal) -> dict[str, UUID]:
    """The object of a question as a filter: a literal where the text is JSON, else an entity by reference.

    Raises:
        NotFound: missing and foreign entities alike.
        Problem: `invalid_object`, or a literal that could not be stored.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if not references.is_reference(text):
            raise Problem(
                "invalid_object",
                _("Give a reference, or a literal as JSON (text in double quotes)."),
                field="object",
            ) from None
        return {"object_entity_id": entities.get_entity(principal=principal, ref=text).id}
    canonical.check_literal(value, field="object")
    term = catalogue().predicates.get(predicate)
    return {"object_key": values.object_key(term, value=value)}


def context_of(ref: str | None, *, principal: Principal) -> UUID | None:
    """The context that a question is confined to. Raises NotFound, missing and foreign ones alike."""
    return entities.get_entity(principal=principal, ref=ref).asked_id if ref else None


@contextmanager
def single_operation() -> Iterator[None]:
    """The verbs for one fact build a proposal of one operation: name its fields as the caller did."""
    try:
        yield
    except Problem as problem:
        if problem.field and problem.field.startswith(_OPERATION_PREFIX):
            raise problem.at(problem.field.removeprefix(_OPERATION_PREFIX)) from problem
        raise


def check_kind(kind: str | None) -> None:
    """A filter by a kind that nobody registered is a typo; a deprecated one still has entities."""
    if kind is not None and kind not in catalogue().kinds:
        catalogue().kind(kind)
