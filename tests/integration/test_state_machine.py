"""Random histories through the database: every answer, then and for ever after, is the reference's."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.statemachine.machine import MemoryMachine

USUAL = 200
EXAMPLES = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
"""How many random histories to try; none named: the same usual ones each time, and a failing one is shown as it is."""

WHAT_HAPPENS = {
    *("committed", "restated", "pending", "accepted", "stale", "undone", "moved_since", "nothing_to_undo"),
    *("empty_interval", "before_start", "already_ended", "nothing_believed"),
    *("merged", "merge_into_self", "split", "unmerged", "never_merged", "already reversed"),
}
"""A test of random acts that never came to one of these would prove less than it says."""


@pytest.mark.slow
def test_state_machine_agrees_with_the_reference(admin_connection: psycopg.Connection[Any]) -> None:
    seen: Counter[str] = Counter()

    class Machine(MemoryMachine):
        admin = admin_connection

    Machine.seen = seen
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES or USUAL,
            stateful_step_count=12,
            derandomize=not EXAMPLES,
            deadline=None,
            database=None,
            print_blob=True,
            phases=[Phase.generate, *([Phase.shrink] if EXAMPLES else [])],
            suppress_health_check=list(HealthCheck),
        ),
    )
    if not EXAMPLES or EXAMPLES >= USUAL:
        assert set(seen) >= WHAT_HAPPENS
