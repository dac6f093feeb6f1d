"""Work is found without reading across scopes, done under a lease, and never lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections, transaction

from gedaechtnis.common import clock
from gedaechtnis.scoping import clocks, work
from gedaechtnis.scoping.models import ScopeClock, Work

T0 = datetime(2030, 1, 1, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(autouse=True)
def handled(monkeypatch: pytest.MonkeyPatch) -> list[work.WorkItem]:
    """A kind of work that only notes what it was given, and no worker to nudge."""
    items: list[work.WorkItem] = []
    monkeypatch.setitem(work._handlers, "note", items.append)
    monkeypatch.setattr(work, "_nudge", None)
    return items


def ask(key: str = "k", scope_ref: str = "global", due_at: datetime | None = None) -> None:
    work.enqueue(kind="note", scope_ref=scope_ref, dedupe_key=key, due_at=due_at)


def test_it_runs_once_and_is_gone(handled: list[work.WorkItem]) -> None:
    ask()
    assert work.run_due() == 1
    assert [item.kind for item in handled] == ["note"]
    assert not Work.objects.exists()


def test_it_vanishes_with_the_transaction_that_asked(handled: list[work.WorkItem]) -> None:
    def ask_and_fail() -> None:
        with transaction.atomic():
            ask()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask_and_fail()
    assert work.run_due() == 0
    assert handled == []


def test_it_waits_until_it_is_due(handled: list[work.WorkItem]) -> None:
    with clock.frozen(T0):
        ask(due_at=T0 + timedelta(seconds=30))
        assert work.run_due() == 0
    with clock.frozen(T0 + timedelta(seconds=30)):
        assert work.run_due() == 1


def test_asking_again_moves_it_and_does_not_double_it(handled: list[work.WorkItem]) -> None:
    with clock.frozen(T0):
        ask(due_at=T0 + timedelta(seconds=10))
        ask(due_at=T0 + timedelta(seconds=40))
    with clock.frozen(T0 + timedelta(seconds=20)):
        assert work.run_due() == 0
    with clock.frozen(T0 + timedelta(seconds=40)):
        assert work.run_due() == 1


def test_what_is_asked_during_the_run_is_not_lost(handled: list[work.WorkItem]) -> None:
    ask()
    (item,) = work.claim()
    ask()
    assert work.complete(item) is False
    assert work.run_due() == 1
    assert handled[0].seq == 2


def test_a_dead_workers_lease_expires(handled: list[work.WorkItem]) -> None:
    with clock.frozen(T0):
        ask()
        assert len(work.claim()) == 1
        assert work.claim() == []
    with clock.frozen(T0 + work.lease() + timedelta(seconds=1)):
        assert work.run_due() == 1
        assert handled[0].attempts == 2


def test_a_late_worker_cannot_complete_what_another_took_over() -> None:
    with clock.frozen(T0):
        ask()
        (late,) = work.claim()
    with clock.frozen(T0 + work.lease() + timedelta(seconds=1)):
        (current,) = work.claim()
        assert work.complete(late) is False
        assert Work.objects.get().lease_token == current.lease_token
        assert work.complete(current) is True


def test_a_failing_handler_is_tried_again_with_pauses_and_then_kept_as_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_item: work.WorkItem) -> None:
        raise ValueError("no")

    monkeypatch.setitem(work._handlers, "note", fail)
    now = T0
    with clock.frozen(now):
        ask()
    tries = 0
    for _round in range(2 * work.MAX_ATTEMPTS):
        with clock.frozen(now):
            tries += work.run_due()
        now += timedelta(minutes=6)
    row = Work.objects.get()
    assert tries == work.MAX_ATTEMPTS
    assert row.failed_at is not None
    assert row.last_error == "ValueError"


def test_one_scope_cannot_crowd_out_the_others() -> None:
    for number in range(20):
        ask(key=str(number), scope_ref="global")
    ask(key="x", scope_ref="user:00000000-0000-4000-8000-000000000001")
    claimed = work.claim(limit=10, per_scope=3)
    assert sorted(item.scope_ref for item in claimed).count("global") == 3
    assert len(claimed) == 4


def test_parallel_workers_never_share_an_item() -> None:
    for number in range(40):
        ask(key=str(number), scope_ref=f"user:00000000-0000-4000-8000-{number:012d}")

    def take(_worker: int) -> list[int]:
        try:
            return [item.id for item in work.claim(limit=10)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        taken = [id for ids in pool.map(take, range(8)) for id in ids]
    assert len(taken) == len(set(taken)) == 40


def test_ticks_rise_strictly_under_parallel_writers_and_a_stuck_clock() -> None:
    def take(_worker: int) -> list[datetime]:
        try:
            with clock.frozen(T0), transaction.atomic():
                return clocks.take("global", 3)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        ticks = [tick for three in pool.map(take, range(16)) for tick in three]
    assert len(set(ticks)) == 48
    assert max(ticks) == T0 + timedelta(microseconds=47)
    assert ScopeClock.objects.get(scope_ref="global").revision == 16


def test_several_clocks_are_locked_in_one_order() -> None:
    refs = [f"user:00000000-0000-4000-8000-{number:012d}" for number in range(4)]

    def lock(order: list[str]) -> Any:
        try:
            with transaction.atomic():
                clocks.lock(order)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lock, [refs, refs[::-1]] * 10))
    assert ScopeClock.objects.filter(scope_ref__in=refs).count() == 4
