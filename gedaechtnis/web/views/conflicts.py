"""Statements that contradict each other, side by side, and a person's word on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import cast
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.memory.answers import ConflictView, FactView, ProposalView
from gedaechtnis.memory.selectors import conflicts as reads
from gedaechtnis.memory.selectors import explain
from gedaechtnis.memory.services import conflicts as settling
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.writing.settling import Keep
from gedaechtnis.web import differing
from gedaechtnis.web.differing import Piece
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, refused, safe_next, show

_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two statements: its words, which of them differ from the other, whose they are and since when."""

    pieces: tuple[Piece, ...]
    acted_by: str
    since: datetime
    fact_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Two sides and where they stand. `verbs` are what a person may say."""

    id: UUID
    address: str
    new: Side
    old: tuple[Side, ...]
    domain: str
    topic: str
    scope_ref: str
    verbs: tuple[Keep, ...] = ("new", "both", "old")
    settled_as: str = ""
    settled_at: datetime | None = None
    settled_by: str = ""


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """What is open, and folded what was settled; as a fragment, all below the title."""
    principal, cursor = request.principal, request.GET.get("cursor") or None
    opened = reads.list_conflicts(principal=principal, cursor=cursor, limit=_PAGE, only_open=True)
    latest = () if cursor else reads.list_conflicts(principal=principal, limit=_PAGE).items
    against = [id for item in opened.waiting for id in item.against]
    believed = {fact.id: fact for fact in explain.get_facts(principal=principal, fact_ids=against)} if against else {}
    by = reads.brought_up_by(principal=principal, origin_ids=against) if against else {}
    context = {
        "nav": "explorer",
        "tab": "conflicts",
        "address": f"{reverse('conflicts')}?{urlencode({'cursor': cursor})}" if cursor else reverse("conflicts"),
        "cards": [*(_waiting(item, believed, by) for item in opened.waiting), *map(_written, opened.items)],
        "settled": [_written(item) for item in latest if item.settled_as],
        "more": opened.cursor,
    }
    return show(request, "knowledge/conflicts.html", "conflicts", context)


@only_posted
@private
def settle(request: PersonRequest, conflict_id: UUID) -> HttpResponse:
    """Of what was written although it contradicts."""
    return _act(request, partial(settling.settle, principal=request.principal, conflict_id=conflict_id))


@only_posted
@private
def decide(request: PersonRequest, proposal_id: UUID) -> HttpResponse:
    """Of what waits because it contradicts."""
    return _act(request, partial(governance.accept_proposal, principal=request.principal, proposal_id=proposal_id))


def _act(request: PersonRequest, write: Callable[..., object]) -> HttpResponse:
    back, keep = safe_next(request, reverse("conflicts")), request.POST.get("keep", "")
    said = {
        "new": _("Settled: the new one holds. The old one stays in the history."),
        "both": _("Settled: both hold."),
        "old": _("Settled: the old one stays."),
    }
    if keep not in said:
        raise NotFound(_("There is nothing of that kind to choose."))
    try:
        write(keep=cast(Keep, keep))
    except NotFound:
        raise
    except Problem as problem:
        return refused(request, problem, back=back, event="proposal:changed")
    return done(request, back=back, message=said[keep], event="proposal:changed")


def _written(item: ConflictView) -> Card:
    new, old = differing.sides(item.fact_statement, item.other_statement)
    return Card(
        id=item.id,
        address=reverse("conflict-settle", args=[item.id]),
        new=Side(pieces=new, acted_by=item.fact_acted_by, since=item.fact_recorded_at, fact_id=item.fact_id),
        old=(Side(pieces=old, acted_by=item.other_acted_by, since=item.other_recorded_at, fact_id=item.other_fact_id),),
        domain=item.domain,
        topic=item.topic,
        scope_ref=item.scope_ref,
        verbs=("new", "both", "old") if item.domain else ("new",),
        settled_as=item.settled_as,
        settled_at=item.settled_at,
        settled_by=item.settled_by,
    )


def _waiting(item: ProposalView, believed: dict[UUID, FactView], by: dict[UUID, str]) -> Card:
    """A statement that waits, with all that it contradicts."""
    said = str(item.operation.get("object_value") or item.statement)
    facts: Sequence[FactView] = [believed[id] for id in item.against if id in believed]
    told = [str(fact.object.value) for fact in facts] or [item.present or ""]
    new, _old = differing.sides(said, told[0])
    return Card(
        id=item.id,
        address=reverse("conflict-decide", args=[item.id]),
        new=Side(pieces=new, acted_by=item.proposed_by, since=item.created_at, fact_id=None),
        old=tuple(
            Side(
                pieces=differing.sides(said, str(fact.object.value))[1],
                acted_by=by.get(fact.id, fact.acted_by),
                since=fact.learned_at,
                fact_id=fact.id,
            )
            for fact in facts
        ),
        domain=item.operation.get("domain") or "",
        topic=item.operation.get("topic") or "",
        scope_ref=item.scope_ref,
    )
