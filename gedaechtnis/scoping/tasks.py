"""The Celery side of the work table. Messages carry nothing; the table is the truth."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from gedaechtnis.scoping import tallies, work

logger = logging.getLogger(__name__)


@shared_task(name="gedaechtnis.scoping.tasks.run_due_work", ignore_result=True)
def run_due_work() -> int:
    """Run what is due until nothing is left (bounded, so that one tick never runs for ever)."""
    try:
        tallies.collect()
    except RedisError as error:
        logger.warning("nothing counted (%s); the next tick will", type(error).__name__)
    done = 0
    for _round in range(10):
        ran = work.run_due()
        done += ran
        if not ran:
            break
    return done


def nudge_worker() -> None:
    """Ask a worker for a tick now. Without a broker the next tick does it, so this only logs."""
    try:
        run_due_work.apply_async(expires=30)
    except OperationalError as error:
        logger.warning("no broker for a nudge (%s); the next tick will find the work", type(error).__name__)
