"""Groups that an identity provider decides: at each sign-in its claim says in which of them a person is."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from allauth.socialaccount.models import SocialApp
from django.db import transaction

from gedaechtnis.identity import access, audit
from gedaechtnis.identity.models import ClaimedGroup, Group, GroupMembership, User

logger = logging.getLogger(__name__)

_ACTOR = "system:oidc"
_MAX_NAME = 200


def follow(user: User, provider: SocialApp, claims: Mapping[str, Any]) -> None:
    """Put a person into the groups that their claims at a provider name, and out of those they no longer name.

    A group is made when its name first comes. Groups made here by people, or named by another provider, are left
    alone, and roles given here stay. A missing claim names no group.
    """
    claim, allowed = provider.settings["groups_claim"], provider.settings["groups"]
    if not claim:
        return
    provider_id = provider.provider_id
    with transaction.atomic():
        named = [name for name in _names(claim, claims.get(claim, [])) if not allowed or name in allowed]
        wanted = {_group(provider_id, name).pk for name in named}
        managed = GroupMembership.objects.filter(user=user, group__claimed__provider_id=provider_id)
        for ended in managed.exclude(group__in=wanted):
            ended.delete()
            _changed(audit.Kind.MEMBER_REMOVED, user, ended)
        for group_id in sorted(wanted):
            membership, is_new = GroupMembership.objects.get_or_create(group_id=group_id, user=user)
            if is_new:
                _changed(audit.Kind.MEMBER_ADDED, user, membership)


def _names(claim: str, value: Any) -> list[str]:
    """The names in a claim, each once. What is no list of names is logged and names nothing."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        logger.warning("the claim %s is not a list of names", claim)
        return []
    return sorted(
        name for name in {name.strip() for name in given} if 0 < len(name) <= _MAX_NAME and name.isprintable()
    )


def _group(provider_id: str, name: str) -> Group:
    """The group a name means; of two people who bring a new one at the same time, the second finds the first one's."""
    make: Any = lambda: Group.objects.create(name=name)  # noqa: E731 (called only if it is needed)
    known, _is_new = ClaimedGroup.objects.get_or_create(provider_id=provider_id, name=name, defaults={"group": make})
    return known.group


def _changed(kind: audit.Kind, user: User, membership: GroupMembership) -> None:
    scope_ref = f"group:{membership.group_id}"
    access.changed(kind, acted_by=_ACTOR, scope_ref=scope_ref, sub=user.sub, role=membership.role)
