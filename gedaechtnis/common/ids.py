"""Identifiers: UUIDv7, so that keys made later sort later."""

from __future__ import annotations

from uuid import UUID

import uuid_utils.compat


def uuid7() -> UUID:
    """A new time-ordered UUID (RFC 9562, version 7)."""
    return uuid_utils.compat.uuid7()
