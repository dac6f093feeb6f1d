"""The static schedule: one tick; everything else that is due stands in the work table."""

from __future__ import annotations

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "work-tick": {
        "task": "gedaechtnis.scoping.tasks.run_due_work",
        "schedule": 1.0,
        # A worker that was away must not catch up on ticks: one tick finds all that is due.
        "options": {"expires": 2.0},
    },
}
