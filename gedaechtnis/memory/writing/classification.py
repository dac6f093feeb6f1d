"""How far what is written may be seen: the highest classification of all that it rests on."""

from __future__ import annotations

from collections.abc import Iterable

from gedaechtnis.memory.schemas import MemoryType, OperationResult, Outcome
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.statements import Statement
from gedaechtnis.scoping.models import INTERNAL, PUBLIC
from gedaechtnis.world.models import Fact


def of_kind(session: WriteSession, kind: str) -> int:
    """What an entity of a kind starts with."""
    found = session.catalogue.kinds.get(kind)
    return found.classification if found else INTERNAL


def of_statement(
    session: WriteSession, statement: Statement, *, memory_type: MemoryType, rows: Iterable[Fact] = ()
) -> int:
    """Predicate, the entities named, and the beliefs it is judged against.

    Policies and capabilities are always public: no run may act without them for want of clearance.
    """
    kind = session.catalogue.kinds.get(statement.subject.kind)
    if memory_type is MemoryType.POLICY or statement.predicate.privileged or (kind and kind.privileged):
        return PUBLIC
    named = [entity for entity in (statement.subject, statement.object, statement.applies_to) if entity]
    return max(statement.predicate.classification, *(thing.classification for thing in (*named, *rows)))


def admitted(result: OperationResult, level: int, clearance: int) -> OperationResult:
    """What a caller of this clearance may know of an outcome at that level.

    Above it not even whether it was new, known, refused or left to a person: each would tell of hidden rows.
    """
    if level <= clearance:
        return result
    return OperationResult(op_index=result.op_index, outcome=Outcome.WITHHELD)
