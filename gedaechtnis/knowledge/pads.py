"""Working memory: one text for each agent of each person in a workspace, and what they observed.

Nobody else reads it, so nothing about it enters what others read: no event of the workspace and no notice to its
members. The owner's own open pages are told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text, fold_space
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import models
from gedaechtnis.knowledge.agents import Keeper, Writing, keeper_of, owner_of, reading, workspace, writing
from gedaechtnis.knowledge.models import WorkingMemory
from gedaechtnis.memory import events
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.rows import select

MAX_NOTES = models.LONGEST_NOTES
"""Characters of a pad: it is given to the agent before every run."""
MAX_OBSERVATION = models.LONGEST_ENTRY
_OF_KEEPER = "scope_ref = %s AND owner_ref = %s AND agent = %s"
NOTES_CHANGED = "notes.changed"
"""Live notice to the owner alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pad:
    """The notes of an agent; of one that never wrote any the text is empty and the version 0."""

    agent: str
    text: str = ""
    version: int = 0
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an agent noticed; `ref` names it as a source."""

    id: UUID
    agent: str
    text: str
    recorded_at: datetime

    @property
    def ref(self) -> str:
        return f"obs:{self.id}"


def read(*, principal: Principal, scope_ref: str | None = None, agent: str | None = None) -> Pad:
    """The principal's own notes; a person may name an agent of theirs.

    Notes that hold more than the principal may see are as good as none; writing over them is refused.

    Raises:
        Problem: `scope_denied`, `not_your_notes`, `person_required` (403); `invalid_agent_role`.
    """
    keeper = keeper_of(principal, scope_ref, agent)
    with reading(principal):
        row = next(iter(select(WorkingMemory, _OF_KEEPER, [keeper.scope_ref, keeper.owner_ref, keeper.agent])), None)
    return _pad(row) if row else Pad(agent=keeper.agent)


def list_pads(*, principal: Principal, scope_ref: str | None = None) -> tuple[Pad, ...]:
    """The notes of a person and of all their agents in a workspace, by role.

    Raises:
        Problem: `scope_denied`, `person_required` (403).
    """
    _require_person(principal)
    chosen, owner_ref = workspace(principal, scope_ref), owner_of(principal)
    with scope(principal):
        rows = WorkingMemory.objects.filter(scope_ref=chosen, owner_ref=owner_ref).order_by("agent")
        return tuple(_pad(row) for row in rows)


def update(
    *,
    principal: Principal,
    text: str,
    based_on_version: int | None = None,
    scope_ref: str | None = None,
    agent: str | None = None,
) -> Pad:
    """Put another text in place of the notes of `based_on_version`; without one, only of empty notes.

    Sent twice it counts once.

    Raises:
        Problem: `notes_too_long` with `length` and `limit`; `invalid_text`; `version_conflict` (409) with the present
            `text` and `version`; `notes_withheld`, `scope_denied`, `not_your_notes` (403).
    """
    _check_notes(text)
    keeper = keeper_of(principal, scope_ref, agent)
    with writing(principal, keeper) as written:
        row = _locked(principal, keeper, written)
        if row.text == text:
            return _pad(row)
        if row.version != based_on_version and not (based_on_version is None and not row.text):
            raise Problem(
                "version_conflict",
                _("There are newer notes, version %(version)s: read them first, so that nothing is lost.")
                % {"version": row.version},
                409,
                "based_on_version",
                {"version": row.version, "text": row.text},
            )
        return _write(principal, row, text, written.tick)


def record_observation(*, principal: Principal, text: str, scope_ref: str | None = None) -> Observation:
    """Keep what was noticed, to be named as a source, and note it below the agent's notes with its day.

    Raises:
        Problem: `missing`, `too_long`, `invalid_text`; `notes_too_long` where the notes have no room left, and then
            nothing is kept; `notes_withheld`, `scope_denied` (403).
    """
    check_text(text, field="text", limit=MAX_OBSERVATION)
    said = fold_space(text)
    if not said:
        raise Problem("missing", _("There is nothing in it."), field="text")
    keeper = keeper_of(principal, scope_ref)
    with writing(principal, keeper) as written:
        row = _locked(principal, keeper, written)
        observed = models.Observation(
            id=uuid7(),
            **keeper.columns,
            org_id=written.org_id,
            classification=principal.clearance,
            text=text,
            recorded_at=written.tick,
        )
        view = _observation(observed)
        line = f"- {written.tick.astimezone(principal.zone):%Y-%m-%d} {said} ({view.ref})"
        notes = f"{row.text.rstrip()}\n{line}".lstrip()
        _check_notes(notes)
        observed.save(force_insert=True)
        _write(principal, row, notes, written.tick)
    return view


def list_observations(
    *, principal: Principal, scope_ref: str | None = None, agent: str | None = None, limit: int = 50
) -> tuple[Observation, ...]:
    """What an agent noticed, the latest first.

    Raises:
        Problem: `scope_denied`, `not_your_notes` (403).
    """
    keeper = keeper_of(principal, scope_ref, agent)
    with scope(principal):
        rows = models.Observation.objects.filter(**keeper.columns).order_by("-recorded_at", "-id")[:limit]
        return tuple(_observation(row) for row in rows)


def _pads(keeper: Keeper) -> QuerySet[WorkingMemory]:
    return WorkingMemory.objects.filter(**keeper.columns)


def _locked(principal: Principal, keeper: Keeper, written: Writing) -> WorkingMemory:
    """The pad, made if there is none. Under the scope's clock nobody else changes it until the transaction ends."""
    row = _pads(keeper).first()
    if row is None:
        row = WorkingMemory.objects.create(
            **keeper.columns, org_id=written.org_id, classification=principal.clearance, updated_at=written.tick
        )
    if row.classification > principal.clearance:
        raise Problem("notes_withheld", _("These notes hold more than you may see."), 403)
    return row


def _write(principal: Principal, row: WorkingMemory, text: str, tick: datetime) -> Pad:
    """Notes may hold all that their writer may see, and so are as sensitive as that."""
    row.text, row.version, row.updated_at = text, row.version + 1, tick
    row.classification = max(row.classification, principal.clearance)
    row.save()
    events.publish_on_commit(row.owner_ref, NOTES_CHANGED, [row.pk])
    return _pad(row)


def _check_notes(text: str) -> None:
    check_text(text, field="text", limit=max(len(text), MAX_NOTES))
    if len(text) > MAX_NOTES:
        raise Problem(
            "notes_too_long",
            _("The notes would have %(length)s characters; at most %(limit)s are allowed. Shorten them first.")
            % {"length": len(text), "limit": MAX_NOTES},
            field="text",
            extra={"length": len(text), "limit": MAX_NOTES},
        )


def _require_person(principal: Principal) -> None:
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can decide this."), 403)


def _pad(row: WorkingMemory) -> Pad:
    return Pad(agent=row.agent, text=row.text, version=row.version, updated_at=row.updated_at)


def _observation(row: models.Observation) -> Observation:
    return Observation(id=row.pk, agent=row.agent, text=row.text, recorded_at=row.recorded_at)
