"""The one door to scoped rows: a transaction with the settings that the policies read.

Every entry point (page, API, websocket, work item, command) wraps its unit of work in
`scope(...)`. Never hold it over a network call: read, leave, think, re-enter, re-check, write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.scoping import clocks
from gedaechtnis.scoping.pool import SETTINGS

_SCOPE_REF = re.compile(r"global|(?:user|group|org):[0-9a-f-]{36}")

_SET = "SELECT " + ", ".join(f"set_config('{name}', %s, true)" for name in (*SETTINGS, "plan_cache_mode"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the connection may see and write while the door is open."""

    principal: Principal
    read: tuple[str, ...]
    write: str | None
    writes: tuple[str, ...]
    org_id: UUID | None
    clearance: int
    is_planned_once: bool


_current: ContextVar[Scope | None] = ContextVar("gedaechtnis_scope", default=None)


class ScopeNestingError(RuntimeError):
    """An inner door names a write scope that the outermost one did not: that order deadlocks."""


def current_scope() -> Scope | None:
    """The open scope of this unit of work, or None (then the database answers nothing)."""
    return _current.get()


@contextmanager
def scope(
    principal: Principal,
    *,
    write: str | Sequence[str] | None = None,
    clearance: int | None = None,
    is_planned_once: bool = False,
) -> Iterator[Scope]:
    """Open a transaction in which `principal` reads their scopes and writes `write`.

    `write` may name several scopes (outermost door only): their clocks are locked in
    `scope_ref` order and the first is active; nested doors switch between them.
    `clearance` replaces the principal's (the committer enters with the highest and filters its answer).
    `is_planned_once`: a connection plans each statement for any values, once, where the server would often plan it for
    the values it is asked with. For statements whose plan must not depend on them, and which take less time than that.

    Raises:
        Problem: `scope_denied` (403) when the principal may not write there, or nobody does as it is closed.
        ScopeNestingError: an inner door names a scope the outermost door did not.
    """
    outer = _current.get()
    inner = _open(principal, write, clearance, outer, is_planned_once=is_planned_once)
    nested = connection.in_atomic_block
    with transaction.atomic():
        if outer is None and len(inner.writes) > 1:
            clocks.lock(inner.writes)
        if not (outer and outer.writes) and inner.writes and not clocks.hold(inner.writes):
            raise _denied()
        _apply(inner)
        token = _current.set(inner)
        try:
            yield inner
        finally:
            _current.reset(token)
        if nested:
            # Releasing a savepoint keeps the inner settings, so the outer ones are put back by hand.
            _apply(outer)


def _open(
    principal: Principal,
    write: str | Sequence[str] | None,
    clearance: int | None,
    outer: Scope | None,
    *,
    is_planned_once: bool,
) -> Scope:
    wanted = () if write is None else (write,) if isinstance(write, str) else tuple(write)
    for ref in wanted:
        if ref not in principal.write_scopes:
            raise _denied()
    if outer is not None and outer.writes and not set(wanted) <= set(outer.writes):
        raise ScopeNestingError(f"{sorted(set(wanted) - set(outer.writes))} must be named at the outermost door")
    level = principal.clearance if clearance is None else clearance
    if not 0 <= level <= MAX_CLEARANCE:
        raise ValueError(f"clearance {level} is not one of 0..{MAX_CLEARANCE}")
    for ref in (*principal.read_scopes, *wanted):
        if not _SCOPE_REF.fullmatch(ref):
            raise ValueError(f"not a scope reference: {ref!r}")
    return Scope(
        principal=principal,
        read=principal.read_scopes,
        write=wanted[0] if wanted else None,
        writes=outer.writes if outer is not None and outer.writes else wanted,
        org_id=principal.org_id,
        clearance=level,
        is_planned_once=is_planned_once,
    )


def _denied() -> Problem:
    return Problem("scope_denied", _("You may not write into this scope."), 403)


def _apply(opened: Scope | None) -> None:
    values = ("", "", "", "", "auto")
    if opened is not None:
        values = (
            ",".join(opened.read),
            opened.write or "",
            str(opened.org_id or ""),
            str(opened.clearance),
            "force_generic_plan" if opened.is_planned_once else "auto",
        )
    with connection.cursor() as cursor:
        cursor.execute(_SET, values)


def permit(act: str, subject: str) -> None:
    """Say for this transaction what is done to what, where the database asks for it (`predicate_change`)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [f"gedaechtnis.{act}", subject])


@contextmanager
def planned(**settings: str) -> Iterator[None]:
    """Run statements under settings of the planner: names and values of ours, with `__` for a dot."""
    names = {name.replace("__", "."): value for name, value in settings.items()}
    with connection.cursor() as cursor:
        cursor.execute("; ".join(f"SET LOCAL {name} = {value}" for name, value in names.items()))
        yield
        cursor.execute("; ".join(f"SET LOCAL {name} TO DEFAULT" for name in names))
