"""System time: a logical clock per scope that rises strictly, whatever the wall clock does."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from gedaechtnis.common import clock
from gedaechtnis.scoping.models import ScopeClock

_TAKE = """
INSERT INTO scopes AS s (scope_ref, org_id, tick, revision, state)
VALUES (%(scope)s, %(org)s, coalesce(%(now)s, clock_timestamp()) + %(span)s * interval '1 microsecond', 1, 'open')
ON CONFLICT (scope_ref) DO UPDATE
SET tick = greatest(coalesce(%(now)s, clock_timestamp()), s.tick + interval '1 microsecond')
         + %(span)s * interval '1 microsecond',
    revision = s.revision + 1, org_id = coalesce(s.org_id, EXCLUDED.org_id)
RETURNING tick
"""

_MICROSECOND = timedelta(microseconds=1)


def take(scope_ref: str, count: int = 1, *, org_id: UUID | None = None) -> list[datetime]:
    """Lock the scope's clock until the transaction ends and take `count` ticks, ascending.

    Each tick is later than any that the scope ever gave. Call it before reading what will be changed.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _TAKE,
            {"scope": scope_ref, "org": org_id, "now": clock.fixed(), "span": count - 1},
        )
        last: datetime = cursor.fetchone()[0]
    return [last - _MICROSECOND * (count - 1 - index) for index in range(count)]


def lock(scope_refs: Iterable[str]) -> None:
    """Lock several clocks in `scope_ref` order, so that two such acts never wait for each other in a ring."""
    refs = sorted(set(scope_refs))
    _found(refs)
    list(ScopeClock.objects.filter(scope_ref__in=refs).order_by("scope_ref").select_for_update(no_key=True))


def hold(scope_refs: Iterable[str]) -> bool:
    """Keep scopes from being erased until the transaction ends; False if one of them is closed or erased.

    Holders do not wait for each other, nor for who takes a tick. A scope without a row, in which nobody wrote yet,
    gets one: there must be something to hold.
    """
    refs = sorted(set(scope_refs))
    states = _held(refs)
    if len(states) < len(refs):
        _found(refs)
        states = _held(refs)
    return all(state == ScopeClock.State.OPEN for state in states)


def _held(refs: list[str]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT state FROM scopes WHERE scope_ref = ANY(%s) ORDER BY scope_ref FOR KEY SHARE", [refs])
        return [state for (state,) in cursor.fetchall()]


def _found(refs: list[str]) -> None:
    """Give those of the scopes a row that have none."""
    ScopeClock.objects.bulk_create([ScopeClock(scope_ref=ref, tick=clock.now()) for ref in refs], ignore_conflicts=True)


def advance(scope_ref: str, tick: datetime) -> None:
    """Let every tick to come be later than `tick`, which was taken elsewhere."""
    ScopeClock.objects.filter(scope_ref=scope_ref, tick__lt=tick).update(tick=tick)


def committed(scope_refs: Iterable[str]) -> dict[str, datetime]:
    """The last committed tick of each scope that ever wrote."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT scope_ref, tick FROM scopes WHERE scope_ref = ANY(%s)", [list(scope_refs)])
        return dict(cursor.fetchall())
