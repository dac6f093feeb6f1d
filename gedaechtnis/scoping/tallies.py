"""Counting what is read, beside the database: ids of a scope in Redis, until work of the scope takes them.

Whoever reads may not be allowed to write, and must neither wait for a count nor fail with it. So a thread of the
process sends what was noted. What is lost on the way is not counted; nothing else depends on it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from queue import Empty, Full, Queue
from threading import Thread
from typing import cast
from uuid import UUID

import redis
from django.conf import settings

from gedaechtnis.common import clock
from gedaechtnis.scoping import work

logger = logging.getLogger(__name__)

PREFIX = "gedaechtnis:tally:"
_WAITING = f"{PREFIX}waiting"
"""Which kinds and scopes have something noted, by when it is to be taken."""

_PAUSE = timedelta(seconds=10)
"""So long notes are gathered, that a busy scope is not written each second."""

_KEPT = timedelta(days=1)
_MOST_AT_ONCE = 200
_MOST_QUEUED = 2_000


@dataclass(frozen=True, slots=True)
class _Note:
    kind: str
    scope_ref: str
    ids: tuple[UUID, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Tally:
    """How often an id was noted since it was last taken, and when for the last time."""

    id: UUID
    count: int
    last: datetime


def note(*, kind: str, scope_ref: str, ids: Iterable[UUID]) -> None:
    """Count ids of a scope, for work of that kind. Takes microseconds and never raises for want of Redis."""
    try:
        _sender(os.getpid()).put_nowait(_Note(kind, scope_ref, tuple(ids), clock.now()))
    except Full:
        logger.warning("too much to count, so some is not counted", extra={"metric": "tallies_lost"})


def flush() -> None:
    """Wait until everything noted in this process is sent or given up."""
    _sender(os.getpid()).join()


def collect() -> int:
    """Ask for the work that takes what has been waiting long enough; returns for how many scopes."""
    waiting = _client()
    asked = 0
    due = waiting.zrangebyscore(_WAITING, "-inf", clock.now().timestamp(), start=0, num=_MOST_AT_ONCE)
    for member in cast("list[bytes]", due):
        if waiting.zrem(_WAITING, member):  # another worker may have been here between
            kind, _, scope_ref = member.decode().partition(" ")
            work.enqueue(kind=kind, scope_ref=scope_ref, dedupe_key="")
            asked += 1
    return asked


def take(*, kind: str, scope_ref: str) -> list[Tally]:
    """What was noted of a scope, in no order; it is gone from here afterwards.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    key = _key(kind, scope_ref)
    both = _client().pipeline(transaction=True)
    both.hgetall(key)
    both.delete(key)
    found = cast("dict[bytes, bytes]", both.execute()[0])
    fields = {name.decode(): value for name, value in found.items()}
    return [
        Tally(UUID(name), int(count), datetime.fromtimestamp(float(fields[f"{name}@"]), UTC))
        for name, count in fields.items()
        if f"{name}@" in fields
    ]


def _key(kind: str, scope_ref: str) -> str:
    return f"{PREFIX}{kind}:{scope_ref}"


@cache
def _sender(process: int) -> Queue[_Note]:
    """The notes of a process that are still to be sent. One forked from another has its thread to make anew."""
    queue: Queue[_Note] = Queue(_MOST_QUEUED)
    Thread(target=_send_all, args=[queue], name="tallies", daemon=True).start()
    return queue


def _send_all(queue: Queue[_Note]) -> None:
    while True:
        notes = [queue.get()]
        try:
            while len(notes) < _MOST_AT_ONCE:
                notes.append(queue.get_nowait())
        except Empty:
            pass  # that was all there is
        try:
            _send(notes)
        except (redis.RedisError, OSError) as error:
            logger.warning("not counted: %s", type(error).__name__, extra={"metric": "tallies_lost"})
        finally:
            for _ in notes:
                queue.task_done()


def _send(notes: list[_Note]) -> None:
    sent = _client().pipeline(transaction=False)
    for one in notes:
        key = _key(one.kind, one.scope_ref)
        for id in one.ids:
            sent.hincrby(key, str(id), 1)
            sent.hset(key, f"{id}@", str(one.at.timestamp()))
        sent.expire(key, _KEPT)
        sent.zadd(_WAITING, {f"{one.kind} {one.scope_ref}": (one.at + _PAUSE).timestamp()}, nx=True)
    sent.expire(_WAITING, _KEPT)
    sent.execute()


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=2)
