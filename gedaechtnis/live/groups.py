"""Names of channel groups: one per scope, derived, so that a frame reaches exactly the scope's readers."""

from __future__ import annotations

from hashlib import sha256


def scope_group(scope_ref: str) -> str:
    """The group of a scope. Hashed: group names admit fewer characters than scopes, and show nothing."""
    return "s." + sha256(scope_ref.encode()).hexdigest()[:32]
