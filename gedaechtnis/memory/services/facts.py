"""The verbs for single facts and things; each is a proposal of one operation, so all doors write alike."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from gedaechtnis.common.instants import bound_text
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.schemas import (
    AssertFact,
    AssertRelationship,
    InvalidateFact,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    OperationResult,
    UpsertEntity,
)
from gedaechtnis.memory.services.commit import commit_proposal, raise_refusal
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact

_CORRECTABLE = frozenset({"object_value", "object_ref", "valid_from", "valid_to", "polarity", "statement"})


def add_note(*, principal: Principal, entity_id: UUID, text: str, scope_ref: str) -> OperationResult:
    """Remark on an entity, in any scope all of whose readers read the entity.

    Raises:
        Problem: `scope_denied` (403), `unknown_reference`, or what asserting raises.
    """
    operation = AssertFact(subject_ref=str(entity_id), predicate="note", object_value=text, memory_type=MemoryType.NOTE)
    return commit_one(principal, operation, scope_ref)


def introduce(*, principal: Principal, kind: str, name: str, scope_ref: str) -> OperationResult:
    """Make an entity; one that bears the name there already is found instead (`restated`).

    Raises:
        Problem: `scope_denied` (403), `unknown_kind`, `empty_name`, `too_long`, `ambiguous_reference`.
    """
    check_text(kind, field="kind", limit=100)
    check_text(name, field="name", limit=500)
    return commit_one(principal, UpsertEntity(id_hint="new", kind=kind, canonical_name=name), scope_ref)


def retract_fact(
    *, principal: Principal, fact_id: UUID, reason: str = "", piece: bool = False, run_id: str | None = None
) -> OperationResult:
    """It never held: all believed rows of its origin are closed (`piece`: only this one).

    Raises:
        NotFound: missing and foreign alike.
        Problem: `nothing_believed` (409) naming the successors.
    """
    row = _readable(principal, fact_id)
    operation = InvalidateFact(target_fact_id=str(fact_id), mode="retract", reason=reason or None, piece=piece)
    return commit_one(principal, operation, row.scope_ref, run_id)


def end_fact(
    *,
    principal: Principal,
    fact_id: UUID,
    at: str | None = None,
    reason: str = "",
    piece: bool = False,
    run_id: str | None = None,
) -> OperationResult:
    """It stopped holding `at` (now by default); what held before stays.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `before_start`, `already_ended`, `nothing_believed`.
    """
    row = _readable(principal, fact_id)
    operation = InvalidateFact(target_fact_id=str(fact_id), mode="end", at=at, reason=reason or None, piece=piece)
    return commit_one(principal, operation, row.scope_ref, run_id)


def correct_fact(
    *, principal: Principal, fact_id: UUID, changes: dict[str, Any], run_id: str | None = None
) -> OperationResult:
    """It was wrong all along: assert it anew with `changes`, replacing the belief wholly.

    Only fields that change are named; the others stay. `valid_to: None` opens the end. What is believed just so
    already is no change.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `unknown_field`, `nothing_to_change`, or what asserting raises.
    """
    unknown = set(changes) - _CORRECTABLE
    if unknown:
        raise Problem(
            "unknown_field",
            _("A correction knows no field “%(name)s”.") % {"name": min(unknown)[:60]},
            field=min(unknown),
        )
    row = _readable(principal, fact_id)
    if all(_is_so(row, name, value) for name, value in changes.items()):
        raise Problem("nothing_to_change", _("Nothing is different from before."))
    common: dict[str, Any] = {
        "subject_ref": str(row.subject_id),
        "predicate": row.predicate,
        "polarity": changes.get("polarity", row.polarity),
        **_bounds(row, changes, principal.zone),
        "statement": changes.get("statement", row.statement if _says_the_same(changes) else None),
        "confidence": row.confidence,
        "domain": row.domain or None,
        "topic": row.topic or None,
        "correction": True,
        "replaces_fact_id": str(row.pk),
        "memory_type": MemoryType.CORRECTION,
        "applies_to_ref": str(row.applies_to_id) if row.applies_to_id else None,
    }
    target = changes.get("object_ref", str(row.object_entity_id) if row.object_entity_id else None)
    operation: Operation
    if target is not None and "object_value" not in changes:
        operation = AssertRelationship(object_ref=target, **common)
    else:
        operation = AssertFact(object_value=changes.get("object_value", row.object_value), **common)
    return commit_one(principal, operation, row.scope_ref, run_id)


def _is_so(row: Fact, name: str, value: Any) -> bool:
    """Whether a belief has this already, letter by letter: another spelling is a change, and so is any bound named."""
    if row.superseded_at is not None or name not in {"object_value", "polarity", "statement"}:
        return False
    present = getattr(row, name)
    return present is not None and json.dumps(present, sort_keys=True) == json.dumps(value, sort_keys=True)


def _bounds(row: Fact, changes: dict[str, Any], zone: ZoneInfo) -> dict[str, Any]:
    """The bounds of a correction. Without a new start none are named: it takes the old belief's over as they are."""
    bounds: dict[str, Any] = {}
    if "valid_from" in changes:
        bounds["valid_from"] = changes["valid_from"] or "unknown"
        bounds["valid_to"] = bound_text(row.valid_to, row.valid_to_precision, zone) if row.valid_to else None
    if "valid_to" in changes:
        bounds["valid_to"] = changes["valid_to"]
        bounds["still"] = changes["valid_to"] is None
    return bounds


def _says_the_same(changes: dict[str, Any]) -> bool:
    return not set(changes) & {"object_value", "object_ref", "polarity"}


def _readable(principal: Principal, fact_id: UUID) -> Fact:
    with scope(principal):
        row = Fact.objects.filter(pk=fact_id).first()
    if row is None:
        raise references.not_found(str(fact_id))
    return row


def commit_one(
    principal: Principal, operation: Operation, scope_ref: str, run_id: str | None = None
) -> OperationResult:
    """A proposal of one operation; a refusal is raised as the Problem it is."""
    proposal = MemoryMutationProposal(run_id=run_id, operations=[operation])
    result = commit_proposal(principal=principal, proposal=proposal, scope_ref=scope_ref).results[0]
    raise_refusal(result)
    return result
