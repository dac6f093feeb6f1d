"""How long an agent waits for its memory: each way of asking, beside the bare SQL it comes down to, while it grows.

Run with `make bench-latency`. The memory is that of `benchmarks.graph`, filled from size to size. A part measures one
way of asking; the bare SQL of a question is what it sent to the database, sent again without the rest, under the same
policies and on the same connection, in turns with it.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402 (needs the apps)
from django.db import connection  # noqa: E402

from benchmarks.graph import ROWS_EACH, Measured, compare, fill  # noqa: E402
from benchmarks.reporting import circumstances, percentile  # noqa: E402
from gedaechtnis.config.startup import settle  # noqa: E402
from gedaechtnis.identity.models import User  # noqa: E402
from gedaechtnis.identity.principals import Principal, person  # noqa: E402
from gedaechtnis.memory.selectors.context import build_context  # noqa: E402
from gedaechtnis.scoping.context import scope  # noqa: E402

_RESULT = Path(__file__).with_name("results") / "latency.md"
_MOST_ROUND_TRIPS = 3
_BARS = {"context": (10.0, 3.0)}
"""Milliseconds at the 95th percentile, and times the bare SQL."""

Statement = tuple[str, Any]
Part = Callable[[Principal, int, int], Iterable[Measured]]


def context(principal: Principal, things: int, rounds: int) -> Iterator[Measured]:
    """A message that names three things, whose facts and surroundings are told."""
    messages = [
        f"Was weißt du über Thing {i % things}? Und was über Thing {i * 7 % things} und Thing {i * 31 % things}?"
        for i in range(100)
    ]
    sent = [_statements(partial(build_context, principal=principal, text=text)) for text in messages]
    if any(len(statements) > _MOST_ROUND_TRIPS for statements in sent):
        raise AssertionError(f"a context takes {max(map(len, sent))} questions")
    if not build_context(principal=principal, text=messages[1]).fact_ids:
        raise AssertionError("a context without facts measures nothing")
    yield compare(
        "context",
        things * ROWS_EACH,
        [partial(build_context, principal=principal, text=text) for text in messages],
        [partial(_send, principal, statements) for statements in sent],
        rounds,
    )


PARTS: Sequence[Part] = (context,)


def main(arguments: Sequence[str] | None = None) -> str:
    """Fill, measure each part, fill on; returns the report, which is also printed and written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="belief rows")
    parser.add_argument("--rounds", type=int, default=400, help="measurements of each question")
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
        for part in PARTS:
            measured += part(principal, filled, options.rounds)
    report = _report(options.rounds, [*loads, os.getloadavg()[0]], measured)
    options.result.write_text(report, encoding="utf-8")
    print(report)  # noqa: T201 (a program for the terminal)
    return report


def _statements(ask: Callable[[], object]) -> list[Statement]:
    """What a question sends to the database beside opening the door; the vocabulary was read before."""
    ask()
    sent: list[Statement] = []
    with _listening(sent):
        ask()
    return [(sql, parameters) for sql, parameters in sent if "set_config" not in sql and "registry_" not in sql]


@contextmanager
def _listening(sent: list[Statement]) -> Iterator[None]:
    def note(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: dict[str, Any]) -> Any:
        sent.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        yield


def _send(principal: Principal, statements: Sequence[Statement]) -> None:
    with scope(principal), connection.cursor() as cursor:
        for sql, parameters in statements:
            cursor.execute(sql, parameters)
            cursor.fetchall()


def _report(rounds: int, loads: Sequence[float], measured: Sequence[Measured]) -> str:
    lines = [
        "# How long an agent waits",
        "",
        f"{circumstances(loads)} {rounds} measurements each, milliseconds. One memory, {ROWS_EACH} belief rows a "
        "thing. The bare SQL is what the question sent to the database, sent again without the rest; “CPU”: of the "
        f"product's Python alone. A context takes {_MOST_ROUND_TRIPS} questions at most, besides opening and closing "
        "the door.",
        "",
        "| what | rows | p50 | p95 | p99 | CPU | bare SQL p50 | p95 | ratio of p50 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in measured:
        lines.append(
            f"| {row.what} | {row.size} | {statistics.median(row.product):.2f} | {percentile(row.product, 0.95):.2f} "
            f"| {percentile(row.product, 0.99):.2f} | {row.cpu:.2f} | {statistics.median(row.bare):.2f} "
            f"| {percentile(row.bare, 0.95):.2f} | {row.ratio:.2f} |"
        )
    return "\n".join([*lines, "", "## Bars", "", *_bars(measured)]) + "\n"


def _bars(measured: Sequence[Measured]) -> Iterator[str]:
    for what, (milliseconds, times) in _BARS.items():
        rows = [row for row in measured if row.what == what]
        slowest = max(percentile(row.product, 0.95) for row in rows)
        ratio = max(row.ratio for row in rows)
        is_fast = slowest < milliseconds
        yield f"- {what}: p95 {slowest:.2f} ms at most, the bar is {milliseconds:g} ms: {_verdict(is_fast)}"
        yield f"- {what}: {ratio:.2f} times the bare SQL at most, the bar is {times:g}: {_verdict(ratio <= times)}"


def _verdict(is_met: bool) -> str:
    return "met." if is_met else "**missed**."


if __name__ == "__main__":
    main()
