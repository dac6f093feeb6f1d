"""Groups: who shares a memory, and who may change that.

Each act is one transaction that holds the group's row, so of two owners who leave at once one stays. After commit
everybody whose rights changed is told on their own channel: open pages lose the group at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import access, audit, members
from gedaechtnis.identity.members import MemberView
from gedaechtnis.identity.models import Group, GroupMembership, Org, User
from gedaechtnis.identity.principals import user_scope

Role = GroupMembership.Role
Kind = audit.Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """A group as one of its members sees it; `role` is theirs. Owners come first among the members.

    `org_name` is empty outside organisations.
    """

    id: UUID
    name: str
    org_name: str
    role: str
    members: tuple[MemberView, ...]

    @property
    def is_owner(self) -> bool:
        return self.role == Role.OWNER


def list_groups(*, user: User) -> tuple[GroupView, ...]:
    """The open groups of a user, by name."""
    memberships = _memberships(user).select_related("group__org").order_by("group__name", "group_id")
    return tuple(_view(user, membership) for membership in memberships)


def get_group(*, user: User, group_id: UUID) -> GroupView:
    """One open group of the user's.

    Raises:
        NotFound: missing, closed and foreign alike.
    """
    membership = _memberships(user).select_related("group__org").filter(group_id=group_id).first()
    if membership is None:
        raise _not_found()
    return _view(user, membership)


@transaction.atomic
def create_group(*, user: User, name: str, org: Org | None = None) -> Group:
    """Found a group; its founder owns it. Inside an organisation only through `orgs.create_group`.

    Raises:
        Problem: `empty_name`, `too_long`, `invalid_text`.
    """
    group = Group.objects.create(name=members.read_name(name), org=org)
    GroupMembership.objects.create(group=group, user=user, role=Role.OWNER)
    _changed(Kind.MEMBER_ADDED, user, group, user.sub, Role.OWNER)
    return group


@transaction.atomic
def rename_group(*, user: User, group_id: UUID, name: str) -> None:
    """Give a group another name.

    Raises:
        NotFound, Problem: `not_owner` (403), or what `create_group` raises.
    """
    group = _owned(user, group_id)
    group.name = members.read_name(name)
    group.save(update_fields=["name"])


@transaction.atomic
def add_member(*, user: User, group_id: UUID, username: str, role: str = Role.EDITOR) -> None:
    """Let somebody in, by user name. Into a group of an organisation only its members may come.

    Raises:
        NotFound, Problem: `not_owner` (403), `unknown_role`, `unknown_user`, `already_member` (409).
    """
    group = _owned(user, group_id)
    among = User.objects.filter(org_memberships__org=group.org) if group.org_id else None
    newcomer = members.named(username, among)
    _membership, is_new = GroupMembership.objects.get_or_create(
        group=group, user=newcomer, defaults={"role": members.read_role(role, Role.values)}
    )
    if not is_new:
        raise Problem("already_member", _("%(name)s is in the group already.") % {"name": newcomer}, 409, "username")
    _changed(Kind.MEMBER_ADDED, user, group, newcomer.sub, role)


@transaction.atomic
def change_role(*, user: User, group_id: UUID, sub: UUID, role: str) -> None:
    """Give a member another role.

    Raises:
        NotFound, Problem: `not_owner` (403), `unknown_role`, `last_owner` (409).
    """
    group = _owned(user, group_id)
    membership = _member(group, sub)
    membership.role = members.read_role(role, Role.values)
    if membership.role != Role.OWNER:
        _keep_an_owner(group, without=sub)
    membership.save(update_fields=["role"])
    _changed(Kind.ROLE_CHANGED, user, group, sub, role)


@transaction.atomic
def remove_member(*, user: User, group_id: UUID, sub: UUID) -> None:
    """Let somebody go. What they wrote in the group stays in it.

    Raises:
        NotFound, Problem: `not_owner` (403), `last_owner` (409).
    """
    _end(user, _owned(user, group_id), sub)


@transaction.atomic
def leave(*, user: User, group_id: UUID) -> None:
    """Go oneself.

    Raises:
        NotFound, Problem: `last_owner` (409).
    """
    _end(user, _locked(user, group_id)[0], user.sub)


@transaction.atomic
def close_group(*, user: User, group_id: UUID) -> None:
    """From now on nobody reads or writes in the group. Its rows and its owners are kept, for an export.

    Raises:
        NotFound, Problem: `not_owner` (403).
    """
    _close(user, _owned(user, group_id))


def leave_org(*, by: User, org: Org, sub: UUID) -> None:
    """Take somebody who leaves an organisation out of its groups, in the caller's transaction.

    What they led alone is handed on: nobody can stay, or be kept out, by being a group's last owner.
    """
    groups = Group.objects.select_for_update(of=("self",)).filter(org=org, memberships__user__sub=sub)
    for group in groups.order_by("pk"):
        if group.closed_at is None:
            _hand_on(by, group, without=sub)
        _member(group, sub).delete()
        _changed(Kind.MEMBER_REMOVED, by, group, sub)


def _memberships(user: User) -> QuerySet[GroupMembership]:
    in_org = Q(group__org=None) | Q(group__org__memberships__user=F("user"))
    return GroupMembership.objects.filter(in_org, user=user, group__closed_at=None).distinct()


def _view(user: User, membership: GroupMembership) -> GroupView:
    return GroupView(
        id=membership.group_id,
        name=membership.group.name,
        org_name=membership.group.org.name if membership.group.org else "",
        role=membership.role,
        members=members.views(user, membership.group.memberships.all(), roles=Role.values),
    )


def _locked(user: User, group_id: UUID) -> tuple[Group, str]:
    """The group, held until the transaction ends, and the user's role in it."""
    group = Group.objects.select_for_update().filter(pk=group_id).first()
    membership = _memberships(user).filter(group=group).first() if group else None
    if group is None or membership is None:
        raise _not_found()
    return group, membership.role


def _owned(user: User, group_id: UUID) -> Group:
    group, role = _locked(user, group_id)
    if role != Role.OWNER:
        raise Problem("not_owner", _("Only an owner of the group may do this."), 403)
    return group


def _member(group: Group, sub: UUID) -> GroupMembership:
    membership = group.memberships.filter(user__sub=sub).first()
    if membership is None:
        raise NotFound(_("This person is not in the group."))
    return membership


def _end(user: User, group: Group, sub: UUID) -> None:
    membership = _member(group, sub)
    if membership.role == Role.OWNER:
        _keep_an_owner(group, without=sub)
    membership.delete()
    _changed(Kind.MEMBER_REMOVED, user, group, sub)


def _keep_an_owner(group: Group, *, without: UUID) -> None:
    if not _entitled(group).filter(role=Role.OWNER).exclude(user__sub=without).exists():
        raise Problem("last_owner", _("A group needs an owner. Name another one first, or close the group."), 409)


def _close(by: User, group: Group) -> None:
    group.closed_at = clock.now()
    group.save(update_fields=["closed_at"])
    audit.record(Kind.GROUP_CLOSED, acted_by=user_scope(by.sub), scope=f"group:{group.pk}")
    access.tell(group.memberships.values_list("user__sub", flat=True))


def _entitled(group: Group) -> QuerySet[GroupMembership]:
    """The members who may use their role today."""
    active = group.memberships.filter(user__is_active=True)
    return active.filter(user__org_memberships__org=group.org) if group.org_id else active


def _hand_on(by: User, group: Group, *, without: UUID) -> None:
    """Somebody else leads a group that would have no owner: who edits it longest, else who reads it longest.

    No admin of the organisation comes into reading it this way. A group in which nobody is left is closed.
    """
    others = _entitled(group).exclude(user__sub=without).select_related("user").order_by("pk")
    if any(one.role == Role.OWNER for one in others):
        return
    heir = min(others, key=lambda one: one.role == Role.VIEWER, default=None)
    if heir is None:
        _close(by, group)
        return
    heir.role = Role.OWNER
    heir.save(update_fields=["role"])
    _changed(Kind.ROLE_CHANGED, by, group, heir.user.sub, Role.OWNER)


def _not_found() -> NotFound:
    return NotFound(_("There is no such group."))


def _changed(kind: audit.Kind, user: User, group: Group, sub: UUID, role: str = "") -> None:
    access.changed(kind, acted_by=user_scope(user.sub), scope_ref=f"group:{group.pk}", sub=sub, role=role)
