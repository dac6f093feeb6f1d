"""Operations that wait for a person: kept whole, worded for reading, never among the facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.memory import planner
from gedaechtnis.memory.references import AmbiguousReference
from gedaechtnis.memory.schemas import (
    MAX_SOURCES,
    AddAlias,
    AssertFact,
    AssertRelationship,
    Evidence,
    InvalidateFact,
    Operation,
    OperationResult,
    Outcome,
    UpsertEntity,
)
from gedaechtnis.memory.writing import suppressions
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.entities import read_name
from gedaechtnis.memory.writing.provenance import Provenance
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.statements import Statement
from gedaechtnis.scoping import work
from gedaechtnis.world.models import Entity, Fact, Proposal

POST_REVIEW = "post_review"
"""Kind of the work that shows open proposals to the person; handled by the chat."""

FACT = "fact"
CONFLICT = "conflict"
ENTITY = "entity"
QUESTION = "question"
MERGE = "merge"


def held_back(provenance: Provenance, *, why: str) -> Provenance:
    """The same judgement, but a person decides."""
    return replace(provenance, commits=False, why=why)


def unquoted(evidence: Evidence) -> Evidence:
    """A claimed quotation that was found nowhere: a note, so that nobody reads it as the person's words."""
    return evidence.model_copy(update={"kind": "note"}) if evidence.kind == "conversation_quote" else evidence


def hold(
    act: Act,
    op: AssertFact | AssertRelationship,
    *,
    statement: Statement,
    rows: dict[UUID, Fact],
    conflict: planner.Conflict | None,
    rivals: Sequence[Fact] = (),
) -> OperationResult:
    """Keep an assertion for a person; `rivals` are believed statements that it contradicts without replacing them.

    Raises:
        Problem: `suppressed` if the person declined the same suggestion before.
    """
    present = told(standing(statement, rows), in_words(rivals))
    return _store(
        act,
        op,
        kind=CONFLICT if conflict or present else FACT,
        why="contradiction" if rivals else "conflict" if conflict and act.provenance.commits else act.provenance.why,
        statement=statement.sentence,
        built_on=built_on(rows),
        present=present,
        entity_ref=statement.subject.ref,
        against=[str(row.origin_fact_id) for row in rivals],
    )


def built_on(rows: dict[UUID, Fact]) -> list[str]:
    """The believed rows that an operation was judged against; others on acceptance mean that it is stale."""
    return sorted(str(id) for id in rows)


def standing(statement: Statement, rows: dict[UUID, Fact]) -> str:
    """What is believed in the slot and says something else."""
    others = (
        row for row in rows.values() if row.object_key != statement.object_key or row.polarity != statement.polarity
    )
    return in_words(others)


def told(*parts: str) -> str:
    """What stands against an operation, as one text."""
    return "; ".join(part for part in parts if part)


def in_words(rows: Iterable[Fact]) -> str:
    """The statements of rows, each once."""
    return "; ".join(dict.fromkeys(row.statement for row in rows))


def hold_invalidation(act: Act, op: InvalidateFact, *, row: Fact, rows: dict[UUID, Fact]) -> OperationResult:
    """Keep an ending or a retraction of what is believed of `row` for a person.

    Raises:
        Problem: `suppressed`, as `hold`.
    """
    with act.session.wording():
        worded = _("No longer: %(statement)s") if op.mode == "end" else _("Not true: %(statement)s")
    return _store(
        act,
        op,
        kind=CONFLICT,
        why="conflict" if act.provenance.commits else act.provenance.why,
        statement=worded % {"statement": row.statement},
        built_on=built_on(rows),
        present=in_words(rows.values()),
        entity_ref=None,
    )


def hold_alias(act: Act, op: AddAlias, *, entity: Entity) -> OperationResult:
    """Keep a further name for a person. Raises as `hold`."""
    with act.session.wording():
        worded = _("%(name)s is also called %(alias)s")
    return _store(
        act,
        op,
        kind=ENTITY,
        why=act.provenance.why,
        statement=worded % {"name": entity.canonical_name, "alias": read_name(op.alias, field="alias")},
        entity_ref=entity.ref,
    )


def hold_entity(act: Act, op: UpsertEntity) -> OperationResult:
    """Keep a new entity for a person, when no waiting fact brings it along. Raises as `hold`."""
    with act.session.wording():
        label = act.session.catalogue.kind_label(op.kind)
    return _store(
        act,
        op,
        kind=ENTITY,
        why=act.provenance.why,
        statement=f"{read_name(op.canonical_name, field='canonical_name')} ({label})",
        entity_ref=op.id_hint,
    )


def hold_question(
    act: Act, op: Operation, *, unclear: AmbiguousReference, statement: str, choices: dict[str, Any]
) -> OperationResult:
    """Keep an operation until a person says which of several entities it means. Raises as `hold`."""
    result = _store(act, op, kind=QUESTION, why="ambiguous", statement=statement, entity_ref=None, choices=choices)
    return result.model_copy(update={"field": unclear.field, "extra": unclear.extra})


def _store(
    act: Act,
    op: Operation,
    *,
    kind: str,
    why: str,
    statement: str,
    entity_ref: str | None,
    built_on: list[str] | None = None,
    present: str = "",
    choices: dict[str, Any] | None = None,
    against: list[str] | None = None,
) -> OperationResult:
    if act.session.leading is not None:
        proposal = _join(act, op, act.session.leading, statement)
    else:
        suppressions.refuse(act, op)
        proposal = _open(
            act.session,
            act.tick,
            kind=kind,
            operation=act.book.pinned(op),
            entities=act.book.waiting_on(op),
            statement=statement,
            why=why,
            quote=op.evidence.text if op.evidence and op.evidence.kind == "conversation_quote" else "",
            built_on=built_on or [],
            default_from=act.said_at,
            present=present,
            choices=choices or {},
            against=against or [],
            op_index=act.index,
        )
    if act.session.together:
        act.session.leading = proposal
    return OperationResult(
        op_index=act.index, outcome=Outcome.PENDING, entity_ref=entity_ref, proposal_id=proposal.pk, reason=why
    )


def _join(act: Act, op: Operation, proposal: Proposal, statement: str) -> Proposal:
    """Let an operation wait with the one it was proposed together with: a person decides about both at once."""
    proposal.following.append(act.book.pinned(op))
    proposal.entities |= act.book.waiting_on(op)
    if not isinstance(op, UpsertEntity):
        proposal.statement = f"{proposal.statement}; {statement}"
    proposal.classification = max(proposal.classification, act.session.level)
    proposal.save(update_fields=["following", "entities", "statement", "classification"])
    return proposal


def add_sources(proposal: Proposal, refs: Iterable[str]) -> None:
    """Let a statement that waits rest on more, as far as one may name sources."""
    sources = dict.fromkeys([*proposal.operation.get("sources", ()), *refs])
    proposal.operation["sources"] = list(sources)[:MAX_SOURCES]
    proposal.save(update_fields=["operation"])


def answer_merge(session: WriteSession, *, source: Entity, target: Entity) -> None:
    """Whoever merges two has answered the question whether they are one."""
    pair = [str(source.pk), str(target.pk)]
    asked = Proposal.objects.filter(
        scope_ref=session.scope_ref,
        kind=MERGE,
        state=Proposal.State.OPEN,
        operation__subject_ref__in=pair,
        operation__object_ref__in=pair,
    )
    session.proposals += asked.values_list("pk", flat=True)
    asked.update(state=Proposal.State.ACCEPTED, decided_at=session.ticks[0], decided_by=session.principal.acted_by)


def hold_merge(session: WriteSession, *, source: Entity, target: Entity, why: str) -> Proposal:
    """Ask a person whether two are one; accepting merges `source` into `target`."""
    session.level = max(source.classification, target.classification)
    with session.wording():
        worded = _("Are %(one)s and %(other)s the same?")
    return _open(
        session,
        session.ticks[0],
        kind=MERGE,
        operation={"op": "merge_entities", "subject_ref": str(source.pk), "object_ref": str(target.pk)},
        statement=worded % {"one": source.canonical_name, "other": target.canonical_name},
        why=why,
        default_from=session.ticks[0],
        op_index=0,
    )


def _open(session: WriteSession, tick: datetime, **columns: Any) -> Proposal:
    proposal = Proposal.objects.create(
        id=uuid7(),
        **session.ownership,
        classification=session.level,
        proposed_by=session.principal.acted_by,
        run_id=session.run_id,
        recorded_at=tick,
        **columns,
    )
    add_event(session, proposal, "proposal.opened", tick)
    session.proposals.append(proposal.pk)
    work.enqueue(
        kind=POST_REVIEW,
        scope_ref=session.scope_ref,
        org_id=session.org_id,
        acting_sub=session.principal.sub,
        dedupe_key=POST_REVIEW,
    )
    return proposal


def add_event(
    session: WriteSession, proposal: Proposal, event_type: str, tick: datetime, changes: dict[str, Any] | None = None
) -> UUID:
    """Append what happened to a proposal."""
    event_id = uuid7()
    session.add_event(
        id=event_id,
        event_type=event_type,
        tick=tick,
        source="system_rule",
        payload={"proposal_id": str(proposal.pk), **(changes or {})},
    )
    return event_id
