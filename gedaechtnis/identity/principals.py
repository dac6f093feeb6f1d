"""A principal: who acts, what they may read and write, and with what authority they speak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings

from gedaechtnis.common.rank import Rank
from gedaechtnis.identity.models import GroupMembership, Token, User

GLOBAL_SCOPE = "global"
MAX_CLEARANCE = 3


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

    @property
    def rank(self) -> Rank:
        """The authority of what this principal states by itself."""
        if self.kind is PrincipalKind.AGENT and self.trusted_writer:
            return Rank.TRUSTED_SOURCE
        return _RANKS[self.kind]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def is_person(self) -> bool:
        return self.kind is PrincipalKind.PERSON


def user_scope(sub: UUID) -> str:
    return f"user:{sub}"


def person(user: User) -> Principal:
    """The person at the page: full clearance, their own scope, groups and orgs."""
    own = user_scope(user.sub)
    memberships = list(
        GroupMembership.objects.filter(user=user, group__closed_at=None).select_related("group").order_by("group_id")
    )
    org_ids = {m.org_id for m in user.org_memberships.all()}
    readable = [m for m in memberships if m.group.org_id is None or m.group.org_id in org_ids]
    groups = [f"group:{m.group_id}" for m in readable]
    editable = [f"group:{m.group_id}" for m in readable if m.role != GroupMembership.Role.VIEWER]
    active_org = min(org_ids) if org_ids else None
    orgs = [f"org:{active_org}"] if active_org else []
    return Principal(
        kind=PrincipalKind.PERSON,
        acted_by=own,
        sub=user.sub,
        read_scopes=(own, *groups, *orgs, GLOBAL_SCOPE),
        write_scopes=frozenset({own, *editable}),
        default_scope=own,
        org_id=active_org,
        clearance=MAX_CLEARANCE,
        time_zone=user.time_zone,
        language=user.language,
        group_orgs={f"group:{m.group_id}": m.group.org_id for m in readable},
    )


def from_token(token: Token) -> Principal:
    """What a token may do: its user's rights, narrowed by the token's own limits."""
    owner = person(token.user)
    default_scope = token.write_scope or owner.default_scope
    writable = owner.write_scopes & {default_scope} if token.write_scope else owner.write_scopes
    is_agent = bool(token.agent_role)
    return replace(
        owner,
        kind=PrincipalKind.AGENT if is_agent else PrincipalKind.PERSON,
        acted_by=f"agent:{token.agent_role}@{owner.acted_by}" if is_agent else owner.acted_by,
        write_scopes=frozenset() if token.read_only else frozenset(writable),
        default_scope=default_scope,
        clearance=min(owner.clearance, token.clearance),
        trusted_writer=is_agent and token.trusted_writer,
        token_id=token.id,
    )


def curator(user: User) -> Principal:
    """The curator of a user's chats: reads as the user; what it writes is judged as inference or quote."""
    owner = person(user)
    return replace(owner, kind=PrincipalKind.CURATOR, acted_by=f"curator@{owner.acted_by}")


def system(scope_ref: str, purpose: str) -> Principal:
    """A job of the server itself, confined to one scope."""
    return Principal(
        kind=PrincipalKind.SYSTEM,
        acted_by=f"system:{purpose}",
        sub=UUID(scope_ref.removeprefix("user:")) if scope_ref.startswith("user:") else None,
        read_scopes=(scope_ref, GLOBAL_SCOPE),
        write_scopes=frozenset({scope_ref}),
        default_scope=scope_ref,
        clearance=MAX_CLEARANCE,
        time_zone=str(settings.GEDAECHTNIS_TIME_ZONE),
        language=str(settings.LANGUAGE_CODE),
    )
