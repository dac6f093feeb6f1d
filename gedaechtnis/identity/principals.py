"""A principal: who acts, what they may read and write, and with what authority they speak."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.common.rank import Rank
from gedaechtnis.identity.models import Group, GroupMembership, OrgMembership, Token, User

GLOBAL_SCOPE = "global"
SCOPE_REF = re.compile(r"global|(?:user|group|org):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_CLEARANCE = 3
_AGENT = re.compile(r"agent:(.*)@user:.*")


class PrincipalKind(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    CURATOR = "curator"
    INTEGRATION = "integration"
    SYSTEM = "system"


_RANKS = {
    PrincipalKind.PERSON: Rank.PERSON,
    PrincipalKind.AGENT: Rank.AGENT,
    PrincipalKind.CURATOR: Rank.AGENT,
    PrincipalKind.INTEGRATION: Rank.TRUSTED_SOURCE,
    PrincipalKind.SYSTEM: Rank.AGENT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Immutable; made anew for each request or job from today's memberships."""

    kind: PrincipalKind
    acted_by: str
    sub: UUID | None
    read_scopes: tuple[str, ...]
    write_scopes: frozenset[str]
    default_scope: str
    org_id: UUID | None = None
    clearance: int = 0
    time_zone: str = "UTC"
    language: str = "de"
    trusted_writer: bool = False
    token_id: UUID | None = None
    group_orgs: Mapping[str, UUID | None] = field(default_factory=dict)
    scope_names: Mapping[str, str] = field(default_factory=dict)
    """What the groups and the organisation among `read_scopes` are called."""

    @property
    def rank(self) -> Rank:
        """The authority of what this principal states by itself."""
        if self.kind is PrincipalKind.AGENT and self.trusted_writer:
            return Rank.TRUSTED_SOURCE
        return _RANKS[self.kind]

    @property
    def agent_role(self) -> str:
        """The role of the agent that acts, `curator` for the curator; "" for a person."""
        named = _AGENT.fullmatch(self.acted_by)
        return named[1] if named else "" if self.is_person else str(self.kind)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def is_person(self) -> bool:
        return self.kind is PrincipalKind.PERSON


def user_scope(sub: UUID) -> str:
    return f"user:{sub}"


def org_of(scope_ref: str) -> UUID | None:
    """The org a scope lies in: its own for orgs, the group's for groups; none for people, the instance, the unknown."""
    kind, _colon, key = scope_ref.partition(":")
    if kind == "org":
        return UUID(key)
    if kind == "group":
        return Group.objects.filter(pk=UUID(key)).values_list("org_id", flat=True).first()
    return None


def leads(user: User, scope_ref: str) -> bool:
    """Whether a scope is the user's own, a group they own, or an org they administer, today."""
    kind, _colon, key = scope_ref.partition(":")
    match kind:
        case "user":
            return scope_ref == user_scope(user.sub)
        case "group":
            owners = GroupMembership.objects.filter(user=user, role=GroupMembership.Role.OWNER, group__closed_at=None)
            return owners.filter(group_id=UUID(key)).exists()
        case "org":
            admins = OrgMembership.objects.filter(user=user, role=OrgMembership.Role.ADMIN)
            return admins.filter(org_id=UUID(key)).exists()
        case _:
            return False


def person(user: User, org: UUID | None = None) -> Principal:
    """The person at the page: full clearance, their own scope, their groups, and one of their orgs.

    `org` is the one they act in, without it the one they are in longest: nobody moves them by letting them in
    somewhere. Groups of other orgs are out of sight meanwhile.

    Raises:
        Problem: `org_denied` (403) for an org they are not in, whether it exists or not.
    """
    own = user_scope(user.sub)
    joined = list(OrgMembership.objects.filter(user=user).order_by("pk").values_list("org_id", "role", "org__name"))
    roles = {org_id: role for org_id, role, _name in joined}
    if org is not None and org not in roles:
        raise Problem("org_denied", _("You are not in this organisation."), 403)
    active = org or next(iter(roles), None)
    memberships = list(
        GroupMembership.objects.filter(user=user, group__closed_at=None)
        .filter(Q(group__org=None) | Q(group__org=active))
        .select_related("group")
        .order_by("group_id")
    )
    editable = [f"group:{m.group_id}" for m in memberships if m.role != GroupMembership.Role.VIEWER]
    orgs = [f"org:{active}"] if active else []
    return Principal(
        kind=PrincipalKind.PERSON,
        acted_by=own,
        sub=user.sub,
        read_scopes=(own, *(f"group:{m.group_id}" for m in memberships), *orgs, GLOBAL_SCOPE),
        write_scopes=frozenset(
            {own, *editable, *(orgs if active and roles[active] == OrgMembership.Role.ADMIN else ())}
        ),
        default_scope=own,
        org_id=active,
        clearance=MAX_CLEARANCE,
        time_zone=user.time_zone,
        language=user.language,
        group_orgs={f"group:{m.group_id}": m.group.org_id for m in memberships},
        scope_names={f"group:{m.group_id}": m.group.name for m in memberships}
        | {f"org:{org_id}": name for org_id, _role, name in joined if org_id == active},
    )


def still_in(user: User, org: UUID | None) -> UUID | None:
    """The org if the user is in it today; else None, which leaves the choice to `person`."""
    return org if org and OrgMembership.objects.filter(user=user, org=org).exists() else None


def from_token(token: Token, org: UUID | None = None) -> Principal:
    """What a token may do: its user's rights of today, narrowed by the token's own limits.

    A token for one scope acts in the org of that scope unless `org` says otherwise. Once its user may not write
    there any more, it writes nothing; once they do not lead there, it is trusted no more than other agents. A trusted
    one without a scope of its own is confined to its user's: trust is for one scope.

    Raises:
        Problem: `org_denied` (403) for an org the user is not in.
    """
    owner = person(token.user, org or still_in(token.user, org_of(token.write_scope)))
    default_scope = token.write_scope or owner.default_scope
    is_confined = token.write_scope or token.trusted_writer
    writable = owner.write_scopes & {default_scope} if is_confined else owner.write_scopes
    is_agent = bool(token.agent_role)
    return replace(
        owner,
        kind=PrincipalKind.AGENT if is_agent else PrincipalKind.PERSON,
        acted_by=f"agent:{token.agent_role}@{owner.acted_by}" if is_agent else owner.acted_by,
        write_scopes=frozenset() if token.read_only else frozenset(writable),
        default_scope=default_scope,
        clearance=min(owner.clearance, token.clearance),
        trusted_writer=is_agent and token.trusted_writer and leads(token.user, default_scope),
        token_id=token.id,
    )


def agent(user: User, role: str, org: UUID | None = None) -> Principal:
    """An agent of a user's that runs beside the server and needs no token: it reads as they do, and proposes.

    Raises:
        Problem: `org_denied` (403) for an org the user is not in.
    """
    owner = person(user, org)
    return replace(owner, kind=PrincipalKind.AGENT, acted_by=f"agent:{role}@{owner.acted_by}")


def curator(user: User, org: UUID | None = None) -> Principal:
    """The curator of a user's chats: reads as the user; what it writes is judged as inference or quote.

    Raises:
        Problem: `org_denied` (403) for an org the user is not in.
    """
    owner = person(user, org)
    return replace(owner, kind=PrincipalKind.CURATOR, acted_by=f"curator@{owner.acted_by}")


def system(scope_ref: str, purpose: str) -> Principal:
    """A job of the server itself, confined to one scope."""
    org = org_of(scope_ref)
    return Principal(
        kind=PrincipalKind.SYSTEM,
        acted_by=f"system:{purpose}",
        sub=UUID(scope_ref.removeprefix("user:")) if scope_ref.startswith("user:") else None,
        read_scopes=(scope_ref, GLOBAL_SCOPE),
        write_scopes=frozenset({scope_ref}),
        default_scope=scope_ref,
        org_id=org,
        clearance=MAX_CLEARANCE,
        group_orgs={scope_ref: org} if scope_ref.startswith("group:") else {},
        time_zone=str(settings.GEDAECHTNIS_TIME_ZONE),
        language=str(settings.LANGUAGE_CODE),
    )
