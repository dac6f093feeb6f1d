"""How fast the graph is: questions in time and writes, beside the bare SQL on the same rows, while it grows.

Run with `make bench-graph`. One memory grows from size to size. At each, the product's own functions are measured in
turns with one hand-written statement that fetches or stores the same belief rows under the same policies, in the same
process and on the same connection: their ratio depends little on the machine. Writes go through the committer, one
fact at a time also through the REST door.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import django
import psycopg

django.setup()

from django.core.management import call_command  # noqa: E402 (needs the apps)
from django.db import connection  # noqa: E402
from django.test import Client, override_settings  # noqa: E402

from benchmarks.reporting import circumstances, figures, percentile  # noqa: E402
from benchmarks.waiting import Waiting  # noqa: E402
from gedaechtnis.common.ids import uuid7  # noqa: E402
from gedaechtnis.config.startup import settle  # noqa: E402
from gedaechtnis.identity.models import User  # noqa: E402
from gedaechtnis.identity.principals import Principal, person  # noqa: E402
from gedaechtnis.identity.tokens import create_token  # noqa: E402
from gedaechtnis.memory.schemas import AssertFact, MemoryMutationProposal  # noqa: E402
from gedaechtnis.memory.selectors import asof  # noqa: E402
from gedaechtnis.memory.services.commit import commit_proposal  # noqa: E402
from gedaechtnis.scoping.context import scope  # noqa: E402
from gedaechtnis.scoping.rows import columns_of, insert  # noqa: E402
from gedaechtnis.world.models import Entity, Fact  # noqa: E402

ROWS_EACH = 20
"""Belief rows of each thing."""
CHUNK = 200
"""Facts of one proposal when many are written."""
P95_BARS = {"current": 3, "state_at": 5, "as_known_at": 8, "assert by API": 15}
"""Milliseconds."""
GROWTH_BAR = 1.5
BULK_BAR = 3000
_SQL = Path(__file__).with_name("graph.sql")
_RESULT = Path(__file__).with_name("results") / "graph.md"
_VALID_AT, _KNOWN_AT = datetime(2020, 6, 1, tzinfo=UTC), datetime(2021, 6, 1, tzinfo=UTC)
_SETS = ("likes", "interest", "speaks", "allergic_to")
_number = count(time.time_ns())


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the product, and the one statement that fetches the same belief rows."""

    ask: Callable[[Principal, UUID], int]
    where: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def bare(self, principal: Principal, entity_id: UUID) -> int:
        statement = (
            "SELECT f.*, s.canonical_name, o.canonical_name FROM facts f JOIN entities s ON s.id = f.subject_id "  # noqa: S608
            f"LEFT JOIN entities o ON o.id = f.object_entity_id WHERE {self.where} ORDER BY predicate, valid_from"
        )
        with scope(principal), connection.cursor() as cursor:
            cursor.execute(statement, {"id": entity_id, "now": datetime.now(UTC), **self.parameters})
            return len(cursor.fetchall())


_BELIEVED = "f.superseded_at IS NULL"
_HOLDS = "f.valid_from <= %({0})s AND (f.valid_to IS NULL OR f.valid_to > %({0})s)"
QUESTIONS = {
    "current": Question(
        lambda who, id: len(asof.entity_facts(principal=who, entity_id=id).facts),
        f"f.subject_id = %(id)s AND {_BELIEVED} AND {_HOLDS.format('now')}",
    ),
    "state_at": Question(
        lambda who, id: len(asof.entity_facts(principal=who, entity_id=id, valid_at=_VALID_AT).facts),
        f"f.subject_id = %(id)s AND {_BELIEVED} AND {_HOLDS.format('valid')}",
        {"valid": _VALID_AT},
    ),
    "as_known_at": Question(
        lambda who, id: len(asof.entity_facts(principal=who, entity_id=id, known_at=_KNOWN_AT).facts),
        f"f.subject_id = %(id)s AND {_HOLDS.format('known')} AND f.recorded_at <= %(known)s "
        "AND (f.superseded_at IS NULL OR f.superseded_at > %(known)s)",
        {"known": _KNOWN_AT},
    ),
    "history": Question(
        lambda who, id: len(asof.history(principal=who, entity_id=id, beliefs="all")),
        "f.subject_id = %(id)s",
    ),
    "reverse": Question(
        lambda who, id: len(asof.inbound_facts(principal=who, entity_id=id).facts),
        f"f.object_entity_id = %(id)s AND {_BELIEVED} AND {_HOLDS.format('now')}",
    ),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds of the product and of the bare SQL, at one size. `each`: facts that one act wrote.

    `waited`: how much of the product's was spent waiting for a processor; `round_trips`: questions to the database.
    """

    what: str
    size: int
    product: list[float]
    bare: list[float]
    each: int = 1
    cpu: float = 0.0
    waited: Sequence[float] = ()
    round_trips: int = 0

    @property
    def alone(self) -> list[float]:
        """What it would have taken with a processor free for it."""
        return [all - waited for all, waited in zip(self.product, self.waited, strict=True)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.product) / statistics.median(self.bare)

    @property
    def rate(self) -> float:
        """Facts a second."""
        return self.each * len(self.product) / sum(self.product) * 1000


def main(arguments: Sequence[str] | None = None) -> str:
    """Fill, measure, fill on; returns the report, which is also printed and written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="belief rows")
    parser.add_argument("--rounds", type=int, default=200, help="measurements of each question, and twice the asserts")
    parser.add_argument("--chunks", type=int, default=30, help=f"proposals of {CHUNK} facts")
    parser.add_argument("--result", type=Path, default=_RESULT)
    options = parser.parse_args(arguments)
    settle()
    loads = [os.getloadavg()[0]]
    call_command("setup", verbosity=0)
    user, _made = User.objects.get_or_create(username="bench")
    principal = person(user)
    measured: list[Measured] = []
    filled = 0
    for size in options.sizes:
        fill(principal.default_scope, filled, size // ROWS_EACH)
        filled = size // ROWS_EACH
        measured += _at_size(user, principal, size, options)
    report = _report(options, [*loads, os.getloadavg()[0]], measured)
    options.result.write_text(report, encoding="utf-8")
    print(report)  # noqa: T201 (a program for the terminal)
    return report


def fill(scope_ref: str, first: int, end: int) -> None:
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        admin.execute(
            "SELECT set_config('bench.first', %s, false), set_config('bench.last', %s, false), "
            "set_config('bench.scope', %s, false)",
            [str(first), str(end - 1), scope_ref],
        )
        admin.execute(_SQL.read_bytes())
        admin.execute("VACUUM ANALYZE")
        admin.execute("CHECKPOINT")


def _at_size(user: User, principal: Principal, size: int, options: argparse.Namespace) -> Iterable[Measured]:
    with scope(principal):
        things = list(Entity.objects.filter(slug__startswith="thing-").order_by("id")[: 2 * CHUNK])
    # What is written stays apart from what is asked about: it would have more rows at each size than the others.
    things, written = things[: len(things) // 2], things[len(things) // 2 :]
    for what, question in QUESTIONS.items():
        answers = [(question.ask(principal, e.pk), question.bare(principal, e.pk)) for e in things[:20]]
        if any(product != bare for product, bare in answers):
            raise AssertionError(f"{what}: the bare SQL must fetch the rows that the product shows")
        yield compare(
            what,
            size,
            [partial(question.ask, principal, entity.pk) for entity in things],
            [partial(question.bare, principal, entity.pk) for entity in things],
            options.rounds,
        )
    by_api, by_committer = _asserts(user, principal, written)
    stored = [partial(_store, principal, 1)]
    yield compare("assert by API", size, by_api, stored, options.rounds // 2)
    yield compare("assert", size, by_committer, stored, options.rounds // 2)
    many = [partial(_commit, principal, written)]
    yield compare("bulk", size, many, [partial(_store, principal, len(written))], options.chunks, each=len(written))


_WARM_UP = 10
"""Turns that do not count: a connection prepares what comes again, and keeps it."""


def compare(
    what: str,
    size: int,
    product: Sequence[Callable[[], object]],
    bare: Sequence[Callable[[], object]],
    rounds: int,
    each: int = 1,
    round_trips: int = 0,
) -> Measured:
    """Both in turns, so that neither always finds the pages warmed by the other."""
    timings: dict[str, list[float]] = {"product": [], "bare": []}
    waited: list[float] = []
    waiting = Waiting()
    cpu = 0.0
    for number in range(-_WARM_UP, rounds):
        turns = [("product", product[number % len(product)]), ("bare", bare[number % len(bare)])]
        for side, act in turns if number % 2 else reversed(turns):
            waiting.read()
            start, busy = time.perf_counter(), time.process_time()
            act()
            if number >= 0:
                timings[side].append((time.perf_counter() - start) * 1000)
            if number >= 0 and side == "product":
                cpu += time.process_time() - busy
                waited.append(waiting.read())
    return Measured(what, size, timings["product"], timings["bare"], each, cpu * 1000 / rounds, waited, round_trips)


def _asserts(
    user: User, principal: Principal, things: Sequence[Entity]
) -> tuple[list[Callable[[], object]], list[Callable[[], object]]]:
    """One new fact for each thing: through the REST door, and through the committer alone."""
    _token, secret = create_token(user=user, name=f"bench {next(_number)}")
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    def post(entity: Entity) -> None:
        body = {"operations": [_statement(entity).model_dump(mode="json")]}
        with override_settings(GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE=10**9):
            answer = client.post("/api/world/proposals", json.dumps(body), content_type="application/json")
        if [result["outcome"] for result in answer.json().get("results", ())] != ["committed"]:
            raise AssertionError(answer.content.decode())

    return (
        [partial(post, entity) for entity in things],
        [partial(_commit, principal, [entity]) for entity in things],
    )


def _statement(entity: Entity) -> AssertFact:
    number = next(_number)
    return AssertFact(
        subject_ref=entity.ref,
        predicate=_SETS[number % len(_SETS)],
        object_value=f"value {number}",
        valid_from="2024-03-01T00:00:00Z",
    )


def _commit(principal: Principal, things: Sequence[Entity]) -> None:
    operations = [_statement(entity) for entity in things]
    proposal = MemoryMutationProposal(run_id=f"bench-{next(_number)}", operations=operations)
    result = commit_proposal(principal=principal, proposal=proposal)
    refused = [entry for entry in result.results if entry.code]
    if refused:
        raise AssertionError(refused[0])


def _store(principal: Principal, many: int) -> None:
    """Belief rows alone, in one statement: nothing is resolved, planned or recorded beside them."""
    with scope(principal, write=principal.default_scope):
        model = Fact.objects.filter(superseded_at=None, predicate="likes").first()
        if model is None:
            raise AssertionError("there are facts")
        kept = columns_of(model)
        ids = [uuid7() for _ in range(many)]
        insert(Fact, [kept | {"id": id, "origin_fact_id": id, "object_key": id, "slot": id} for id in ids])


def _report(options: argparse.Namespace, loads: Sequence[float], measured: Sequence[Measured]) -> str:
    lines = [
        "# How fast the graph is",
        "",
        f"{circumstances(loads)} {options.rounds} measurements of each question, half as many of single asserts, "
        f"{options.chunks} proposals of {CHUNK} facts. One memory, {ROWS_EACH} belief rows a thing; milliseconds, the "
        "door and planning included. The bare SQL of a question is one statement that fetches the same rows; of a "
        "write, one that stores as many belief rows and nothing beside them. “CPU”: of the product's Python alone.",
        "",
        "| what | rows | p50 | p95 | CPU | bare SQL p50 | p95 | ratio of p50 |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {row.what} | {row.size} | {figures(row.product)} | {row.cpu:.2f} | {figures(row.bare)} "
            f"| {row.ratio:.2f} |"
            for row in sorted(measured, key=lambda row: [m.what for m in measured].index(row.what))
        ),
        "",
        "## Bars",
        "",
        *_bars(measured),
    ]
    return "\n".join(lines) + "\n"


def _bars(measured: Sequence[Measured]) -> Iterable[str]:
    for what, bar in P95_BARS.items():
        rows = [row for row in measured if row.what == what]
        slowest = max(percentile(row.product, 0.95) for row in rows)
        yield f"- {what}: p95 {slowest:.2f} ms at most, the bar is {bar} ms: {_verdict(slowest < bar)}"
    for what in QUESTIONS:
        rows = [row for row in measured if row.what == what]
        growth = statistics.median(rows[-1].product) / statistics.median(rows[0].product)
        yield (
            f"- {what}: {rows[-1].size} rows take {growth:.2f} times as long as {rows[0].size}, the bar is "
            f"{GROWTH_BAR}: {_verdict(growth <= GROWTH_BAR)}"
        )
    for row in measured:
        if row.what == "bulk":
            yield (
                f"- bulk at {row.size} rows: {row.rate:.0f} facts/s, the bar is {BULK_BAR}: "
                f"{_verdict(row.rate >= BULK_BAR)}"
            )


def _verdict(met: bool) -> str:
    return "met." if met else "**missed**."


if __name__ == "__main__":
    main()
