"""Leaving for good: a closed group is kept for its owners' export and then erased, a deleted person at once.

Erasing takes every row of a scope, its history and its waiting work. What remains is that it happened: an entry of the
security log and the scope's row, closed for ever. Rows of other scopes stay as they are.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection, transaction

from gedaechtnis.common import clock
from gedaechtnis.identity import accounts, audit, closed_groups
from gedaechtnis.identity.models import Group, User
from gedaechtnis.identity.principals import user_scope
from gedaechtnis.memory.projecting import episodes, index, vectors
from gedaechtnis.scoping import work
from gedaechtnis.scoping.models import ScopeClock

ERASE_GROUP = "erase_group"
_SYSTEM = "system:erasure"
_State = ScopeClock.State


def erase(scope_ref: str, *, acted_by: str = _SYSTEM, sub: UUID | None = None) -> None:
    """Erase all rows of a scope that nobody uses any more; erased before, nothing happens.

    `sub` is the person in whose security log it stands.

    Raises:
        DatabaseError: somebody can still sign in as this person, the group is open, or the org exists.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT scoping_erase(%s)", [scope_ref])
        rows = cursor.fetchone()[0]
        if rows is not None:
            audit.record(audit.Kind.ERASED, acted_by=acted_by, sub=sub, scope=scope_ref, rows=str(rows))


@transaction.atomic
def erase_group(*, user: User, group_id: UUID) -> None:
    """Do not wait: erase a closed group of the user's now.

    Raises:
        NotFound: missing, open, and not owned by the user alike.
    """
    closed_groups.get_closed_group(user=user, group_id=group_id)
    erase(f"group:{group_id}", acted_by=user_scope(user.sub), sub=user.sub)
    Group.objects.filter(pk=group_id).delete()


@transaction.atomic
def delete_user(*, user: User, acted_by: str = "") -> None:
    """Delete a person: their memory, tokens, sessions and memberships. What they wrote in groups stays, without a name.

    A group in which they are alone is closed. `acted_by` is who did it, for the security log; the user without it.

    Raises:
        Problem: `last_owner`, `last_admin` (409), naming the groups or organisations that need another one first.
    """
    if not User.objects.select_for_update().filter(pk=user.pk).exists():
        return  # somebody clicked twice
    acted_by = acted_by or user_scope(user.sub)
    accounts.withdraw(user)
    accounts.lock_out(user)
    erase(user_scope(user.sub), acted_by=acted_by, sub=user.sub)
    accounts.remove(user)


def follow_group(group: Group) -> None:
    """Keep a group's scope and the day of its erasure as the group is: open, closed, or open again."""
    scope_ref = f"group:{group.pk}"
    if group.closed_at is None:
        if ScopeClock.objects.filter(scope_ref=scope_ref, state=_State.CLOSED).update(state=_State.OPEN):
            # What waited when it was closed was left undone, and so was what the registry let search find meanwhile.
            index.ask_to_look_again(scope_ref)
            episodes.ask(scope_ref)
            vectors.ask(scope_ref)
        return
    ScopeClock.objects.get_or_create(scope_ref=scope_ref, defaults={"org_id": group.org_id, "tick": clock.now()})
    ScopeClock.objects.filter(scope_ref=scope_ref, state=_State.OPEN).update(state=_State.CLOSED)
    work.enqueue(kind=ERASE_GROUP, scope_ref=scope_ref, dedupe_key="", due_at=closed_groups.erased_at(group.closed_at))


@work.handler(ERASE_GROUP)
def _erase_closed_group(item: work.WorkItem) -> None:
    """A group that was opened again, or closed again later, is left alone: then there is other work, or none."""
    with transaction.atomic():
        group = Group.objects.select_for_update().filter(pk=UUID(item.scope_ref.removeprefix("group:"))).first()
        if (
            group is not None
            and group.closed_at is not None
            and closed_groups.erased_at(group.closed_at) <= clock.now()
        ):
            erase(item.scope_ref)
            group.delete()
