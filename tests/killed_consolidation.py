"""A consolidation killed: `python -m tests.killed_consolidation <user> <role> batches=<n>|statement=<beginning>`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

BATCH = 20


def main(username: str, role: str, how: str) -> None:
    import django  # noqa: PLC0415 (first the settings, then the models)

    django.setup()
    from django.db import connection  # noqa: PLC0415

    from gedaechtnis.identity.models import User  # noqa: PLC0415
    from gedaechtnis.knowledge import consolidation  # noqa: PLC0415
    from tests.integration.knowledge.conftest import agent_of  # noqa: PLC0415

    consolidation.BATCH = BATCH
    kind, _sign, value = how.partition("=")
    seen = 0

    def die(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal seen
        if kind == "statement" and sql.strip().startswith(value):
            seen += 1
        result = execute(sql, params, many, context)
        if seen == (1 if value.startswith("UPDATE") else BATCH // 2):
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    principal = agent_of(User.objects.get(username=username), role)
    with connection.execute_wrapper(die):
        if kind == "batches":
            _between(int(value), consolidation)
        consolidation.consolidate(principal=principal)


def _between(batches: int, consolidation: Any) -> None:
    decide, done = consolidation._decide, 0

    def counted(*args: Any) -> Any:
        nonlocal done
        if done == batches:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        return decide(*args)

    consolidation._decide = counted


if __name__ == "__main__":
    main(*sys.argv[1:])
