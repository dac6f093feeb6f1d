"""The evidence of a statement: whose word it is, and the observations it rests on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from gedaechtnis.memory.schemas import Evidence
from gedaechtnis.memory.writing.provenance import Provenance, weight
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.world.models import FactEvidence

OBSERVATION = "observation"
"""Kind of evidence: what an agent noted as it saw it."""


def add(
    session: WriteSession,
    *,
    new: Sequence[UUID],
    known: Sequence[UUID],
    provenance: Provenance,
    evidence: Evidence | None,
    confidence: float,
    sources: Sequence[str],
    tick: datetime,
) -> None:
    """Add a word to the statements (by origin) that it made, and to those that it confirms."""
    for origin_id in dict.fromkeys([*_without(evidence, known), *new]):
        session.add_evidence(
            fact_id=origin_id,
            recorded_at=tick,
            kind=evidence.kind if evidence else "statement",
            text=evidence.text if evidence else "",
            ref=evidence.ref if evidence else None,
            source=provenance.source,
            rank=provenance.rank,
            weight=weight(provenance, evidence, confidence),
        )
    if sources:
        _add_sources(session, dict.fromkeys(sources), dict.fromkeys([*known, *new]), provenance, tick)


def _without(evidence: Evidence | None, origins: Sequence[UUID]) -> list[UUID]:
    """The origins that do not rest on this evidence already: one message read twice is no second confirmation."""
    if evidence is None or evidence.ref is None or not origins:
        return list(origins)
    same = FactEvidence.objects.filter(fact_id__in=origins, kind=evidence.kind, ref=evidence.ref, text=evidence.text)
    known = set(same.values_list("fact_id", flat=True))
    return [origin for origin in origins if origin not in known]


def _add_sources(
    session: WriteSession,
    sources: Collection[str],
    origins: Collection[UUID],
    provenance: Provenance,
    tick: datetime,
) -> None:
    """Each observation once. They weigh nothing: that somebody says so does."""
    told = FactEvidence.objects.filter(fact_id__in=list(origins), kind=OBSERVATION, ref__in=list(sources))
    known = set(told.values_list("fact_id", "ref"))
    for origin in origins:
        for ref in sources:
            if (origin, ref) not in known:
                session.add_evidence(
                    fact_id=origin,
                    recorded_at=tick,
                    kind=OBSERVATION,
                    text="",
                    ref=ref,
                    source=provenance.source,
                    rank=provenance.rank,
                    weight=0.0,
                )
