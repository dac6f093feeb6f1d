"""Whose word a statement is. The server decides from the principal and the evidence, never the caller."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gedaechtnis.common.rank import Rank
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory import ports
from gedaechtnis.memory.memory_types import RULES
from gedaechtnis.memory.schemas import Evidence, MemoryType, Source

_HUMAN, _AGENT, _IMPORTED, _TOOL = 1.0, 0.7, 0.6, 0.5
"""How much a restatement weighs, by whose word it is."""

_COMMITTING = {PrincipalKind.PERSON, PrincipalKind.INTEGRATION, PrincipalKind.SYSTEM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The server's judgement of one operation.

    `commits` False sends it to a person; `why` names the reason as a stable word.
    `said_at` is when the person said it or the source saw it, if that is known.
    `quoted`: the evidence was found in a message of the person.
    """

    rank: Rank
    source: Source
    trust_tier: str
    memory_type: MemoryType
    commits: bool
    why: str = ""
    said_at: datetime | None = None
    lowered: bool = False
    quoted: bool = False


def judge(
    *,
    principal: Principal,
    scope_ref: str,
    claimed: Source,
    memory_type: MemoryType,
    evidence: Evidence | None,
    observed_at: datetime | None,
) -> Provenance:
    """Rank, source and route of an operation.

    A person's session or own token is the person. An agent or the curator speaks for the person
    only where its evidence quotes a stored message of theirs; else it is inference and waits.
    """
    if principal.kind in _COMMITTING:
        return Provenance(
            rank=principal.rank,
            source=claimed,
            trust_tier="trusted",
            memory_type=memory_type,
            commits=True,
            said_at=observed_at,
        )
    quote = _quote(scope_ref, evidence)
    if quote is not None:
        explicit = RULES[memory_type].explicit
        return Provenance(
            rank=Rank.PERSON if explicit else principal.rank,
            source=Source.USER_ASSERTION if explicit else Source.INFERENCE,
            trust_tier="trusted",
            memory_type=memory_type,
            commits=explicit,
            why="" if explicit else "derived",
            said_at=quote.sent_at,
            quoted=True,
        )
    lowered = claimed is Source.USER_ASSERTION
    return Provenance(
        rank=principal.rank,
        source=Source.INFERENCE if lowered else claimed,
        trust_tier="trusted" if principal.trusted_writer else "untrusted",
        memory_type=memory_type,
        commits=principal.trusted_writer,
        why="" if principal.trusted_writer else "inference",
        said_at=observed_at,
        lowered=lowered,
    )


def veracity(provenance: Provenance, evidence: Evidence | None) -> float:
    """How far a word can be relied on, by whose it is: a person 1.0, an agent 0.7, an import 0.6, a tool 0.5."""
    kind = evidence.kind if evidence else ""
    if provenance.rank == Rank.PERSON:
        return _HUMAN
    if kind == "import" or provenance.memory_type is MemoryType.IMPORTED:
        return _IMPORTED
    return _TOOL if kind in _MEASURED or provenance.source in _MEASURED else _AGENT


def weight(provenance: Provenance, evidence: Evidence | None, confidence: float) -> float:
    """How much a statement counts where it confirms what is believed, 0 to 1 (`selectors/views.py` folds it).

    A person's word counts whole; of all others it counts as well how sure they said they were.
    """
    reliable = veracity(provenance, evidence)
    return reliable if provenance.rank == Rank.PERSON else reliable * confidence


_MEASURED = frozenset({"tool_result", "observation"})
"""Kinds of evidence and sources that are no words of anybody."""


def _quote(scope_ref: str, evidence: Evidence | None) -> ports.Quote | None:
    if evidence is None or evidence.kind != "conversation_quote" or not evidence.ref or not evidence.text.strip():
        return None
    return ports.find_quote(scope_ref, evidence.ref, evidence.text)
