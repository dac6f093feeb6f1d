"""The state of one write transaction: its scope, its ticks, and what is written at its end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import translation

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.instants import rfc3339
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import events, references
from gedaechtnis.memory.writing import quota
from gedaechtnis.memory.writing.directory import Directory
from gedaechtnis.memory.writing.ledger import Ledger
from gedaechtnis.memory.writing.shelf import NO_MEANINGS, Meanings, Shelf
from gedaechtnis.registry.catalogue import Catalogue, catalogue
from gedaechtnis.scoping import clocks, work
from gedaechtnis.scoping.context import Scope, scope
from gedaechtnis.scoping.models import PUBLIC
from gedaechtnis.scoping.rows import insert, insert_made
from gedaechtnis.world.models import ConflictRecord, FactEvidence, OperationRecord, Proposal, WorldEvent

IDENTIFY = "identify"
"""Kind of the work that looks whether something new is somebody known (`services/identification.py`)."""

INDEX = "index"
"""Kind of the work that makes what was written findable (`projecting/index.py`)."""


@dataclass(kw_only=True)
class WriteSession:
    """Made inside an open write scope. Holds the scope's clock until the transaction ends.

    `level` is the classification of what the operation under way writes; each sets it before it writes.
    `to_identify`: something was met, or learned a handle of, that may be somebody known.
    `together`: its operations are one; if they wait, they wait as `leading`, the proposal of the first that does.
    Rows that nothing reads within the transaction are collected and inserted by `finish()`.
    """

    principal: Principal
    scope_ref: str
    org_id: UUID | None
    ticks: list[datetime]
    zone: ZoneInfo
    run_id: str = ""
    chat_id: UUID | None = None
    level: int = PUBLIC
    catalogue: Catalogue = field(default_factory=catalogue)
    ledger: Ledger
    shelf: Shelf
    directory: Directory
    touched: set[UUID] = field(default_factory=set)
    to_identify: bool = False
    proposals: list[UUID] = field(default_factory=list)
    together: bool = False
    leading: Proposal | None = None
    _stored_tokens: int | None = None
    _growth_before: int = 0
    _events: list[dict[str, Any]] = field(default_factory=list)
    _evidence: list[dict[str, Any]] = field(default_factory=list)
    _records: list[dict[str, Any]] = field(default_factory=list)
    _conflicts: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def begin(
        cls,
        opened: Scope,
        *,
        operations: int = 1,
        zone: ZoneInfo | None = None,
        run_id: str = "",
        chat_id: UUID | None = None,
        meanings: Meanings = NO_MEANINGS,
    ) -> WriteSession:
        """Lock the scope's clock and take one tick per operation."""
        if opened.write is None:
            raise RuntimeError("a write session needs a write scope")
        org_id = org_of(opened.write, opened)
        ledger = Ledger(scope_ref=opened.write)
        scopes = references.reach(opened.write, org_id=org_id, readable=opened.principal.read_scopes)
        ticks = clocks.take(opened.write, operations, org_id=org_id)
        return cls(
            principal=opened.principal,
            scope_ref=opened.write,
            org_id=org_id,
            ticks=ticks,
            zone=zone or opened.principal.zone,
            run_id=run_id,
            chat_id=chat_id,
            ledger=ledger,
            shelf=Shelf(scope_ref=opened.write, tick=ticks[0], ledger=ledger, meanings=meanings),
            directory=Directory(scopes=scopes),
        )

    @property
    def ownership(self) -> dict[str, Any]:
        """The columns that every scoped row shares."""
        return {"scope_ref": self.scope_ref, "org_id": self.org_id}

    def add_event(
        self,
        *,
        id: UUID,
        event_type: str,
        tick: datetime,
        source: str,
        trust_tier: str = "trusted",
        occurred_at: datetime | None = None,
        target_entity_id: UUID | None = None,
        caused_by_event_id: UUID | None = None,
        payload: dict[str, Any] | None = None,
        summary: str = "",
        retention_class: str = "permanent",
    ) -> None:
        self._events.append(
            {
                "id": id,
                **self.ownership,
                "classification": self.level,
                "event_type": event_type,
                "occurred_at": occurred_at or tick,
                "recorded_at": tick,
                "source": source,
                "source_trust_tier": trust_tier,
                "acted_by": self.principal.acted_by,
                "target_entity_id": target_entity_id,
                "caused_by_event_id": caused_by_event_id,
                "causation_kind": "direct" if caused_by_event_id else "",
                "correlation_id": self.run_id,
                "run_id": self.run_id,
                "chat_id": self.chat_id,
                "payload": payload or {},
                "summary": summary,
                "retention_class": retention_class,
            }
        )

    def add_evidence(
        self,
        *,
        fact_id: UUID,
        recorded_at: datetime,
        kind: str,
        text: str,
        ref: str | None,
        source: str,
        rank: int,
        weight: float,
    ) -> None:
        self._evidence.append(
            {
                "id": uuid7(),
                **self.ownership,
                "classification": self.level,
                "acted_by": self.principal.acted_by,
                "fact_id": fact_id,
                "recorded_at": recorded_at,
                "kind": kind,
                "text": text,
                "ref": ref,
                "source": source,
                "rank": rank,
                "weight": weight,
            }
        )

    def has_evidence(self, fact_ids: Collection[UUID]) -> bool:
        """Whether this transaction adds evidence to one of these origins."""
        return any(piece["fact_id"] in fact_ids for piece in self._evidence)

    def add_conflict(self, *, kind: str, fact_id: UUID, others: Sequence[UUID], tick: datetime, event_id: UUID) -> UUID:
        """Keep that a row was written although others claimed the same instants; returns the first entry's id."""
        made = [
            {
                "id": uuid7(),
                **self.ownership,
                "classification": self.level,
                "kind": kind,
                "fact_id": fact_id,
                "other_fact_id": other,
                "recorded_at": tick,
                "event_id": event_id,
            }
            for other in others
        ]
        self._conflicts += made
        first: UUID = made[0]["id"]
        return first

    def add_record(self, *, op_index: int, body_hash: UUID, tick: datetime, result: dict[str, Any], level: int) -> None:
        self._records.append(
            {
                "id": uuid7(),
                **self.ownership,
                "classification": level,
                "principal": self.principal.acted_by,
                "run_id": self.run_id,
                "op_index": op_index,
                "body_hash": body_hash,
                "tick": tick,
                "result": result,
            }
        )

    def wording(self) -> AbstractContextManager[None]:
        """What is worded within is in the writer's language. Switching costs more than wording: mostly it is theirs."""
        language = self.principal.language
        return nullcontext() if translation.get_language() == language else translation.override(language)

    @contextmanager
    def as_caller(self) -> Iterator[None]:
        """Read no further than the caller's clearance reaches: what they name must exist for them."""
        if self.principal.clearance >= MAX_CLEARANCE:
            yield
            return
        with scope(self.principal, write=self.scope_ref):
            yield

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """All or nothing: a Problem takes back what was collected within.

        What an operation writes at once, it writes after the last check that may refuse it.
        """
        lists: tuple[list[Any], ...] = (
            self.directory.made,
            self.directory.named,
            self.proposals,
            self._events,
            self._evidence,
            self._records,
            self._conflicts,
        )
        lengths, touched, mark = [len(collected) for collected in lists], set(self.touched), self.ledger.mark()
        self._growth_before = self.ledger.growth
        try:
            yield
        except Problem:
            if len(self.directory.made) > lengths[0]:
                del self.directory.made[lengths[0] :]
                self.directory.forget()
            for collected, length in zip(lists, lengths, strict=True):
                del collected[length:]
            self.touched = touched
            self.ledger.rollback(mark)
            raise

    def check_quota(self) -> None:
        """Refuse what makes the scope hold more than it may; what does not make it grow always passes.

        What is stored is only counted where there is a limit, once.

        Raises:
            Problem: `quota_exceeded` (409) with `used`, `limit` and `needed`.
        """
        limit: int = settings.GEDAECHTNIS_SCOPE_MAX_TOKENS
        if not limit or self.ledger.growth <= 0:
            return
        if self._stored_tokens is None:
            self._stored_tokens = quota.stored(self.scope_ref)
        if self._stored_tokens + self.ledger.growth > limit:
            used = self._stored_tokens + self._growth_before
            raise quota.exceeded(used=used, limit=limit, needed=self.ledger.growth - self._growth_before)

    def finish(self) -> None:
        """Write what was collected and announce it after commit."""
        insert_made(self.directory.made)
        insert_made(self.directory.named)
        self.ledger.flush()
        insert(FactEvidence, self._evidence)
        insert(WorldEvent, self._events)
        insert(OperationRecord, self._records)
        insert(ConflictRecord, self._conflicts)
        if self.to_identify:
            work.enqueue(
                kind=IDENTIFY,
                scope_ref=self.scope_ref,
                org_id=self.org_id,
                acting_sub=self.principal.sub,
                dedupe_key=f"{rfc3339(self.ticks[0])}..{rfc3339(self.ticks[-1])}",
            )
        work.enqueue(kind=INDEX, scope_ref=self.scope_ref, dedupe_key="")
        if self.touched:
            events.publish_on_commit(self.scope_ref, events.MEMORY_COMMITTED, sorted(self.touched))
        if self.proposals:
            events.publish_on_commit(self.scope_ref, events.PROPOSAL_CHANGED, self.proposals)


def org_of(scope_ref: str, opened: Scope) -> UUID | None:
    """The org column of rows in a scope: none for people and global rows."""
    if scope_ref.startswith("org:"):
        return UUID(scope_ref.removeprefix("org:"))
    if scope_ref.startswith("group:"):
        return opened.principal.group_orgs.get(scope_ref)
    return None
