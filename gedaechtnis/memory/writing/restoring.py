"""Closed rows written again on their own intervals: what splits and undoing share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from gedaechtnis.memory.planner import ClosedReason, moves
from gedaechtnis.memory.writing import repointing
from gedaechtnis.memory.writing.apply import apply_plan, is_mirrored
from gedaechtnis.memory.writing.assertions import belief
from gedaechtnis.memory.writing.ledger import Group
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.world.models import EntityAlias, Fact


@dataclass(kw_only=True)
class Restored:
    """What was written again and closed, as ids; `short…`: closed ones whose place is taken now, wholly or in part."""

    fact_ids: list[UUID] = field(default_factory=list)
    closed_fact_ids: list[UUID] = field(default_factory=list)
    alias_ids: list[UUID] = field(default_factory=list)
    closed_alias_ids: list[UUID] = field(default_factory=list)
    short: list[UUID] = field(default_factory=list)
    short_aliases: list[UUID] = field(default_factory=list)

    def as_payload(self) -> dict[str, Any]:
        names = ("fact_ids", "closed_fact_ids", "alias_ids", "closed_alias_ids")
        return {name: [str(id) for id in getattr(self, name)] for name in names}


def withdraw(session: WriteSession, rows: Iterable[Fact], done: Restored, *, tick: datetime, why: str | None) -> None:
    """Believe rows no longer because what wrote them is undone."""
    for row in rows:
        session.ledger.close(row, tick=tick, reason=ClosedReason.UNDONE, closed_by=None, why=why)
        done.closed_fact_ids.append(row.pk)
        session.touched.update(id for id in (row.subject_id, row.object_entity_id) if id)


def write_again(session: WriteSession, rows: Sequence[Fact], done: Restored, *, tick: datetime, event_id: UUID) -> None:
    """Write closed rows again as they were, in the gaps that what is believed now leaves. Pairs become pairs again."""
    groups: dict[Group, list[Fact]] = defaultdict(list)
    for row in rows:
        if not (is_mirrored(session, row) and row.mirror_of is not None):
            groups[Group(row.subject_id, row.predicate, row.applies_to_id, None)].append(row)
    for group, closed in groups.items():
        standing = repointing.standing(session, group, closed)
        plan, short = moves.rewrite(
            [belief(session, row) for row in standing.values()],
            [belief(session, row) for row in closed],
            single_valued=repointing.is_functional(session, group.predicate),
            tick=tick,
        )
        sources = {row.pk: row for row in closed}
        applied = apply_plan(session=session, plan=plan, rows=sources, new=None, event_id=event_id, reason=None)
        done.fact_ids += [row.pk for row in applied.inserted]
        done.short += short


def withdraw_aliases(session: WriteSession, ids: Sequence[UUID], done: Restored, *, tick: datetime) -> None:
    """Believe aliases no longer."""
    believed = EntityAlias.objects.filter(pk__in=ids, scope_ref=session.scope_ref, superseded_at=None)
    done.closed_alias_ids += list(believed.values_list("pk", flat=True))
    believed.update(superseded_at=tick)
    session.directory.forget()


def write_aliases_again(session: WriteSession, ids: Sequence[UUID], done: Restored, *, tick: datetime) -> None:
    """Closed aliases name their entities again, where these have not got the name by now."""
    closed = EntityAlias.objects.filter(pk__in=ids, scope_ref=session.scope_ref).select_related("entity")
    for alias in closed:
        borne = EntityAlias.objects.filter(
            scope_ref=session.scope_ref,
            entity_id=alias.entity_id,
            namespace=alias.namespace,
            key=alias.key,
            superseded_at=None,
        )
        made = repointing.copied_alias(alias, beside=borne, entity=alias.entity, tick=tick)
        session.directory.named += made
        done.alias_ids += [copy.pk for copy in made]
        if [(copy.valid_from, copy.valid_to) for copy in made] != [(alias.valid_from, alias.valid_to)]:
            done.short_aliases.append(alias.pk)
