"""Where an accepted operation goes: straight into memory, or to the person for review.

The first cause found decides. Confidence is no cause. Whether a weaker source contradicts a person's statement
is settled when the write meets what is believed; here only what the window shows counts.
"""

from __future__ import annotations

from enum import StrEnum

from curator.snapshot import RegistrySnapshot
from curator.window import Window
from gedaechtnis.common.text import name_key
from gedaechtnis.memory.schemas import (
    AddAlias,
    AssertFact,
    AssertRelationship,
    MemoryType,
    Operation,
    Source,
    UpsertEntity,
)

_DERIVED = frozenset({MemoryType.DERIVED_PREFERENCE, MemoryType.DERIVED_PATTERN, MemoryType.HYPOTHESIS})
_SECOND_HAND = frozenset({Source.ASSISTANT_OUTPUT, Source.TOOL_RESULT, Source.INFERENCE, Source.SYSTEM_RULE})


class Route(StrEnum):
    COMMIT = "commit"
    REVIEW = "review"


class Cause(StrEnum):
    """Why an operation needs a person."""

    POLICY = "policy"
    UNTRUSTED = "untrusted"
    DERIVED = "derived"
    CLARIFICATION = "clarification"
    CONFLICT = "conflict"


def route(operation: Operation, window: Window, registry: RegistrySnapshot) -> Route:
    """Commit or review."""
    return Route.COMMIT if cause(operation, window, registry) is None else Route.REVIEW


def cause(operation: Operation, window: Window, registry: RegistrySnapshot) -> Cause | None:
    """Why the operation must be reviewed; None if it may be committed."""
    if _is_privileged(operation, window, registry):
        return Cause.POLICY
    if window.tainted:
        return Cause.UNTRUSTED
    if operation.memory_type in _DERIVED or operation.source in _SECOND_HAND:
        return Cause.DERIVED
    if any(":" not in ref and _is_shared_name(ref, window) for ref in _references(operation)):
        return Cause.CLARIFICATION
    if _conflicts(operation, window, registry):
        return Cause.CONFLICT
    return None


def _is_privileged(operation: Operation, window: Window, registry: RegistrySnapshot) -> bool:
    if operation.memory_type is MemoryType.POLICY:
        return True
    kinds = {operation.kind} if isinstance(operation, UpsertEntity) else set()
    for ref in _references(operation):
        known = window.by_ref.get(ref)
        kinds.add(known.kind if known is not None else ref.rpartition(":")[0])
    if any(kind in registry.kinds and registry.kinds[kind].privileged for kind in kinds):
        return True
    rule = registry.predicates.get(getattr(operation, "predicate", ""))
    return rule is not None and rule.privileged


def _is_shared_name(name: str, window: Window) -> bool:
    key = name_key(name)
    return any(key == name_key(known) for entity in window.known for known in (entity.name, *entity.aliases))


def _conflicts(operation: Operation, window: Window, registry: RegistrySnapshot) -> bool:
    """A second value of something that cannot change, and nobody said that the first was wrong."""
    if not isinstance(operation, AssertFact | AssertRelationship) or operation.correction or not operation.polarity:
        return False
    rule = registry.predicates.get(operation.predicate)
    known = window.by_ref.get(operation.subject_ref)
    if rule is None or not rule.immutable or known is None:
        return False
    believed = [fact for fact in known.facts if fact.predicate == operation.predicate and fact.polarity]
    if isinstance(operation, AssertRelationship):
        return any(fact.object_ref != operation.object_ref for fact in believed)
    return any(not _refines(operation.object_value, fact.value) for fact in believed)


def _refines(new: object, old: object) -> bool:
    """Equal, or the same date told more or less exactly."""
    one, other = str(new), str(old)
    return (
        name_key(one) == name_key(other)
        or one.startswith(other)
        or other.startswith(one)
        or ("--" in (one[:2], other[:2]) and one[-5:] == other[-5:])
    )


def _references(operation: Operation) -> list[str]:
    if isinstance(operation, AssertRelationship):
        return [operation.subject_ref, operation.object_ref]
    if isinstance(operation, AssertFact):
        return [operation.subject_ref]
    return [operation.entity_ref] if isinstance(operation, AddAlias) else []
