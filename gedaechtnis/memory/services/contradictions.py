"""Putting before a person what contradicts and nobody saw as it was written: each pair of statements once.

Two that are believed become a conflict like those that the committer keeps. Of one that waits the person is shown, on
its own proposal, what contradicts it. Nothing is believed or closed by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory.planner import ConflictKind
from gedaechtnis.memory.schemas import MAX_REASON
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.memory.writing import proposals
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.shelf import pair_key
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import ConflictRecord, Entity, Fact, Proposal, Suppression

_SHOWN_TEXT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A statement: believed (`origin_id`), or waiting (`proposal_id`). `voice` brought it up, at `since`."""

    text: str
    voice: str
    since: datetime
    origin_id: UUID | None = None
    proposal_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two statements of a domain and topic; `new` came later, or waits."""

    domain: str
    topic: str
    new: Side
    old: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A pair that a person is asked about: by a conflict, or by a proposal that waits."""

    pair: Contradiction
    conflict_id: UUID | None = None
    proposal_id: UUID | None = None


def raise_contradictions(
    *, principal: Principal, scope_ref: str, pairs: Sequence[Contradiction], limit: int
) -> tuple[Raised, ...]:
    """Ask a person about these pairs, `limit` at most; those that are new.

    A pair is not new where a person is asked about it, or said of it what holds.

    Raises:
        Problem: `scope_denied` (403).
    """
    if not pairs:
        return ()
    with scope(principal, write=scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened)
        asked = _Asked(session, pairs)
        raised: list[Raised] = []
        for pair in pairs:
            if len(raised) == limit:
                break
            if one := asked.about(pair):
                raised.append(one)
        session.finish()
    return tuple(raised)


class _Asked:
    """What is known of some pairs under the scope's clock."""

    def __init__(self, session: WriteSession, pairs: Sequence[Contradiction]) -> None:
        self._session = session
        sides = [side for pair in pairs for side in (pair.new, pair.old)]
        origins = {side.origin_id for side in sides if side.origin_id}
        self._believed = conflicts.standing(origins)
        waiting = Proposal.objects.filter(
            scope_ref=session.scope_ref, state=Proposal.State.OPEN, pk__in={side.proposal_id for side in sides}
        )
        self._waiting = waiting.in_bulk()
        self._written = self._pairs_written(origins)
        domains = Entity.objects.filter(
            scope_ref=session.scope_ref, kind="domain", canonical_name__in={pair.domain for pair in pairs}
        )
        self._domains = dict(domains.values_list("canonical_name", "pk"))
        keys = {key for pair in pairs if (key := self._key(pair))}
        settled = Suppression.objects.filter(scope_ref=session.scope_ref, key__in=keys)
        self._settled = set(settled.values_list("key", flat=True))

    def about(self, pair: Contradiction) -> Raised | None:
        """Ask about one; None where it is not new, or one of the two is there no more."""
        if self._key(pair) in self._settled:
            return None
        waiting = self._waiting.get(pair.new.proposal_id) if pair.new.proposal_id else None
        new = self._believed.get(pair.new.origin_id) if pair.new.origin_id else None
        old = self._believed.get(pair.old.origin_id) if pair.old.origin_id else None
        if waiting is not None and old is not None:
            return self._hold_against(pair, waiting, old)
        if waiting is not None and pair.old.proposal_id in self._waiting:
            return self._told_otherwise(pair, waiting, self._waiting[pair.old.proposal_id])
        if new is not None and old is not None:
            return self._keep(pair, new, old)
        return None

    def _keep(self, pair: Contradiction, new: Fact, old: Fact) -> Raised | None:
        both = frozenset({new.origin_fact_id, old.origin_fact_id})
        if both in self._written:
            return None
        self._written.add(both)
        session, event_id = self._session, uuid7()
        session.level = max(new.classification, old.classification)
        conflict_id = session.add_conflict(
            kind=ConflictKind.CONTRADICTION, fact_id=new.pk, others=[old.pk], tick=session.ticks[0], event_id=event_id
        )
        session.add_event(
            id=event_id,
            event_type="conflict.found",
            tick=session.ticks[0],
            source="system_rule",
            target_entity_id=new.subject_id,
            payload={"conflict_id": str(conflict_id), "fact_ids": [str(new.pk), str(old.pk)]},
            summary=new.statement,
        )
        session.touched.add(new.subject_id)
        return Raised(pair=pair, conflict_id=conflict_id)

    def _hold_against(self, pair: Contradiction, waiting: Proposal, old: Fact) -> Raised | None:
        """The person is asked with both sides, and answers as for what the committer held back."""
        if str(old.origin_fact_id) in waiting.against:
            return None
        waiting.against.append(str(old.origin_fact_id))
        waiting.present = proposals.told(
            waiting.present, self._in_words(pair.old, gettext_noop("%(text)s (%(who)s, %(day)s)"))
        )
        waiting.why = "contradiction"
        waiting.classification = max(waiting.classification, old.classification)
        return self._asked(pair, waiting, ["against", "present", "why", "classification"])

    def _told_otherwise(self, pair: Contradiction, waiting: Proposal, old: Proposal) -> Raised | None:
        """Neither is believed: the person sees on the later one what else was proposed."""
        told = self._in_words(pair.old, gettext_noop("Proposed otherwise by %(who)s on %(day)s: “%(text)s”"))
        reason = waiting.operation.get("reason") or ""
        if told in reason or len(reason) + len(told) >= MAX_REASON:
            return None
        waiting.operation["reason"] = f"{reason} {told}".strip()
        waiting.classification = max(waiting.classification, old.classification)
        return self._asked(pair, waiting, ["operation", "classification"])

    def _asked(self, pair: Contradiction, waiting: Proposal, fields: list[str]) -> Raised:
        waiting.kind = proposals.CONFLICT
        waiting.save(update_fields=["kind", *fields])
        self._session.proposals.append(waiting.pk)
        return Raised(pair=pair, proposal_id=waiting.pk)

    def _in_words(self, side: Side, worded: str) -> str:
        """A side for the person who is asked, whatever language the agent speaks."""
        text = side.text if len(side.text) <= _SHOWN_TEXT else f"{side.text[: _SHOWN_TEXT - 1]}…"
        day = side.since.astimezone(self._session.zone)
        with self._session.wording():
            return _(worded) % {"text": text, "who": role_of(side.voice) or _("a person"), "day": f"{day:%Y-%m-%d}"}

    def _key(self, pair: Contradiction) -> UUID | None:
        subject_id = self._domains.get(pair.domain)
        return pair_key(subject_id, pair.new.text, pair.old.text) if subject_id else None

    def _pairs_written(self, origins: set[UUID]) -> set[frozenset[UUID]]:
        rows = dict(Fact.objects.filter(origin_fact_id__in=origins).values_list("id", "origin_fact_id"))
        found = ConflictRecord.objects.filter(
            Q(fact_id__in=rows) | Q(other_fact_id__in=rows), scope_ref=self._session.scope_ref
        )
        sides = found.values_list("fact_id", "other_fact_id")
        return {frozenset({rows[one], rows[other]}) for one, other in sides if one in rows and other in rows}


def role_of(voice: str) -> str:
    """The role of an agent; "" of anybody else."""
    who, at, _whose = voice.partition("@")
    return who.removeprefix("agent:") if at else ""
