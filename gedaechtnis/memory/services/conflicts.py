"""A person's word on statements that were written although they contradict others; each conflict exactly once."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import ConflictView
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.memory.writing import settling
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.settling import Keep
from gedaechtnis.scoping.context import Scope, scope
from gedaechtnis.world.models import ConflictRecord, Fact


def settle(*, principal: Principal, conflict_id: UUID, keep: Keep, reason: str | None = None) -> ConflictView:
    """Say what holds: the `new` statement instead of the old one, the `old` one alone, or `both`.

    Nothing is lost: what goes is closed, and stays in the history. Where the old statement was replaced as the new one
    was written, `new` agrees with that; everything else is a correction of the fact.

    Raises:
        NotFound: no such conflict for this principal.
        Problem: `person_required`, `scope_denied` (403); `already_settled` (409, first wins); `stale` (409) if one of
            the statements is believed no longer; `cannot_keep` where the old one was replaced already.
    """
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can decide this."), 403)
    with scope(principal):
        found = ConflictRecord.objects.filter(pk=conflict_id).first()
    if found is None:
        raise references.not_found(str(conflict_id))
    with scope(principal, write=found.scope_ref, clearance=MAX_CLEARANCE) as opened:
        _settle(opened, conflict_id, keep, reason)
    return conflicts.get_conflict(principal=principal, conflict_id=conflict_id)


def _settle(opened: Scope, conflict_id: UUID, keep: Keep, reason: str | None) -> None:
    session = WriteSession.begin(opened, run_id=f"conflict-{conflict_id}")
    conflict = ConflictRecord.objects.get(pk=conflict_id)
    if conflict.settled_at is not None:
        raise Problem("already_settled", _("This was settled already."), 409, extra={"kept": conflict.settled_as})
    session.level = conflict.classification
    facts = Fact.objects.in_bulk([conflict.fact_id, conflict.other_fact_id])
    new, old = facts[conflict.fact_id], facts[conflict.other_fact_id]
    closed: list[UUID] = []
    if conflicts.keeps_both(new, old):
        standing = conflicts.standing([new.origin_fact_id, old.origin_fact_id])
        if len(standing) < 2:
            raise Problem("stale", _("What this builds on has changed since. Please look at it again."), 409)
        new, old = standing[new.origin_fact_id], standing[old.origin_fact_id]
        if keep == "new":
            closed = settling.supersede(session, old, by=new)
        elif keep == "old":
            closed = settling.withdraw(session, new)
        else:
            settling.let_both_stand(session, new, [old])
    elif keep != "new":
        raise Problem("cannot_keep", _("The old one was replaced already. Correct the fact instead."), 409, "keep")
    conflict.settled_at = session.ticks[0]
    conflict.settled_as = keep
    conflict.settled_by = session.principal.acted_by
    conflict.save(update_fields=["settled_at", "settled_as", "settled_by"])
    session.add_event(
        id=uuid7(),
        event_type="conflict.settled",
        tick=session.ticks[0],
        source="user_assertion",
        target_entity_id=new.subject_id,
        payload={
            "conflict_id": str(conflict.pk),
            "keep": keep,
            "reason": reason or "",
            "closed_fact_ids": [str(id) for id in closed],
        },
        summary=new.statement,
    )
    session.touched.add(new.subject_id)
    session.finish()
