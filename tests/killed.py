"""A writer that is killed in the middle of its transaction: `python -m tests.killed <insert> <user> <run id>`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any


def main(at: int, username: str, run_id: str) -> None:
    import django  # noqa: PLC0415 (first the settings, then the models)

    django.setup()
    from gedaechtnis.identity.models import User  # noqa: PLC0415
    from gedaechtnis.identity.principals import person  # noqa: PLC0415
    from gedaechtnis.memory.schemas import MemoryMutationProposal  # noqa: PLC0415
    from gedaechtnis.memory.services import ledger, session  # noqa: PLC0415
    from gedaechtnis.memory.services.commit import commit_proposal  # noqa: PLC0415

    really, inserts = session.insert, iter(range(100))

    def insert(rows: Sequence[Any]) -> None:
        if rows and next(inserts) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        really(rows)

    session.insert = ledger.insert = insert
    operation = {
        "op": "assert_relationship",
        "subject_ref": "person:mira",
        "predicate": "lives_in",
        "object_ref": "place:town-1",
        "valid_from": "2025-01-01",
    }
    proposal = MemoryMutationProposal.model_validate({"run_id": run_id, "operations": [operation]})
    commit_proposal(principal=person(User.objects.get(username=username)), proposal=proposal)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
