"""Whose a scope is: who decides about it, beyond writing in it."""

from __future__ import annotations

from uuid import UUID

from gedaechtnis.identity.models import GroupMembership
from gedaechtnis.identity.principals import Principal, user_scope


def owns(principal: Principal, scope_ref: str) -> bool:
    """Whether a scope is this principal's today: a person's own, a group they own, an org they administer.

    Never more than the principal may write, and nobody's for an agent.
    """
    if not principal.is_person or principal.sub is None or scope_ref not in principal.write_scopes:
        return False
    kind, _colon, key = scope_ref.partition(":")
    if kind == "group":
        return GroupMembership.objects.filter(
            group_id=UUID(key), user__sub=principal.sub, role=GroupMembership.Role.OWNER
        ).exists()
    # Of an org only its admins may write.
    return kind == "org" or scope_ref == user_scope(principal.sub)
