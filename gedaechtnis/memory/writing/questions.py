"""A name that several entities bear: the operation waits until a person says which of them is meant."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory import references
from gedaechtnis.memory.references import AmbiguousReference
from gedaechtnis.memory.schemas import (
    AddAlias,
    AssertFact,
    AssertRelationship,
    Operation,
    OperationResult,
    Outcome,
    UpsertEntity,
)
from gedaechtnis.memory.writing import classification, proposals, statements
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.entities import EntityBook, Sketch, sketched
from gedaechtnis.world.models import Entity, Proposal


def ask(act: Act, op: Operation, unclear: AmbiguousReference) -> OperationResult:
    """Keep an operation that names one of several until a person says whom it means.

    An `upsert_entity` by itself has nothing to ask; whoever uses its hint asks.

    Raises:
        Problem: `suppressed`, as `proposals.hold`; the ambiguity itself for an operation that cannot wait.
    """
    session = act.session
    session.level = max(entity.classification for entity in unclear.entities)
    if isinstance(op, UpsertEntity):
        act.book.unclear[op.id_hint] = unclear
        return OperationResult(op_index=act.index, outcome=Outcome.PENDING, entity_ref=op.id_hint)
    if not isinstance(op, AssertFact | AssertRelationship | AddAlias):
        raise unclear
    with ExitStack() as stand_ins:
        return proposals.hold_question(
            act, op, unclear=unclear, statement=_worded(act, op, unclear, stand_ins), choices=_choices(unclear)
        )


def _worded(
    act: Act, op: AssertFact | AssertRelationship | AddAlias, unclear: AmbiguousReference, stand_ins: ExitStack
) -> str:
    """What is said, with the bare name where it is not clear who is meant."""
    _stand_in(act.book, op, unclear, stand_ins)
    if isinstance(op, AddAlias):
        with act.session.wording():
            return _("%(name)s is also called %(alias)s") % {"name": unclear.name, "alias": op.alias}
    while True:
        try:
            statement = statements.resolve(op, act.session, act.book, said_at=act.said_at)
        except AmbiguousReference as another:
            _stand_in(act.book, op, another, stand_ins)
        else:
            act.session.level = classification.of_statement(
                act.session, statement, memory_type=act.provenance.memory_type
            )
            return statement.sentence


def _stand_in(book: EntityBook, op: Operation, unclear: AmbiguousReference, stand_ins: ExitStack) -> None:
    stub = _stub(book, unclear.name, unclear.entities[0].kind)
    stub.classification = max(entity.classification for entity in unclear.entities)
    stand_ins.enter_context(book.standing_in(getattr(op, unclear.field or ""), stub))


def _choices(unclear: AmbiguousReference) -> dict[str, Any]:
    return {
        "field": unclear.field,
        "name": unclear.name,
        "entity_ids": [str(entity.pk) for entity in unclear.entities],
    }


def settle(book: EntityBook, ops: Sequence[Operation], results: list[OperationResult], used: set[str]) -> None:
    """An entity of an unclear name that no waiting operation uses: refused, for nothing would come of an answer."""
    for op, result in zip(ops, results, strict=True):
        if isinstance(op, UpsertEntity) and op.id_hint in book.unclear and op.id_hint not in used:
            unclear = book.unclear[op.id_hint]
            results[result.op_index] = OperationResult(
                op_index=result.op_index,
                outcome=Outcome.REJECTED,
                code=unclear.code,
                reason=unclear.detail,
                field="canonical_name",
                extra=unclear.extra,
            )


def answered(proposal: Proposal, op: Operation, choice: UUID | None) -> Operation:
    """The operation about the one that was chosen.

    Raises:
        Problem: `choice_required`, or `not_a_candidate`, with the candidates.
    """
    offered = proposal.choices["entity_ids"]
    if choice is None:
        raise Problem(
            "choice_required", _("Say which one is meant."), field="candidate_id", extra={"candidates": offered}
        )
    if str(choice) not in offered:
        raise Problem(
            "not_a_candidate",
            _("That is none of those in question."),
            field="candidate_id",
            extra={"candidates": offered},
        )
    return op.model_copy(update={proposal.choices["field"]: str(choice)})


def renew(book: EntityBook, proposal: Proposal, op: Operation, unclear: AmbiguousReference) -> None:
    """One name is clear by now, and another is not: the proposal asks for that one."""
    proposal.operation = op.model_dump(mode="json")
    proposal.choices = _choices(unclear)
    proposal.save(update_fields=["operation", "choices"])
    book.session.proposals.append(proposal.pk)


def leave_open(book: EntityBook, proposal: Proposal, op: Operation) -> None:
    """Let every unclear name of a question stand for itself: nobody will say who is meant."""
    if not proposal.choices:
        return
    field, name = proposal.choices["field"], proposal.choices["name"]
    first = references.Stored(book.scopes).by_id(UUID(proposal.choices["entity_ids"][0]))
    book.bound[getattr(op, field)] = _stub(book, name, first.kind if first else "")
    for other in references.FIELDS:
        ref = getattr(op, other, None)
        if ref and other != field:
            try:
                book.bind(ref, field=other)
            except AmbiguousReference as unclear:
                book.bound[ref] = _stub(book, unclear.name, unclear.entities[0].kind)


def _stub(book: EntityBook, name: str, kind: str) -> Entity:
    return sketched(Sketch(hint=name, kind=kind, name=name), book.session)
