"""Whose notes these are: an agent of a person's, in a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, user_scope
from gedaechtnis.identity.tokens import AGENT_ROLE
from gedaechtnis.memory.writing.session import org_of
from gedaechtnis.scoping import clocks
from gedaechtnis.scoping.context import Scope, current_scope, scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """An agent of one person in one workspace; `agent` is its role, "" the person themself."""

    scope_ref: str
    owner_ref: str
    agent: str

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by which its rows are found."""
        return {"scope_ref": self.scope_ref, "owner_ref": self.owner_ref, "agent": self.agent}


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """Where and when something is written."""

    org_id: UUID | None
    tick: datetime


def keeper_of(principal: Principal, scope_ref: str | None, agent: str | None = None) -> Keeper:
    """Who reads or writes notes: an agent its own, a person their own (None) or those of an agent of theirs.

    Raises:
        Problem: `scope_denied` (403) for a workspace that the principal does not read; `not_your_notes` (403) for an
            agent that asks for another one's; `invalid_agent_role`.
    """
    own = principal.agent_role
    if agent is not None and agent != own and not principal.is_person:
        raise Problem("not_your_notes", _("An agent reads and changes its own notes only."), 403, "agent")
    return Keeper(
        scope_ref=workspace(principal, scope_ref),
        owner_ref=owner_of(principal),
        agent=check_role(own if agent is None else agent, field="agent"),
    )


def owner_of(principal: Principal) -> str:
    """Raises Problem `person_required` (403) where nobody's agent acts: a job of the server has no notes."""
    if principal.sub is None:
        raise Problem("person_required", _("Notes belong to a person and their agents."), 403)
    return user_scope(principal.sub)


def workspace(principal: Principal, scope_ref: str | None) -> str:
    """The workspace that is meant, the principal's own without a name. Missing and foreign ones are refused alike.

    Raises:
        Problem: `scope_denied` (403).
    """
    chosen = scope_ref or principal.default_scope
    if chosen not in principal.read_scopes:
        raise Problem("scope_denied", _("You may not read this scope."), 403, "scope_ref")
    return chosen


def check_role(role: str, *, field: str) -> str:
    """Raises Problem `invalid_agent_role`; "" is none in particular."""
    if role and not AGENT_ROLE.fullmatch(role):
        detail = _("A role is a word of small letters, digits, “-” and “_”, at most 50 characters.")
        raise Problem("invalid_agent_role", detail, field=field)
    return role


@contextmanager
def reading(principal: Principal) -> Iterator[Scope]:
    """The door for reading: the one that stands open for the principal, which several reads share, or a new one."""
    opened = current_scope()
    if opened is not None and opened.principal == principal and opened.clearance == principal.clearance:
        yield opened
        return
    with scope(principal, is_planned_once=True) as opened:
        yield opened


@contextmanager
def writing(principal: Principal, keeper: Keeper) -> Iterator[Writing]:
    """The door for rows that are its owner's alone.

    As with every write the scope's clock is taken, and neither workspace nor owner is erased meanwhile. Rows are seen
    whatever their classification, as writing must meet what is there; whoever answers with one looks first whether
    the caller may see it.

    Raises:
        Problem: `scope_denied` (403).
    """
    with scope(principal, write=keeper.scope_ref, clearance=MAX_CLEARANCE) as opened:
        if not clocks.hold([keeper.owner_ref]):
            raise Problem("scope_denied", _("You may not write into this scope."), 403)
        org_id = org_of(keeper.scope_ref, opened)
        (tick,) = clocks.take(keeper.scope_ref, org_id=org_id)
        yield Writing(org_id=org_id, tick=tick)
