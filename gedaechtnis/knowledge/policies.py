"""Policies: rules that go into every run of a workspace, each on a person's word.

A policy is a believed fact `policy_rule`; it is active while it holds. Whoever it is about, it counts: a rule said in
the chat stands on the person themselves, one that was proposed here on an entity of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from gedaechtnis.common import clock
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains
from gedaechtnis.knowledge.agents import reading
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.selectors.context.rendering import tokens_of
from gedaechtnis.memory.selectors.proposals import proposal_views
from gedaechtnis.memory.writing.session import org_of
from gedaechtnis.scoping.context import current_scope, scope
from gedaechtnis.world.models import Fact, Proposal

RULE, ROLE = "policy_rule", "required_role"
GENERAL = "general"
"""The domain of a rule that nobody put into another."""

# Both predicates in one reading of one table and one index, whatever else the scopes hold.
_ROWS = """
WITH now AS (
  SELECT greatest(%(at)s::timestamptz, max(tick)) AS at FROM scopes WHERE scope_ref = ANY(%(scopes)s)
)
SELECT id, origin_fact_id, supersedes_fact_id, subject_id, predicate, object_value #>> '{}', domain, scope_ref, slot,
  valid_from, valid_to, made_at, source, acted_by,
  valid_from <= (SELECT at FROM now) AND (valid_to IS NULL OR valid_to > (SELECT at FROM now))
FROM facts
WHERE scope_ref = ANY(%(scopes)s) AND predicate = ANY(%(predicates)s) AND superseded_at IS NULL AND polarity
"""
_ACTIVE = _ROWS + " AND valid_from <= (SELECT at FROM now) AND (valid_to IS NULL OR valid_to > (SELECT at FROM now))"  # noqa: S608 (all parts are ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyView:
    """`id` is that of the fact; `entity_id` what it stands on. `made_at`: when it was said, `acted_by`: by whom."""

    id: UUID
    entity_id: UUID
    rule: str
    domain: str
    required_role: str | None
    is_active: bool
    scope_ref: str
    valid_from: datetime
    valid_to: datetime | None
    made_at: datetime
    source: str
    acted_by: str

    @property
    def line(self) -> str:
        """As a run is told it, but for its role."""
        return f"- [{self.domain}] {self.rule}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """`characters` and `tokens` are what the active ones take of every run; `waiting` are proposals about policies."""

    items: tuple[PolicyView, ...]
    characters: int
    tokens: int
    waiting: tuple[ProposalView, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A believed row of either predicate."""

    id: UUID
    origin_id: UUID
    supersedes_id: UUID | None
    subject_id: UUID
    predicate: str
    value: str
    domain: str
    scope_ref: str
    slot: UUID
    valid_from: datetime
    valid_to: datetime | None
    made_at: datetime
    source: str
    acted_by: str
    holds: bool


def active(*, principal: Principal, scope_ref: str | None = None, repo: str | None = None) -> tuple[PolicyView, ...]:
    """All rules that hold in a run of a scope (the principal's default unless named): its own and of what is around it.

    Those of the repository at hand come first, then by domain, then by age. Inside an open door of the principal it is
    one statement.

    Raises:
        NotFound: a scope that the principal does not read.
        Problem: `invalid_repo`.
    """
    prefix = domains.prefix(repo)
    with reading(principal):
        return _views(_read(_ACTIVE, around(principal, scope_ref)), prefix)


def list_policies(
    *, principal: Principal, scope_ref: str | None = None, repo: str | None = None, include_inactive: bool = False
) -> Policies:
    """The policies of a scope and what is around it, with what they take of each run, and what waits for a person.

    `include_inactive` adds, after the active ones, those that were switched off or begin later; what another rule took
    the place of is left to the history.

    Raises: as `active`.
    """
    prefix = domains.prefix(repo)
    with scope(principal):
        scopes = around(principal, scope_ref)
        rows = _read(_ROWS, scopes)
        shown = _views([row for row in rows if row.holds], prefix)
        told = "\n".join(policy.line for policy in shown)
        if include_inactive:
            gone = {row.slot for row in rows if row.holds and row.predicate == RULE} | _replaced(rows)
            shown += _views([row for row in rows if row.slot not in gone or row.predicate == ROLE], prefix)
        return Policies(items=shown, characters=len(told), tokens=tokens_of(told), waiting=_waiting(principal, scopes))


def around(principal: Principal, scope_ref: str | None) -> list[str]:
    """The scopes whose policies reach a run in one: all of whose readers read them. Within an open door.

    Raises:
        NotFound: a scope that the principal does not read.
    """
    ref = scope_ref or principal.default_scope
    opened = current_scope()
    if opened is None or ref not in principal.read_scopes:
        raise references.not_found(ref, "scope_ref")
    return references.reach(ref, org_id=org_of(ref, opened), readable=principal.read_scopes)


def _read(sql: str, scopes: Sequence[str]) -> list[_Row]:
    parameters: dict[str, Any] = {"at": clock.now(), "scopes": list(scopes), "predicates": [RULE, ROLE]}
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY  # to read times as text takes longer than to find the rows
        cursor.execute(sql, parameters)
        return [_Row(*record) for record in cursor.fetchall()]


def _views(rows: Iterable[_Row], prefix: str) -> tuple[PolicyView, ...]:
    """One policy for each slot, in order: of the repository at hand, by domain, by age."""
    roles: dict[tuple[str, UUID], str] = {}
    latest: dict[UUID, _Row] = {}
    for row in sorted(rows, key=lambda row: (row.valid_from, row.id)):
        if row.predicate == RULE:
            latest[row.slot] = row
        elif row.holds:
            roles[row.scope_ref, row.subject_id] = row.value
    views = [
        PolicyView(
            id=row.id,
            entity_id=row.subject_id,
            rule=row.value,
            domain=row.domain or GENERAL,
            required_role=roles.get((row.scope_ref, row.subject_id)),
            is_active=row.holds,
            scope_ref=row.scope_ref,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            made_at=row.made_at,
            source=row.source,
            acted_by=row.acted_by,
        )
        for row in latest.values()
    ]
    bound = tuple(filter(None, [prefix]))
    return tuple(sorted(views, key=lambda one: (not one.domain.startswith(bound), one.domain, one.made_at, one.id)))


def _replaced(rows: Iterable[_Row]) -> set[UUID]:
    """The slots of rules that others took the place of."""
    successors = {row.supersedes_id: row.slot for row in rows if row.supersedes_id and row.predicate == RULE}
    before = Fact.objects.filter(pk__in=list(successors)).values_list("pk", "slot")
    return {slot for id, slot in before if successors[id] != slot}


def _waiting(principal: Principal, scopes: Sequence[str]) -> tuple[ProposalView, ...]:
    """What waits and would make, change or end a policy, oldest first."""
    held = list(
        Proposal.objects.filter(scope_ref__in=scopes, state=Proposal.State.OPEN).order_by("recorded_at", "op_index")
    )
    targets = {id for row in held if (id := references.as_uuid(row.operation.get("target_fact_id") or ""))}
    rules = set(Fact.objects.filter(pk__in=targets, predicate__in=[RULE, ROLE]).values_list("pk", flat=True))
    return proposal_views(
        [
            row
            for row in held
            if row.operation.get("predicate") in (RULE, ROLE)
            or references.as_uuid(row.operation.get("target_fact_id") or "") in rules
        ],
        principal=principal,
    )
