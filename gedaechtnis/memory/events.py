"""The one door for events: the append-only record, and ids to open windows after commit."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from gedaechtnis.memory import ports

MEMORY_COMMITTED = "memory.committed"
PROPOSAL_CHANGED = "proposal.changed"


def publish_on_commit(scope_ref: str, type: str, ids: Iterable[UUID]) -> None:
    """After commit, tell the scope's open windows what changed. Ids only: each re-reads with its own rights."""
    payload = {"type": type, "ids": [str(id) for id in dict.fromkeys(ids)]}
    transaction.on_commit(lambda: ports.publish(scope_ref, payload))
