"""Organisations: the tenants around groups, who administers them, and in which one a person acts.

Staff of the server found them: an organisation is a boundary for many people, and its admins reach whoever they let in.
Everything after that is its admins' business; staff who are not in it read nothing of it. Each act is one transaction
that holds the organisation's row, so of two admins who leave at once one stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import access, audit, groups, members
from gedaechtnis.identity.members import MemberView
from gedaechtnis.identity.models import Group, Org, OrgMembership, User
from gedaechtnis.identity.principals import still_in, user_scope

Role = OrgMembership.Role
Kind = audit.Kind
_CHOSEN = "org"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrgView:
    """An organisation as one of its members sees it; `role` is theirs. Admins come first among the members."""

    id: UUID
    name: str
    role: str
    members: tuple[MemberView, ...]

    @property
    def is_admin(self) -> bool:
        return self.role == Role.ADMIN


def list_orgs(*, user: User) -> tuple[OrgView, ...]:
    """The organisations of a user, by name."""
    memberships = _memberships(user).order_by("org__name", "org_id")
    return tuple(_view(user, membership) for membership in memberships)


def get_org(*, user: User, org_id: UUID) -> OrgView:
    """One organisation of the user's.

    Raises:
        NotFound: missing and foreign alike.
    """
    membership = _memberships(user).filter(org_id=org_id).first()
    if membership is None:
        raise _not_found()
    return _view(user, membership)


@transaction.atomic
def create_org(*, user: User, name: str) -> Org:
    """Found an organisation; its founder is its first admin.

    Raises:
        Problem: `staff_required` (403), `empty_name`, `too_long`, `invalid_text`.
    """
    if not user.is_staff:
        raise Problem("staff_required", _("Only the staff of this server found organisations."), 403)
    org = Org.objects.create(name=members.read_name(name))
    OrgMembership.objects.create(org=org, user=user, role=Role.ADMIN)
    _changed(Kind.MEMBER_ADDED, user, org, user.sub, Role.ADMIN)
    return org


@transaction.atomic
def rename_org(*, user: User, org_id: UUID, name: str) -> None:
    """Give an organisation another name.

    Raises:
        NotFound, Problem: `not_admin` (403), `empty_name`, `too_long`, `invalid_text`.
    """
    org = _administered(user, org_id)
    org.name = members.read_name(name)
    org.save(update_fields=["name"])


@transaction.atomic
def create_group(*, user: User, org_id: UUID, name: str) -> Group:
    """Found a group inside an organisation. Its founder owns it, and only members of the organisation may come.

    Raises:
        NotFound, Problem: `not_admin` (403), `empty_name`, `too_long`, `invalid_text`.
    """
    return groups.create_group(user=user, name=name, org=_administered(user, org_id))


@transaction.atomic
def add_member(*, user: User, org_id: UUID, username: str, role: str = Role.MEMBER) -> None:
    """Let somebody in, by user name.

    Raises:
        NotFound, Problem: `not_admin` (403), `unknown_role`, `unknown_user`, `already_member` (409).
    """
    org = _administered(user, org_id)
    newcomer = members.named(username)
    _membership, is_new = OrgMembership.objects.get_or_create(
        org=org, user=newcomer, defaults={"role": members.read_role(role, Role.values)}
    )
    if not is_new:
        text = _("%(name)s is in the organisation already.") % {"name": newcomer}
        raise Problem("already_member", text, 409, "username")
    _changed(Kind.MEMBER_ADDED, user, org, newcomer.sub, role)


@transaction.atomic
def change_role(*, user: User, org_id: UUID, sub: UUID, role: str) -> None:
    """Give a member another role.

    Raises:
        NotFound, Problem: `not_admin` (403), `unknown_role`, `last_admin` (409).
    """
    org = _administered(user, org_id)
    membership = _member(org, sub)
    membership.role = members.read_role(role, Role.values)
    if membership.role != Role.ADMIN:
        _keep_an_admin(org, without=sub)
    membership.save(update_fields=["role"])
    _changed(Kind.ROLE_CHANGED, user, org, sub, role)


@transaction.atomic
def remove_member(*, user: User, org_id: UUID, sub: UUID) -> None:
    """Let somebody go, out of its groups too. What they wrote there stays.

    Raises:
        NotFound, Problem: `not_admin` (403), `last_admin` (409).
    """
    _end(user, _administered(user, org_id), sub)


@transaction.atomic
def leave(*, user: User, org_id: UUID) -> None:
    """Go oneself.

    Raises:
        NotFound, Problem: `last_admin` (409).
    """
    _end(user, _locked(user, org_id)[0], user.sub)


def choose(*, user: User, session: SessionBase, org_id: UUID) -> None:
    """From now on the session acts in this organisation, in all its windows.

    Raises:
        NotFound: the user is not in it.
    """
    if still_in(user, org_id) is None:
        raise _not_found()
    session[_CHOSEN] = str(org_id)
    # Kept before the other windows are told, which ask at once.
    session.save()
    access.tell([user.sub])


def chosen(*, user: User, session: SessionBase) -> UUID | None:
    """The organisation a session acts in; None if none was chosen, or the user has left it."""
    text = session.get(_CHOSEN)
    return still_in(user, UUID(text)) if text else None


def _memberships(user: User) -> QuerySet[OrgMembership]:
    return OrgMembership.objects.filter(user=user).select_related("org")


def _view(user: User, membership: OrgMembership) -> OrgView:
    return OrgView(
        id=membership.org_id,
        name=membership.org.name,
        role=membership.role,
        members=members.views(user, membership.org.memberships.all(), roles=Role.values),
    )


def _locked(user: User, org_id: UUID) -> tuple[Org, str]:
    """The organisation, held until the transaction ends, and the user's role in it."""
    org = Org.objects.select_for_update().filter(pk=org_id).first()
    membership = _memberships(user).filter(org=org).first() if org else None
    if org is None or membership is None:
        raise _not_found()
    return org, membership.role


def _administered(user: User, org_id: UUID) -> Org:
    org, role = _locked(user, org_id)
    if role != Role.ADMIN:
        raise Problem("not_admin", _("Only an admin of the organisation may do this."), 403)
    return org


def _member(org: Org, sub: UUID) -> OrgMembership:
    membership = org.memberships.filter(user__sub=sub).first()
    if membership is None:
        raise NotFound(_("This person is not in the organisation."))
    return membership


def _end(user: User, org: Org, sub: UUID) -> None:
    membership = _member(org, sub)
    if membership.role == Role.ADMIN:
        _keep_an_admin(org, without=sub)
    groups.leave_org(by=user, org=org, sub=sub)
    membership.delete()
    _changed(Kind.MEMBER_REMOVED, user, org, sub)


def _keep_an_admin(org: Org, *, without: UUID) -> None:
    admins = org.memberships.filter(role=Role.ADMIN, user__is_active=True)
    if not admins.exclude(user__sub=without).exists():
        raise Problem("last_admin", _("An organisation needs an admin. Name another one first."), 409)


def _not_found() -> NotFound:
    return NotFound(_("There is no such organisation."))


def _changed(kind: audit.Kind, user: User, org: Org, sub: UUID, role: str = "") -> None:
    access.changed(kind, acted_by=user_scope(user.sub), scope_ref=f"org:{org.pk}", sub=sub, role=role)
