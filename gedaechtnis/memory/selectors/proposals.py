"""Operations that wait for a person, or waited for one."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import CandidateView, ProposalView
from gedaechtnis.memory.selectors.distinguishing import labels, question
from gedaechtnis.memory.wording import why_in_words
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, Proposal


def list_proposals(*, principal: Principal, state: str | None = "open") -> tuple[ProposalView, ...]:
    """Proposals in one state (None: all), oldest first."""
    with scope(principal):
        rows = Proposal.objects.order_by("recorded_at", "op_index")
        return proposal_views(rows.filter(state=state) if state else rows, principal=principal)


def waiting_contradictions(*, principal: Principal) -> tuple[ProposalView, ...]:
    """Proposals that wait because they contradict what is believed, oldest first."""
    with scope(principal):
        rows = Proposal.objects.filter(state=Proposal.State.OPEN).exclude(against=[])
        return proposal_views(rows.order_by("recorded_at", "op_index"), principal=principal)


def proposals_about(*, principal: Principal, entity_id: UUID) -> tuple[ProposalView, ...]:
    """Proposals that wait and name this entity, oldest first. Another one of the same `kind:slug` is not meant."""
    with scope(principal):
        entity = Entity.objects.get(pk=entity_id)
        waiting = Proposal.objects.filter(state=Proposal.State.OPEN).order_by("recorded_at", "op_index")
        return proposal_views([row for row in waiting if _names(row, entity, principal)], principal=principal)


def _names(row: Proposal, entity: Entity, principal: Principal) -> bool:
    named = {row.operation.get(name) for name in references.FIELDS} | set(row.choices.get("entity_ids", ()))
    if str(entity.pk) in named:
        return True
    if entity.ref not in named or entity.ref in row.entities:  # the latter: a new one that bears this reference
        return False
    scopes = references.reach(row.scope_ref, org_id=row.org_id, readable=principal.read_scopes)
    return references.look_up(entity.ref, scopes=scopes) == entity


def proposals_by_id(*, principal: Principal, ids: Iterable[UUID]) -> dict[UUID, ProposalView]:
    """Proposals by id, whatever their state; unreadable ones are left out."""
    with scope(principal):
        return {
            view.id: view for view in proposal_views(Proposal.objects.filter(pk__in=list(ids)), principal=principal)
        }


def proposal_views(rows: Iterable[Proposal], *, principal: Principal) -> tuple[ProposalView, ...]:
    """Proposals in plain words; what is asked is put in the reader's language, with what they know of today."""
    return tuple(_view(row, _candidates(row, principal)) for row in rows)


def _view(row: Proposal, candidates: tuple[CandidateView, ...]) -> ProposalView:
    return ProposalView(
        id=row.pk,
        kind=row.kind,
        state=row.state,
        statement=row.statement,
        why=row.operation.get("reason") or why_in_words(row.why),
        why_code=row.why,
        quote=row.quote,
        proposed_by=row.proposed_by,
        scope_ref=row.scope_ref,
        created_at=row.recorded_at,
        decided_at=row.decided_at,
        fact_id=row.fact_id,
        operation=row.operation,
        present=row.present or None,
        against=tuple(map(UUID, row.against)),
        question=question([candidate.label for candidate in candidates]) if candidates else None,
        candidates=candidates,
    )


def _candidates(row: Proposal, principal: Principal) -> tuple[CandidateView, ...]:
    if row.state != Proposal.State.OPEN or not row.choices:
        return ()
    offered = Entity.objects.in_bulk([UUID(id) for id in row.choices["entity_ids"]])
    known = [offered[UUID(id)] for id in row.choices["entity_ids"] if UUID(id) in offered]
    told = labels(known, principal=principal)
    return tuple(
        CandidateView(id=entity.pk, ref=entity.ref, label=label) for entity, label in zip(known, told, strict=True)
    )
