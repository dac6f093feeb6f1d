"""The door through which projections of one scope are made: alone, seeing all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import connection

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, PrincipalKind, person, system
from gedaechtnis.memory.writing.session import org_of
from gedaechtnis.scoping.context import scope

PURPOSE = "index"


@dataclass(frozen=True, slots=True)
class Place:
    """The scope whose projections are changed, as its rows name it."""

    scope_ref: str
    org_id: UUID | None


@contextmanager
def indexing(scope_ref: str, principal: Principal | None = None) -> Iterator[Place]:
    """Open the scope for a transaction that changes its projections, for `principal` or the server; others wait.

    Raises:
        Problem: `scope_denied` (403) where `principal` may not write, or nobody: closed, erased, being imported.
    """
    with scope(principal or reader(scope_ref), write=scope_ref, clearance=MAX_CLEARANCE) as opened:
        with connection.cursor() as cursor:
            cursor.execute("SELECT world_lock_projections(%s)", [scope_ref])
        yield Place(scope_ref, org_of(scope_ref, opened))


def reader(scope_ref: str) -> Principal:
    """The server itself, with the eyes of whoever reads the scope: its facts name entities of other scopes."""
    itself = system(scope_ref, PURPOSE)
    user = User.objects.filter(sub=itself.sub).first() if itself.sub else None
    if user is not None:
        return replace(
            person(user),
            kind=PrincipalKind.SYSTEM,
            acted_by=itself.acted_by,
            write_scopes=itself.write_scopes,
            default_scope=scope_ref,
        )
    if itself.org_id is not None:
        return replace(itself, read_scopes=tuple(dict.fromkeys((*itself.read_scopes, f"org:{itself.org_id}"))))
    return itself
