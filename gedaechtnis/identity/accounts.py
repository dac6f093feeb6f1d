"""The end of an account: out of every group and organisation, and then gone, with tokens and sessions.

The user's row goes too. Their `sub` stands in what others share and in the security log; no name leads to it any more.
"""

from __future__ import annotations

from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import access, groups, orgs
from gedaechtnis.identity.models import Group, Org, User
from gedaechtnis.identity.sessions import SessionStore


@transaction.atomic
def withdraw(user: User) -> None:
    """Leave every group and organisation. A group in which the user is alone is closed.

    Raises:
        Problem: `last_owner`, `last_admin` (409): others need another one first. Nothing has changed then.
    """
    stuck = [
        one.group.name
        for one in user.group_memberships.select_related("group").order_by("group_id")
        if one.group.closed_at is None and not _left_group(user, one.group)
    ]
    if stuck:
        text = _("Name another owner first, or close the group: %(names)s.")
        raise Problem("last_owner", text % {"names": ", ".join(stuck)}, 409)
    stuck = [
        one.org.name
        for one in user.org_memberships.select_related("org").order_by("org_id")
        if not _left_org(user, one.org)
    ]
    if stuck:
        text = _("Name another admin of the organisation first: %(names)s.")
        raise Problem("last_admin", text % {"names": ", ".join(stuck)}, 409)


def _left_group(user: User, group: Group) -> bool:
    """Whether the user is out of the group now, or it is closed."""
    try:
        groups.leave(user=user, group_id=group.pk)
    except NotFound:
        return True  # of an organisation they are no longer in
    except Problem as problem:
        if problem.code != "last_owner" or group.memberships.exclude(user=user).exists():
            return False
        groups.close_group(user=user, group_id=group.pk)
    return True


def _left_org(user: User, org: Org) -> bool:
    """Whether the user is out of the organisation now, or nobody else is in it."""
    try:
        orgs.leave(user=user, org_id=org.pk)
    except Problem:
        return not org.memberships.exclude(user=user).exists()
    return True


def lock_out(user: User) -> None:
    """From now on nobody signs in as this user, and no token or session of theirs opens anything."""
    user.is_active = False
    user.save(update_fields=["is_active"])


def remove(user: User) -> None:
    """Delete the user's row and what else knows their name. After commit their open pages end."""
    _end_sessions(user)
    of_users = ContentType.objects.get_for_model(User)
    about = Q(content_type=of_users, object_id=str(user.pk))
    # allauth calls an account at a provider by its user's name, also in what the admin keeps of one long gone.
    about |= Q(content_type__app_label="socialaccount", object_repr=str(user))
    LogEntry.objects.filter(about).delete()
    access.tell([user.sub])
    user.delete()


def _end_sessions(user: User) -> None:
    """A session only says in its data whose it is."""
    store = SessionStore()
    of_user = [
        session.pk
        for session in Session.objects.filter(expire_date__gt=clock.now()).iterator()
        if store.decode(session.session_data).get(SESSION_KEY) == str(user.pk)
    ]
    Session.objects.filter(pk__in=of_user).delete()
