"""Free-text facts: sentences under a domain and a topic, proposed by the same road as every other statement."""

from __future__ import annotations

from collections.abc import Sequence

from gedaechtnis.common.text import check_text, fold_space
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge.domains import DomainKey, parse
from gedaechtnis.memory.schemas import (
    AssertFact,
    Evidence,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    ProposalResult,
    UpsertEntity,
)
from gedaechtnis.memory.services.commit import commit_proposal

MAX_TOPIC = 200
"""Characters."""


def propose_statement(
    *,
    principal: Principal,
    content: str,
    domain: str,
    topic: str = "",
    repo: str | None = None,
    memory_type: MemoryType = MemoryType.USER_ASSERTION,
    sources: Sequence[str] = (),
    evidence: Evidence | None = None,
    confidence: float = 1.0,
    valid_from: str | None = None,
    valid_to: str | None = None,
    reason: str | None = None,
    run_id: str | None = None,
    scope_ref: str | None = None,
) -> ProposalResult:
    """Propose a sentence; the last result is what became of it.

    A person's word counts at once, an agent's waits for one. Where the same is believed, it is confirmed. Where
    something is believed that is nearly the same and contradicts, a person decides: `conflict_id` names the conflict of
    what was written, and `proposal_id` what waits. `sources` are observations, `obs:<id>`.

    Raises:
        Problem: `invalid_domain`, `invalid_repo`, `conflicting_fields`, or what a proposal raises.
    """
    operations = statement_operations(
        content=content,
        domain=parse(domain, repo=repo),
        topic=topic,
        memory_type=memory_type,
        sources=sources,
        evidence=evidence,
        confidence=confidence,
        valid_from=valid_from,
        valid_to=valid_to,
        reason=reason,
    )
    proposal = MemoryMutationProposal(run_id=run_id, operations=operations)
    return commit_proposal(principal=principal, proposal=proposal, scope_ref=scope_ref)


def statement_operations(
    *,
    content: str,
    domain: DomainKey,
    topic: str = "",
    memory_type: MemoryType = MemoryType.USER_ASSERTION,
    sources: Sequence[str] = (),
    evidence: Evidence | None = None,
    confidence: float = 1.0,
    valid_from: str | None = None,
    valid_to: str | None = None,
    reason: str | None = None,
) -> list[Operation]:
    """A sentence as operations: its domain, made where nobody spoke of it before, and the statement.

    Raises:
        Problem: `too_long`, `invalid_text` for a text or topic that cannot be stored.
    """
    key, text = str(domain), fold_space(check_text(content, field="content"))
    check_text(topic, field="topic", limit=MAX_TOPIC)
    return [
        UpsertEntity(id_hint=_hint(key), kind="domain", canonical_name=key, memory_type=memory_type, evidence=evidence),
        AssertFact(
            subject_ref=_hint(key),
            predicate="statement",
            object_value=text,
            domain=key,
            topic=topic or None,
            memory_type=memory_type,
            sources=list(sources),
            evidence=evidence,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            reason=reason,
        ),
    ]


def _hint(key: str) -> str:
    """What operations of one proposal call a domain: no reference that anything else could be known under."""
    return f"the domain {key}"
