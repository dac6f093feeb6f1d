"""The one door for changes of who may read and write where: each is logged, and the open pages it concerns are told.

Whoever changes a membership, a page, the admin or an identity provider, says so here, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest

from gedaechtnis.identity import audit
from gedaechtnis.identity.principals import user_scope

Publisher = Callable[[str, dict[str, Any]], None]

ACCESS_CHANGED = "access.changed"


def _publish_nowhere(scope_ref: str, payload: dict[str, Any]) -> None:
    return None


_publish: Publisher = _publish_nowhere


def bind_publisher(function: Publisher) -> None:
    """Name the port that tells a person's open windows; called after commit, must not raise."""
    global _publish
    _publish = function


def changed(
    kind: audit.Kind, *, acted_by: str, scope_ref: str, sub: UUID, role: str = "", request: HttpRequest | None = None
) -> None:
    """One person's rights in a group or org changed: log it, and tell them after commit."""
    if role:
        audit.record(kind, acted_by=acted_by, sub=sub, request=request, scope=scope_ref, role=role)
    else:
        audit.record(kind, acted_by=acted_by, sub=sub, request=request, scope=scope_ref)
    tell([sub])


def tell(subs: Iterable[UUID]) -> None:
    """After commit, tell the open pages of these people that what they may read or write has changed."""
    scopes = [user_scope(sub) for sub in subs]
    payload: dict[str, Any] = {"type": ACCESS_CHANGED, "ids": []}

    def publish() -> None:
        for scope_ref in scopes:
            _publish(scope_ref, payload)

    transaction.on_commit(publish)
