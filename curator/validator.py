"""Which operations of a proposal may go on. Pure: it reads the proposal, the window and the registry snapshot.

Codes of rejections: `unknown_kind`, `unresolved_reference`, `subject_kind`, `object_kind`, `value_type`,
`empty_value`, `missing_evidence`, `evidence_not_found`, `evidence_not_the_persons`, `not_asserted`, `invalid_date`,
`empty_interval`, `date_out_of_range`, `unknown_target`, `contradiction`, `duplicate`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID

from curator import sentences
from curator.snapshot import PredicateRule, RegistrySnapshot
from curator.window import Window, WindowMessage
from gedaechtnis.common.text import fold_space, name_key
from gedaechtnis.memory.schemas import (
    AddAlias,
    AssertFact,
    AssertRelationship,
    InvalidateFact,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    RecordEvent,
    Source,
    UpsertEntity,
)

SELF_REF = "person:me"
"""Stands for the owner where the window does not name them; the committer resolves it."""

_EARLIEST_YEAR = 1800
_FURTHEST = timedelta(days=366 * 100)
_PARTIAL_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_VALUE_FORMS = {
    "time": re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d"),
    "date": re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?|--\d{2}-\d{2}"),
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "phone": re.compile(r"\+?\d[\d ]{3,20}"),
}
_PERSONAL = frozenset({MemoryType.USER_ASSERTION, MemoryType.CORRECTION, MemoryType.PREFERENCE})

Assertion = AssertFact | AssertRelationship


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why operation `op_index` of the proposal goes no further."""

    op_index: int
    code: str
    detail: str


@dataclass(slots=True)
class _Case:
    """One operation under judgement, and what was accepted before it."""

    operation: Operation
    window: Window
    registry: RegistrySnapshot
    hints: dict[str, str]
    accepted: list[Operation] = field(default_factory=list)


def validate(
    proposal: MemoryMutationProposal, window: Window, registry: RegistrySnapshot
) -> tuple[list[Operation], list[Rejection]]:
    """Split a proposal into the operations that may go on, in order, and the refused ones with their reasons.

    An operation that uses an entity whose introduction was refused is refused as well.
    """
    accepted: list[Operation] = []
    rejections: list[Rejection] = []
    hints: dict[str, str] = {}
    for index, operation in enumerate(proposal.operations):
        case = _Case(operation, window, registry, hints, accepted)
        if found := next((problem for rule in _RULES for problem in rule(case)), None):
            rejections.append(Rejection(index, *found))
            continue
        accepted.append(operation)
        if isinstance(operation, UpsertEntity):
            hints[operation.id_hint] = operation.kind
    return accepted, rejections


Problem = tuple[str, str]


def _kinds(case: _Case) -> Iterator[Problem]:
    operation = case.operation
    if isinstance(operation, UpsertEntity):
        if operation.kind not in case.registry.kinds:
            yield "unknown_kind", f"There is no entity kind “{operation.kind}”."
        if not name_key(operation.canonical_name):
            yield "empty_value", "The entity has no name."
    for role, ref in _references(operation):
        if not _is_resolvable(ref, case):
            yield "unresolved_reference", f"“{ref}” is neither known nor introduced before."
            return
        rule = _predicate(case)
        allowed = (
            {"subject": rule.subject_kinds, "object": rule.object_kinds}.get(role, frozenset()) if rule else frozenset()
        )
        kind = _kind_of(ref, case)
        if allowed and kind is not None and kind not in allowed:
            yield f"{role}_kind", f"“{ref}” is a {kind}; {' or '.join(sorted(allowed))} was expected."


def _values(case: _Case) -> Iterator[Problem]:
    operation, rule = case.operation, _predicate(case)
    if isinstance(operation, AssertRelationship) and rule is not None and rule.value not in ("entity", "any"):
        yield "value_type", f"“{operation.predicate}” takes a {rule.value}, not an entity."
    if not isinstance(operation, AssertFact):
        return
    value = operation.object_value
    if value is None or (isinstance(value, str) and not value.strip()):
        yield "empty_value", "A fact needs a value."
    elif rule is not None and not _fits(value, rule):
        yield "value_type", f"“{operation.predicate}” takes a {rule.value}."


def _fits(value: object, rule: PredicateRule) -> bool:
    if rule.value == "any":
        return True
    if rule.value == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, str) or rule.value == "entity":
        return False
    form = _VALUE_FORMS.get(rule.value)
    return form is None or form.fullmatch(value) is not None


def _evidence(case: _Case) -> Iterator[Problem]:
    evidence = case.operation.evidence
    quote = fold_space(evidence.text) if evidence else ""
    if evidence is None or not quote:
        yield "missing_evidence", "Nothing is learned without the words it rests on."
        return
    messages = [message for message in case.window.messages if evidence.ref in (None, f"msg:{message.id}")]
    saying = [message for message in messages if quote in fold_space(message.text)]
    if not saying:
        yield "evidence_not_found", "The quoted words do not occur in the conversation."
    elif not any(_may_prove(message, case.operation) for message in saying):
        yield "evidence_not_the_persons", "The quoted words are not the person's own."


def _may_prove(message: WindowMessage, operation: Operation) -> bool:
    """A claim of the person needs the person's words; observations may rest on tool output."""
    if operation.source in (Source.TOOL_RESULT, Source.OBSERVATION):
        return message.role == "tool"
    return message.role == "user" and message.trust == "trusted"


def _asserted(case: _Case) -> Iterator[Problem]:
    operation = case.operation
    if not isinstance(operation, Assertion) or operation.memory_type not in _PERSONAL or operation.evidence is None:
        return
    quoted = sentences.split(operation.evidence.text, default_language=case.window.language or "de")
    if quoted and all(sentence.is_question or sentence.is_doubtful for sentence in quoted):
        yield "not_asserted", "A question, a guess, hearsay or a joke is not a statement."


def _dates(case: _Case) -> Iterator[Problem]:
    operation = case.operation
    read: dict[str, datetime] = {}
    for name in ("valid_from", "valid_to", "observed_at", "at", "occurred_at"):
        text = getattr(operation, name, None)
        if text is None or (name == "valid_from" and text == "unknown"):
            continue
        instant = _instant(text, case.window)
        if instant is None:
            yield "invalid_date", f"“{text}” is not a date."
            return
        if instant.year < _EARLIEST_YEAR or instant - case.window.now > _FURTHEST:
            yield "date_out_of_range", f"“{text}” is out of the range one speaks of."
        read[name] = instant
    if "valid_from" in read and "valid_to" in read and read["valid_to"] <= read["valid_from"]:
        yield "empty_interval", "It would end before it begins."


def _instant(text: str, window: Window) -> datetime | None:
    """A bare date is the first instant of that day in the window's zone, a month or year its first day."""
    try:
        if match := _PARTIAL_DATE.fullmatch(text):
            year, month, day = match.groups()
            first = date(int(year), int(month or 1), int(day or 1))
            return datetime(first.year, first.month, first.day, tzinfo=window.zone)
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo is not None else None


def _targets(case: _Case) -> Iterator[Problem]:
    operation = case.operation
    if isinstance(operation, InvalidateFact):
        named = [operation.target_fact_id]
    elif isinstance(operation, Assertion):
        named = [fact for fact in (operation.replaces_fact_id, operation.based_on_fact_id) if fact]
    else:
        return
    known = {fact.id for entity in case.window.known for fact in entity.facts}
    for fact_id in named:
        if fact_id not in known:
            yield "unknown_target", f"There is no known fact “{fact_id}”."


def _consistent(case: _Case) -> Iterator[Problem]:
    operation = case.operation
    if operation in case.accepted:
        yield "duplicate", "The same operation stands in the proposal already."
    if not isinstance(operation, Assertion) or operation.correction:
        return
    for earlier in case.accepted:
        if isinstance(earlier, Assertion) and _same_breath(earlier, operation) and _clash(earlier, operation, case):
            yield "contradiction", "The proposal says the opposite as well."
            return


def _same_breath(one: Assertion, other: Assertion) -> bool:
    """Whether two assertions rest on one message and claim the same time: no succession is told."""
    same_message = one.evidence is not None and other.evidence is not None and one.evidence.ref == other.evidence.ref
    return same_message and (one.valid_from, one.valid_to) == (other.valid_from, other.valid_to)


def _clash(one: Assertion, other: Assertion, case: _Case) -> bool:
    def slot(operation: Assertion) -> tuple[str, str, str | None]:
        return operation.subject_ref, operation.predicate, operation.applies_to_ref

    if slot(one) != slot(other):
        return False
    same_object = _object_of(one) == _object_of(other)
    if one.polarity != other.polarity:
        return same_object
    rule = _predicate(case)
    return one.polarity and rule is not None and rule.functional and not same_object


_RULES: tuple[Callable[[_Case], Iterator[Problem]], ...] = (
    _kinds, _values, _evidence, _asserted, _dates, _targets, _consistent,
)  # fmt: skip


def _references(operation: Operation) -> list[tuple[str, str]]:
    if isinstance(operation, AssertRelationship):
        return [("subject", operation.subject_ref), ("object", operation.object_ref)]
    if isinstance(operation, AssertFact):
        return [("subject", operation.subject_ref)]
    if isinstance(operation, AddAlias):
        return [("entity", operation.entity_ref)]
    if isinstance(operation, RecordEvent) and operation.target_ref is not None:
        return [("target", operation.target_ref)]
    return []


def _is_resolvable(ref: str, case: _Case) -> bool:
    """Known, introduced, the owner, an id, or the bare name of something known (which one is asked later)."""
    if ref in case.hints or ref in case.window.by_ref or ref == SELF_REF or _is_uuid(ref):
        return True
    key = name_key(ref)
    return any(key == name_key(name) for entity in case.window.known for name in (entity.name, *entity.aliases))


def _kind_of(ref: str, case: _Case) -> str | None:
    if ref in case.hints:
        return case.hints[ref]
    known = case.window.by_ref.get(ref)
    if known is not None:
        return known.kind
    return "person" if ref == SELF_REF else None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _predicate(case: _Case) -> PredicateRule | None:
    """The rule of the operation's predicate; None for one nobody registered (it is listed for governance)."""
    return case.registry.predicates.get(getattr(case.operation, "predicate", ""))


def _object_of(operation: Assertion) -> str:
    if isinstance(operation, AssertRelationship):
        return operation.object_ref
    return json.dumps(operation.object_value, sort_keys=True, default=str)
