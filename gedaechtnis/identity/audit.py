"""The security log: who signed in, who was given or lost what, which token was used. Never what is remembered.

Entries are added and never changed: the application may not do more, and nobody does from the admin.
"""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from typing import Any
from uuid import UUID

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Q
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from gedaechtnis.common import clock
from gedaechtnis.identity.models import AuditEntry, User

Kind = AuditEntry.Kind

_CODE = re.compile(r"[A-Za-z0-9_:.,+-]{1,200}")


def record(
    kind: AuditEntry.Kind,
    *,
    acted_by: str,
    sub: UUID | None = None,
    token_id: UUID | None = None,
    request: HttpRequest | None = None,
    **details: str,
) -> AuditEntry:
    """Add an entry, in the transaction of the act it tells of.

    `acted_by` is who did it (`user:<sub>`, `agent:<role>@user:<sub>`, `system:<purpose>`, or empty for a
    stranger), `sub` whom it concerns. `details` are codes: roles, scopes, ids, counts; never names or text.

    Raises:
        ValueError: a detail is no code.
    """
    for name, value in details.items():
        if not _CODE.fullmatch(value):
            raise ValueError(f"detail {name} of a {kind} entry is not a code")
    return AuditEntry.objects.create(
        at=clock.now(),
        kind=kind,
        acted_by=acted_by,
        sub=sub,
        token_id=token_id,
        address_hash=address_hash(request) if request is not None else "",
        details=details,
    )


def entries_of(sub: UUID, *, before: UUID | None = None, limit: int = 50) -> list[AuditEntry]:
    """What concerns a person, the newest first; `before` is the last entry of the page before."""
    rows = AuditEntry.objects.filter(sub=sub).order_by("-at", "-id")
    last = rows.filter(pk=before).first() if before else None
    if last is not None:
        rows = rows.filter(Q(at__lt=last.at) | Q(at=last.at, pk__lt=last.pk))
    return list(rows[:limit])


def address_hash(request: HttpRequest) -> str:
    """The sender's address as a keyed hash: tells equal from different, and nothing else.

    IPv6 senders choose within their /64, so that is what counts as one address. Empty without an address.
    """
    address = client_address(request)
    return salted_hmac("gedaechtnis.audit.address", address, algorithm="sha256").hexdigest() if address else ""


def client_address(request: HttpRequest) -> str:
    """The network address a request came from, an IPv6 one as its /64; empty if there is none (a unix socket)."""
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return ""
    return str(ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def listen() -> None:
    """Record signing in and out, whatever door it happens at."""
    user_logged_in.connect(_signed_in, dispatch_uid="audit.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="audit.signed_out")
    user_login_failed.connect(_sign_in_failed, dispatch_uid="audit.sign_in_failed")


def _signed_in(*, request: HttpRequest, user: User, **_kwargs: Any) -> None:
    record(Kind.SIGN_IN, acted_by=f"user:{user.sub}", sub=user.sub, request=request)


def _signed_out(*, request: HttpRequest, user: User | None, **_kwargs: Any) -> None:
    if user is not None:
        record(Kind.SIGN_OUT, acted_by=f"user:{user.sub}", sub=user.sub, request=request)


def _sign_in_failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_kwargs: Any) -> None:
    """The name typed is not kept (it may be a password typed into the wrong field), only whom it names, if anybody."""
    record(Kind.SIGN_IN_FAILED, acted_by="", sub=named(credentials.get("username")), request=request)


def named(username: str | None) -> UUID | None:
    """The `sub` of the user of that name, if there is one."""
    if not username or "\x00" in username:
        return None
    return User.objects.filter(username=username).values_list("sub", flat=True).first()
