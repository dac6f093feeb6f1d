"""Authority of statements."""

from __future__ import annotations

from enum import IntEnum


class Rank(IntEnum):
    """How much a statement weighs against others; set by the server, never by the caller."""

    UNTRUSTED = 0
    AGENT = 1  # agents, inferences and imports
    TRUSTED_SOURCE = 2  # an integration or agent that a person trusts
    PERSON = 3
