"""Keeping a partition ready for each coming month of events."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from django.db import connection

from gedaechtnis.common import clock
from gedaechtnis.identity.principals import GLOBAL_SCOPE
from gedaechtnis.scoping import work

MONTHS_AHEAD = 3
_KIND = "ensure_event_partitions"


def ensure(now: datetime) -> int:
    """Make the partitions of this month and the next ones; returns how many were new."""
    month, made = date(now.year, now.month, 1), 0
    with connection.cursor() as cursor:
        for _ahead in range(MONTHS_AHEAD + 1):
            cursor.execute("SELECT world_ensure_event_partition(%s)", [month])
            made += bool(cursor.fetchone()[0])
            month = (month + timedelta(days=32)).replace(day=1)
    return made


def schedule(due_at: datetime | None = None) -> None:
    """Have the care run (again)."""
    work.enqueue(kind=_KIND, scope_ref=GLOBAL_SCOPE, dedupe_key="daily", due_at=due_at)


@work.handler(_KIND)
def _ensure_daily(item: work.WorkItem) -> None:
    now = clock.now()
    ensure(now)
    schedule(now + timedelta(days=1))
