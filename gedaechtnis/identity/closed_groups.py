"""Closed groups: for some days their owners may take an export, then they are erased. Nobody else finds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity.models import Group, GroupMembership, User

KEPT_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedGroupView:
    """A closed group as one of its owners sees it."""

    id: UUID
    name: str
    closed_at: datetime
    erased_at: datetime

    @property
    def scope_ref(self) -> str:
        return f"group:{self.id}"


def erased_at(closed_at: datetime) -> datetime:
    """When a group closed then is erased."""
    return closed_at + timedelta(days=KEPT_DAYS)


def list_closed_groups(*, user: User) -> tuple[ClosedGroupView, ...]:
    """The closed groups a user owns that are not erased yet, the last closed first."""
    return tuple(view for group in _owned(user).order_by("-closed_at", "id") if (view := _view(group)))


def get_closed_group(*, user: User, group_id: UUID) -> ClosedGroupView:
    """One of them.

    Raises:
        NotFound: missing, open, and not owned by the user alike.
    """
    group = _owned(user).filter(pk=group_id).first()
    view = _view(group) if group is not None else None
    if view is None:
        raise NotFound(_("There is no such group."))
    return view


def _owned(user: User) -> QuerySet[Group]:
    """Who has left the organisation of a group owns nothing in it any more."""
    owned = GroupMembership.objects.filter(
        Q(group__org=None) | Q(group__org__memberships__user=F("user")),
        user=user,
        role=GroupMembership.Role.OWNER,
        group__closed_at__isnull=False,
    )
    return Group.objects.filter(pk__in=owned.values("group_id"))


def _view(group: Group) -> ClosedGroupView | None:
    if group.closed_at is None:
        return None
    return ClosedGroupView(
        id=group.pk, name=group.name, closed_at=group.closed_at, erased_at=erased_at(group.closed_at)
    )
