"""Making and checking bearer tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import audit, principals
from gedaechtnis.identity.models import Token, User
from gedaechtnis.identity.principals import SCOPE_REF

MAX_NAME = 100

AGENT_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,49}")
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
    acted_by: str = "",
) -> tuple[Token, str]:
    """Create a token; the second value is the secret, which exists only now.

    A trusted writer is an agent whose statements count without a person looking at them. It is trusted in one scope,
    the user's own unless `write_scope` says otherwise, and only where the user leads.

    `acted_by` is who asked for it, for the security log; the user without it.

    Raises:
        Problem: `scope_denied` (403) if the user may not write `write_scope`, `not_owner` (403) if they may not give
            trust there; `missing`, `too_long`, `invalid_agent_role`, `no_agent`, `out_of_range` naming the field.
    """
    _check(name, agent_role, clearance)
    if write_scope and write_scope not in _writable(user, write_scope):
        raise Problem("scope_denied", _("You may not write into this scope."), 403, "write_scope")
    if trusted_writer:
        write_scope = write_scope or principals.user_scope(user.sub)
        _check_trust(user, agent_role, write_scope)
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
    audit.record(
        audit.Kind.TOKEN_CREATED,
        acted_by=acted_by or principals.user_scope(user.sub),
        sub=user.sub,
        token_id=token.id,
        clearance=str(clearance),
    )
    return token, secret


def _check(name: str, agent_role: str, clearance: int) -> None:
    if not name.strip():
        raise Problem("missing", _("A token needs a name."), field="name")
    if len(name) > MAX_NAME:
        raise Problem(
            "too_long", _("At most %(max_length)s characters are allowed.") % {"max_length": MAX_NAME}, 422, "name"
        )
    if agent_role and not AGENT_ROLE.fullmatch(agent_role):
        detail = _("A role is a word of small letters, digits, “-” and “_”, at most 50 characters.")
        raise Problem("invalid_agent_role", detail, field="agent_role")
    if not 0 <= clearance <= principals.MAX_CLEARANCE:
        raise Problem("out_of_range", _("The clearance is a number from 0 to 3."), field="clearance")


def _check_trust(user: User, agent_role: str, write_scope: str) -> None:
    if not agent_role:
        raise Problem("no_agent", _("Only an agent can be trusted: give it a role."), field="trusted_writer")
    if not principals.leads(user, write_scope):
        detail = _("Only who leads a group decides which agents it trusts.")
        raise Problem("not_owner", detail, 403, "trusted_writer")


def _writable(user: User, scope_ref: str) -> frozenset[str]:
    """What the user may write while they act in the org of the scope."""
    if not SCOPE_REF.fullmatch(scope_ref):
        return frozenset()
    try:
        return principals.person(user, principals.org_of(scope_ref)).write_scopes
    except Problem:
        return frozenset()


def list_tokens(*, user: User) -> list[Token]:
    """All of a user's tokens, those that ended too, the newest first."""
    return list(Token.objects.filter(user=user).order_by("-created_at", "-id"))


@transaction.atomic
def revoke_token(*, user: User, token_id: UUID, acted_by: str = "") -> Token:
    """End a token of a user's for good; one that has ended already stays as it was.

    Raises:
        NotFound: the user has no such token.
    """
    token = Token.objects.select_for_update().filter(user=user, pk=token_id).first()
    if token is None:
        raise NotFound(_("There is no such token."))
    if token.revoked_at is None:
        token.revoked_at = clock.now()
        token.save(update_fields=["revoked_at"])
        acted_by = acted_by or principals.user_scope(user.sub)
        audit.record(audit.Kind.TOKEN_REVOKED, acted_by=acted_by, sub=user.sub, token_id=token.id)
    return token


def authenticate(secret: str, request: HttpRequest | None = None) -> Token | None:
    """The valid token behind a secret, or None (unknown, revoked, expired, user disabled)."""
    now = clock.now()
    token = Token.objects.select_related("user").filter(digest=_digest(secret), revoked_at=None).first()
    if token is None or not token.user.is_active or token.has_expired:
        return None
    if token.last_used_at is None or token.last_used_at < now - _TOUCH_EVERY:
        _touch(token, now, request)
    return token


@transaction.atomic
def _touch(token: Token, now: datetime, request: HttpRequest | None) -> None:
    """Keep when it was used last. Of requests at the same time only one finds it unused."""
    if Token.objects.filter(pk=token.pk, last_used_at=None).update(last_used_at=now):
        acted_by = principals.from_token(token).acted_by
        audit.record(
            audit.Kind.TOKEN_FIRST_USED, acted_by=acted_by, sub=token.user.sub, token_id=token.id, request=request
        )
    else:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
