"""The form of a proposal, checked before anything is opened: a malformed one changes nothing."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from gedaechtnis.common import canonical
from gedaechtnis.common.instants import parse_bound, parse_instant
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text
from gedaechtnis.memory.schemas import AssertFact, MemoryMutationProposal, Operation, RecordEvent, UpsertEntity
from gedaechtnis.registry.catalogue import catalogue

_BOUNDS = ("valid_from", "valid_to", "at")
_WORDS = {"valid_from": {"unknown", "-infinity"}, "valid_to": {"unknown"}, "at": {"unknown"}}
_INSTANTS = ("observed_at", "occurred_at")


def check(proposal: MemoryMutationProposal, *, zone: ZoneInfo) -> None:
    """Texts that can be stored, times that can be read, kinds and event types that exist.

    Raises:
        Problem: located at `operations.<n>.<field>`.
    """
    if proposal.run_id is not None:
        check_text(proposal.run_id, field="run_id")
    for index, op in enumerate(proposal.operations):
        try:
            check_operation(op, zone=zone)
        except Problem as problem:
            raise problem.at(f"operations.{index}.{problem.field}") from problem


def check_operation(op: Operation, *, zone: ZoneInfo) -> None:
    """One operation by itself. Raises Problem located at its field."""
    said = vars(op)
    for name, value in said.items():
        if isinstance(value, str):
            check_text(value, field=name)
    if op.evidence is not None:
        check_text(op.evidence.text, field="evidence.text")
        check_text(op.evidence.ref or "", field="evidence.ref")
    for name in _BOUNDS:
        text = said.get(name)
        if text and text.strip().lower() not in _WORDS[name]:
            parse_bound(text, zone=zone, field=name)
    for name in _INSTANTS:
        if text := said.get(name):
            parse_instant(text, zone=zone, field=name)
    if isinstance(op, AssertFact):
        canonical.check_literal(op.object_value, field="object_value")
    if isinstance(op, RecordEvent):
        canonical.check_literal(op.payload, field="payload")
    if isinstance(op, UpsertEntity):
        catalogue().kind(op.kind)
        for number, alias in enumerate(op.aliases):
            check_text(alias, field=f"aliases.{number}")
