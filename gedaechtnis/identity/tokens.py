"""Making and checking bearer tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import principals
from gedaechtnis.identity.models import Token, User

_PREFIX = "gd_"
_SHOWN = 8
_TOUCH_EVERY = timedelta(minutes=1)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@transaction.atomic
def create_token(
    *,
    user: User,
    name: str,
    agent_role: str = "",
    read_only: bool = False,
    trusted_writer: bool = False,
    write_scope: str = "",
    clearance: int = principals.MAX_CLEARANCE,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """Create a token; the second value is the secret, which exists only now.

    Raises:
        Problem: `scope_denied` if the user may not write `write_scope`.
    """
    if write_scope and write_scope not in principals.person(user).write_scopes:
        raise Problem("scope_denied", _("You may not write into this scope."), 403, "write_scope")
    secret = _PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        user=user,
        name=name,
        prefix=secret[:_SHOWN],
        digest=_digest(secret),
        agent_role=agent_role,
        read_only=read_only,
        trusted_writer=trusted_writer,
        write_scope=write_scope,
        clearance=clearance,
        expires_at=expires_at,
    )
    return token, secret


def authenticate(secret: str) -> Token | None:
    """The valid token behind a secret, or None (unknown, revoked, expired, user disabled)."""
    now = clock.now()
    token = Token.objects.select_related("user").filter(digest=_digest(secret), revoked_at=None).first()
    if token is None or not token.user.is_active or (token.expires_at and token.expires_at <= now):
        return None
    if token.last_used_at is None or token.last_used_at < now - _TOUCH_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
