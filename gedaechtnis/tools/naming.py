"""Whom and what the arguments of a tool mean."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.instants import parse_as_of
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import EntityView, FactView
from gedaechtnis.memory.resolution import ladder
from gedaechtnis.memory.resolution.ladder import Step
from gedaechtnis.memory.selectors import asof, entities, explain
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.tools import text

_FACT = "fact:"
_NAMED = 5


def entity(principal: Principal, ref: str, field: str = "ref") -> EntityView:
    """The entity behind a reference, or behind a name that only it bears: a likeness is suggested, never taken.

    Raises:
        NotFound: missing and foreign alike, with what resembles the name.
        Problem: `ambiguous_reference` (409) where several bear it.
    """
    if references.is_reference(ref):
        return _by_reference(principal, ref, field)
    found = ladder.resolve(principal=principal, name=ref)
    if found.step in {Step.REFERENCE, Step.EXACT} and found.entity_id is not None:
        return entities.get_entity(principal=principal, ref=str(found.entity_id))
    named = ", ".join(f"{candidate.ref} ({text.quoted(candidate.name)})" for candidate in found.candidates[:_NAMED])
    if found.needs_clarification:
        detail = _("“%(name)s” could be several: %(refs)s. Which one?") % {"name": ref[:80], "refs": named}
        raise Problem("ambiguous_reference", detail, 409, field)
    if named:
        detail = _("Nothing is called “%(name)s”. Close to it: %(refs)s.") % {"name": ref[:80], "refs": named}
        raise NotFound(detail, field=field)
    raise references.not_found(ref, field)


def _by_reference(principal: Principal, ref: str, field: str) -> EntityView:
    try:
        return entities.get_entity(principal=principal, ref=ref)
    except NotFound as problem:
        raise problem.at(field) from problem


def fact(principal: Principal, ref: str, field: str = "fact") -> FactView:
    """The fact behind `fact:<id>`, an id, or `kind:slug.predicate` where only one holds now.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `ambiguous_reference` (409), naming those that it could be.
    """
    fact_id = references.as_uuid(ref.removeprefix(_FACT))
    if fact_id is not None:
        found = explain.get_facts(principal=principal, fact_ids=[fact_id])
        if not found:
            raise references.not_found(ref, field)
        return found[0]
    subject, dot, predicate = ref.partition(".")
    if not dot or not predicate:
        detail = _("Name a fact as `fact:<id>` or `kind:slug.predicate`.")
        raise Problem("invalid_fact_reference", detail, field=field)
    about = entity(principal, subject, field)
    holding = asof.entity_facts(principal=principal, entity_id=about.id, predicate=predicate).facts
    if not holding:
        raise NotFound(_("Nothing holds under “%(ref)s” now.") % {"ref": ref[:80]}, field=field)
    if len(holding) > 1:
        raise _several(ref, holding, field)
    return holding[0]


def _several(ref: str, facts: Sequence[FactView], field: str) -> Problem:
    told = ", ".join(f"{ref_of(one)} ({text.value(one)})" for one in facts[:_NAMED])
    detail = _("Several facts hold under “%(ref)s”: %(facts)s. Which one?") % {"ref": ref[:80], "facts": told}
    return Problem("ambiguous_reference", detail, 409, field, {"candidates": [ref_of(one) for one in facts[:_NAMED]]})


def ref_of(one: FactView) -> str:
    return f"{_FACT}{one.id}"


def close_to(predicate: str) -> str:
    """A sentence with the predicates that may have been meant by one that is not known; "" for one that is."""
    known = catalogue().predicates.keys() | catalogue().inverses.keys()
    close = () if predicate in known else get_close_matches(predicate, known, _NAMED)
    return _("Predicates spelt like it: %(predicates)s.") % {"predicates": ", ".join(close)} if close else ""


def moment(principal: Principal, at: str, field: str = "at") -> datetime:
    """The moment of a question: a day means its last instant, today means now. Raises Problem of the time."""
    return parse_as_of(at, zone=principal.zone, field=field, now=clock.now())


def run_or_event(of: str) -> tuple[str | None, UUID | None]:
    """(run id, None) or (None, event id) of `run:…`, `event:…`; anything else is a run id.

    Raises:
        Problem: `invalid_id` for an event without one.
    """
    if of.startswith("event:"):
        event_id = references.as_uuid(of.removeprefix("event:"))
        if event_id is None:
            raise Problem("invalid_id", _("This is not an identifier (a UUID)."), field="of")
        return None, event_id
    return of.removeprefix("run:"), None
