"""A writer killed before one of its statements: `python -m tests.killed <how it begins> <user> <run>`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def main(statement: str, username: str, run_id: str) -> None:
    import django  # noqa: PLC0415 (first the settings, then the models)

    django.setup()
    from django.db import connection  # noqa: PLC0415

    from gedaechtnis.identity.models import User  # noqa: PLC0415
    from gedaechtnis.identity.principals import person  # noqa: PLC0415
    from gedaechtnis.memory.schemas import MemoryMutationProposal  # noqa: PLC0415
    from gedaechtnis.memory.services.commit import commit_proposal  # noqa: PLC0415

    def die_before(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.strip().startswith(statement):
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, params, many, context)

    operation = {
        "op": "assert_relationship",
        "subject_ref": "person:mira",
        "predicate": "lives_in",
        "object_ref": "place:town-1",
        "valid_from": "2025-01-01",
    }
    proposal = MemoryMutationProposal.model_validate({"run_id": run_id, "operations": [operation]})
    writer = person(User.objects.get(username=username))
    with connection.execute_wrapper(die_before):
        commit_proposal(principal=writer, proposal=proposal)


if __name__ == "__main__":
    main(*sys.argv[1:])
