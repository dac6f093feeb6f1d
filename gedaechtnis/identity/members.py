"""What groups and organisations share: members as people see them, and names and roles as they are typed."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text, fold_space, name_key
from gedaechtnis.identity.models import GroupMembership, OrgMembership, User

_MAX_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A person in a group or an organisation."""

    sub: UUID
    name: str
    role: str
    is_self: bool


def views(
    user: User, memberships: QuerySet[GroupMembership] | QuerySet[OrgMembership], *, roles: list[str]
) -> tuple[MemberView, ...]:
    """The members as `user` sees them: in the order of `roles`, then by name."""
    rank = {role: place for place, role in enumerate(roles)}
    found = [
        MemberView(sub=one.user.sub, name=one.user.username, role=one.role, is_self=one.user_id == user.pk)
        for one in memberships.select_related("user")
    ]
    return tuple(sorted(found, key=lambda one: (rank[one.role], one.name)))


def named(username: str, among: QuerySet[User] | None = None) -> User:
    """The active user of that name.

    Raises:
        Problem: `unknown_user`, also for somebody who is not `among` those who may come; `invalid_text`, `too_long`.
    """
    people = User.objects.all() if among is None else among
    name = check_text(username.strip(), field="username", limit=150)
    found = people.filter(is_active=True, username=name).first()
    if found is None:
        text = _("I know nobody with the user name “%(name)s”.") % {"name": username}
        raise Problem("unknown_user", text, field="username")
    return found


def read_name(text: str) -> str:
    """The name of a group or an organisation.

    Raises:
        Problem: `empty_name`, `too_long`, `invalid_text`.
    """
    name = fold_space(check_text(text, field="name", limit=_MAX_NAME))
    if not name_key(name):
        raise Problem("empty_name", _("A name needs at least one visible character."), field="name")
    return name


def read_role(role: str, roles: list[str]) -> str:
    """One of `roles`.

    Raises:
        Problem: `unknown_role`.
    """
    if role not in roles:
        raise Problem("unknown_role", _("There is no such role."), field="role")
    return role
