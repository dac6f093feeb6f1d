"""Tools that change the memory: they propose, by the same road as everybody. An agent's proposal waits for a person
unless it quotes their words; a person's own word counts at once.
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains, facts, grants
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.schemas import (
    AssertFact,
    AssertRelationship,
    Evidence,
    InvalidateFact,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    OperationResult,
    Outcome,
    UpsertEntity,
)
from gedaechtnis.memory.services import commit
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.tools import arguments, naming, text
from gedaechtnis.tools.data import ProposedData, ToolAnswer

_SUBJECT, _OBJECT = "the subject", "the object"
"""How operations of one proposal name what they introduce."""
_CONFLICTS = frozenset({"nothing_believed", "already_ended", "stale", "suppressed", "ambiguous_reference"})
_ARGUMENT_OF = {
    "subject_ref": "subject",
    "object_ref": "object",
    "object_value": "object",
    "applies_to_ref": "applies_to",
    "canonical_name": "subject",
    "target_fact_id": "fact",
    "content": "object",
    "based_on_fact_id": "fact",
    "replaces_fact_id": "fact",
}
"""Fields of operations by the argument that fills them."""


def propose_fact(principal: Principal, asked: arguments.ProposeFact) -> ToolAnswer:
    """A new statement about something, which may be new itself."""
    if asked.domain is not None and asked.subject is None and asked.predicate is None:
        proposed = _propose(principal, _free_text(asked, asked.domain), asked.run_id)
        place = (principal.default_scope, str(domains.parse(asked.domain, repo=asked.repo)))
        mind = grants.hint(principal, [place], writing=True)
        return ToolAnswer(text=text.joined(proposed.text, mind), data=proposed.data)
    if asked.subject is None or asked.predicate is None:
        missing = "subject" if asked.subject is None else "predicate"
        raise Problem(
            "missing",
            _("A fact has a subject and a predicate; a sentence of the workspace has a `domain` and neither of them."),
            field=missing,
        )
    if asked.domain is None and (asked.repo or asked.topic):
        raise Problem("conflicting_fields", _("`topic` and `repo` go with `domain`."), field="domain")
    operations: list[Operation] = []
    subject = asked.subject
    if asked.subject_kind is not None and not references.is_reference(asked.subject):
        operations.append(UpsertEntity(id_hint=_SUBJECT, kind=asked.subject_kind, canonical_name=asked.subject))
        subject = _SUBJECT
    target: Any = asked.object
    if asked.object_kind is not None and isinstance(target, str) and not references.is_reference(target):
        operations.append(UpsertEntity(id_hint=_OBJECT, kind=asked.object_kind, canonical_name=target))
        target = _OBJECT
    statement = _statement(
        asked.predicate,
        target,
        subject_ref=subject,
        polarity=not asked.negated,
        valid_from=asked.valid_from,
        valid_to=asked.valid_to,
        confidence=asked.confidence,
        memory_type=MemoryType(asked.memory_type),
        evidence=_evidence(asked.quote, asked.message),
        applies_to_ref=asked.applies_to,
        domain=str(domains.parse(asked.domain, repo=asked.repo)) if asked.domain else None,
        topic=asked.topic or None,
        reason=asked.reason,
    )
    if isinstance(statement, AssertFact):
        statement.sources = asked.sources
    hint = naming.close_to(asked.predicate)  # afterwards the predicate is known
    answer = _propose(principal, [*operations, statement], asked.run_id)
    return ToolAnswer(text=text.joined(answer.text, hint), data=answer.data)


def _free_text(asked: arguments.ProposeFact, domain: str) -> list[Operation]:
    """A sentence about the workspace. Raises Problem for what only other facts have."""
    for name in ("subject_kind", "object_kind", "applies_to"):
        if getattr(asked, name) is not None:
            raise Problem(
                "conflicting_fields", _("`%(name)s` does not go with a sentence.") % {"name": name}, field=name
            )
    if asked.negated or not isinstance(asked.object, str):
        raise Problem("conflicting_fields", _("A sentence is a text, and says itself what is not so."), field="object")
    return facts.statement_operations(
        content=asked.object,
        domain=domains.parse(domain, repo=asked.repo),
        topic=asked.topic,
        memory_type=MemoryType(asked.memory_type),
        sources=asked.sources,
        evidence=_evidence(asked.quote, asked.message),
        confidence=asked.confidence,
        valid_from=asked.valid_from,
        valid_to=asked.valid_to,
        reason=asked.reason,
    )


def supersede_fact(principal: Principal, asked: arguments.SupersedeFact) -> ToolAnswer:
    """Something else in place of a belief: from some time on, or all along."""
    old = naming.fact(principal, asked.fact)
    was_wrong = asked.how == "was_wrong"
    operations: list[Operation] = []
    is_free_text = bool(old.domain) and old.predicate == "statement"
    if not was_wrong and not is_free_text and not _takes_one(old.predicate):
        operations.append(_ending(old, asked.valid_from, asked.reason))
    statement = _statement(
        old.predicate,
        asked.object,
        subject_ref=str(old.subject_id),
        polarity=old.polarity,
        valid_from=asked.valid_from,
        memory_type=MemoryType.CORRECTION if was_wrong else MemoryType.USER_ASSERTION,
        correction=was_wrong,
        replaces_fact_id=str(old.id) if was_wrong or is_free_text else None,
        based_on_fact_id=None if was_wrong or is_free_text or operations else str(old.id),
        domain=old.domain or None,
        topic=old.topic or None,
        evidence=_evidence(asked.quote, asked.message),
        applies_to_ref=old.applies_to_ref,
        reason=asked.reason,
    )
    return _propose(principal, [*operations, statement], asked.run_id, old.scope_ref)


def forget(principal: Principal, asked: arguments.Forget) -> ToolAnswer:
    """A belief goes: it never held, or holds no longer. What was known when stays answerable."""
    old = naming.fact(principal, asked.fact)
    if asked.how == "ended":
        operation = _ending(old, asked.at, asked.reason)
    else:
        if asked.at is not None:
            raise Problem("conflicting_fields", _("`at` goes with `ended`: what never held has no end."), field="at")
        operation = InvalidateFact(target_fact_id=str(old.id), mode="retract", reason=asked.reason)
    return _propose(principal, [operation], asked.run_id, old.scope_ref)


def _statement(predicate: str, target: Any, **said: Any) -> AssertFact | AssertRelationship:
    """A fact or a relationship, as the predicate takes one; of an unknown predicate, as the object looks."""
    term = catalogue().predicates.get(predicate) or catalogue().inverses.get(predicate)
    known = term is not None and term.value_type != Predicate.ValueType.ANY
    is_relation = (
        term is not None and term.value_type == Predicate.ValueType.ENTITY
        if known
        else target == _OBJECT or (isinstance(target, str) and references.is_reference(target))
    )
    if is_relation:
        return AssertRelationship(predicate=predicate, object_ref=str(target), **said)
    return AssertFact(predicate=predicate, object_value=target, **said)


def _takes_one(predicate: str) -> bool:
    term = catalogue().predicates.get(predicate)
    return term is not None and term.is_functional


def _ending(old: FactView, at: str | None, reason: str | None) -> InvalidateFact:
    return InvalidateFact(target_fact_id=str(old.id), mode="end", at=at, reason=reason)


def _evidence(quote: str | None, message: str | None) -> Evidence | None:
    """A quote proves only with its message; without one it is kept as what the agent noted."""
    return Evidence(text=quote, ref=message) if quote else None


def _propose(
    principal: Principal, operations: list[Operation], run_id: str | None, scope_ref: str | None = None
) -> ToolAnswer:
    """All in one proposal; the outcome is that of the last operation, unless one before it was refused.

    Raises:
        Problem: why a rule refuses, with the argument at fault.
    """
    try:
        result = commit.commit_proposal(
            principal=principal,
            proposal=MemoryMutationProposal(run_id=run_id, operations=operations),
            scope_ref=scope_ref,
        )
    except Problem as problem:
        raise _of_argument(problem) from problem
    for one in result.results:
        if one.code is not None:
            status = 409 if one.code in _CONFLICTS else 422
            raise _of_argument(Problem(one.code, one.reason or _("This was refused."), status, one.field, one.extra))
    last = result.results[-1]
    return ToolAnswer(text=outcome_in_words(last), data=ProposedData.of(last, result.run_id))


def outcome_in_words(result: OperationResult) -> str:
    """What became of it, and by which name it can be asked for."""
    told = _TOLD[result.outcome]()
    if result.conflict_id or result.reason == "contradiction":
        told = text.joined(told, _("It contradicts what is believed; list_memory_conflicts shows both sides."))
    of = f"fact:{result.fact_id}" if result.fact_id else f"proposal:{result.proposal_id}" if result.proposal_id else ""
    return f"{told} ({of})" if of else told


def _of_argument(problem: Problem) -> Problem:
    name = (problem.field or "").rpartition(".")[2]
    return problem.at(_ARGUMENT_OF.get(name, name)) if name else problem


_TOLD = {
    Outcome.COMMITTED: lambda: _("Kept."),
    Outcome.RESTATED: lambda: _("Known already; this was added as another source."),
    Outcome.PENDING: lambda: _("Proposed. It counts once the person agrees; until then nobody is told it as a fact."),
    Outcome.DUPLICATE: lambda: _("This was proposed before under the same run id; nothing changed."),
    Outcome.WITHHELD: lambda: _("Taken in. What became of it lies above what you may see."),
    Outcome.REJECTED: lambda: _("This was refused."),
}
