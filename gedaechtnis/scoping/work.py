"""Work to be done later: found without reading across scopes, never lost, done under a lease.

The row is written in the transaction that makes the work necessary; a tick claims it, runs its
handler and deletes it only if nothing was added meanwhile. Celery only makes this faster.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection, transaction

from gedaechtnis.common import clock
from gedaechtnis.identity import principals
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping.models import Work

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 8
PER_SCOPE = 4
_LONGEST_PAUSE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A claimed row. `seq` is what was asked when it was claimed; more may have come since."""

    id: int
    kind: str
    scope_ref: str
    acting_sub: UUID | None
    org_id: UUID | None
    object_id: UUID | None
    dedupe_key: str
    seq: int
    attempts: int
    lease_token: UUID

    def system(self) -> Principal:
        """The server itself, confined to the item's scope."""
        return principals.system(self.scope_ref, self.kind)

    def user(self) -> User:
        """The person for whom it runs."""
        if self.acting_sub is None:
            raise ValueError(f"work of kind {self.kind} names no person")
        return User.objects.get(sub=self.acting_sub)

    def person(self) -> Principal:
        """That person with today's memberships, in the org of the work as long as they are in it."""
        user = self.user()
        return principals.person(user, principals.still_in(user, self.org_id))


Handler = Callable[[WorkItem], None]
_handlers: dict[str, Handler] = {}
_nudge: Callable[[], None] | None = None


def handler(kind: str) -> Callable[[Handler], Handler]:
    """Register the function that does work of a kind. It opens its own scope and may run twice."""

    def register(function: Handler) -> Handler:
        if kind in _handlers:
            raise ValueError(f"work of kind {kind!r} has a handler already")
        _handlers[kind] = function
        return function

    return register


def lease() -> timedelta:
    """How long a claimed item belongs to its worker; a worker that dies is replaced after it."""
    return timedelta(seconds=settings.GEDAECHTNIS_WORK_LEASE_SECONDS)


def time_to_stop() -> float:
    """When, by `time.monotonic()`, a handler that began now should ask to be called again instead of going on.

    It is never taken for a dead one then, and others have their turn.
    """
    return time.monotonic() + lease().total_seconds() / 2


def bind_nudge(function: Callable[[], None]) -> None:
    """Bind what wakes a worker at once instead of at the next tick."""
    global _nudge
    _nudge = function


_UPSERT = """
INSERT INTO work AS w (kind, scope_ref, acting_sub, org_id, object_id, due_at, seq, attempts, dedupe_key, last_error)
VALUES (%(kind)s, %(scope_ref)s, %(acting_sub)s, %(org_id)s, %(object_id)s, %(due_at)s, 1, 0, %(dedupe_key)s, '')
ON CONFLICT (kind, scope_ref, dedupe_key) DO UPDATE
SET seq = w.seq + 1, due_at = EXCLUDED.due_at, acting_sub = EXCLUDED.acting_sub, org_id = EXCLUDED.org_id,
    object_id = EXCLUDED.object_id, attempts = 0, failed_at = NULL, last_error = ''
"""


def enqueue(
    *,
    kind: str,
    scope_ref: str,
    dedupe_key: str,
    object_id: UUID | None = None,
    acting_sub: UUID | None = None,
    org_id: UUID | None = None,
    due_at: datetime | None = None,
) -> None:
    """Write the item in the caller's transaction; asked again under the same key it is moved, not doubled.

    `org_id` is the org in which `acting_sub` acts when it runs.
    """
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(
            _UPSERT,
            {
                "kind": kind,
                "scope_ref": scope_ref,
                "acting_sub": acting_sub,
                "org_id": org_id,
                "object_id": object_id,
                "due_at": due_at or now,
                "dedupe_key": dedupe_key,
            },
        )
    if due_at is None or due_at <= now:
        transaction.on_commit(nudge)


def nudge() -> None:
    """Wake a worker. Losing this is harmless: the tick finds the row."""
    if _nudge is not None:
        _nudge()


_CLAIM = """
WITH ranked AS (
  SELECT id, row_number() OVER (PARTITION BY scope_ref ORDER BY due_at, id) AS place
  FROM work WHERE due_at <= %(now)s AND failed_at IS NULL AND (lease_until IS NULL OR lease_until <= %(now)s)
), picked AS (
  SELECT w.id FROM work w JOIN ranked r ON r.id = w.id
  WHERE r.place <= %(per_scope)s
    AND w.due_at <= %(now)s AND w.failed_at IS NULL AND (w.lease_until IS NULL OR w.lease_until <= %(now)s)
  ORDER BY w.due_at, w.id LIMIT %(limit)s FOR UPDATE OF w SKIP LOCKED
)
UPDATE work w SET lease_until = %(lease_until)s, lease_token = %(token)s, attempts = attempts + 1
FROM picked WHERE picked.id = w.id
RETURNING w.id, w.kind, w.scope_ref, w.acting_sub, w.org_id, w.object_id, w.dedupe_key, w.seq, w.attempts
"""


def claim(*, limit: int = 20, per_scope: int = PER_SCOPE) -> list[WorkItem]:
    """Lease due items to this worker, at most `per_scope` of each scope; expired leases count as free."""
    token, now = uuid4(), clock.now()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _CLAIM,
            {"now": now, "lease_until": now + lease(), "token": token, "limit": limit, "per_scope": per_scope},
        )
        rows = cursor.fetchall()
    names = ("id", "kind", "scope_ref", "acting_sub", "org_id", "object_id", "dedupe_key", "seq", "attempts")
    return [WorkItem(**dict(zip(names, row, strict=True)), lease_token=token) for row in rows]


def complete(item: WorkItem) -> bool:
    """Delete a finished item. If more was asked during the run it is freed instead: False."""
    own = Work.objects.filter(pk=item.id, lease_token=item.lease_token)
    with transaction.atomic():
        if own.filter(seq=item.seq).delete()[0]:
            return True
        own.update(lease_token=None, lease_until=None, attempts=0)
        return False


def release_after_error(item: WorkItem, error: Exception) -> None:
    """Free an item whose handler failed: later again, with growing pauses; after too many tries it stays, marked."""
    now = clock.now()
    own = Work.objects.filter(pk=item.id, lease_token=item.lease_token)
    if item.attempts >= MAX_ATTEMPTS:
        own.update(lease_token=None, lease_until=None, failed_at=now, last_error=type(error).__name__)
        return
    pause = min(timedelta(seconds=2**item.attempts), _LONGEST_PAUSE)
    own.filter(seq=item.seq).update(due_at=now + pause)
    own.update(lease_token=None, lease_until=None, last_error=type(error).__name__)


def run_due(*, limit: int = 20) -> int:
    """Claim what is due and run it; returns how many items were run."""
    items = claim(limit=limit)
    for item in items:
        run(item)
    return len(items)


def run(item: WorkItem) -> None:
    """Run one claimed item under its lease. A failing handler is logged by kind and id, never by content."""
    try:
        _handlers[item.kind](item)
    except Exception as error:
        logger.exception("work %s #%s failed (attempt %s)", item.kind, item.id, item.attempts)
        release_after_error(item, error)
    else:
        complete(item)


def pending(*, kind: str, scope_ref: str, dedupe_key: str) -> Work | None:
    """The waiting item under a key, for showing when it is due."""
    return Work.objects.filter(kind=kind, scope_ref=scope_ref, dedupe_key=dedupe_key).first()
