"""How long an agent waits for its memory: each way of asking, beside the bare SQL it comes down to, while it grows.

Run with `make bench-latency`; a million vectors take most of an hour to index. Facts are those of `benchmarks.graph`,
one memory filled from size to size; conversations those of `benchmarks.projections`, a memory for each size. Where a
data directory holds those already, they are taken as they are (`python -m gedaechtnis.embedded exec --var DIRECTORY --
python -m benchmarks.latency`); `--sizes` without a number leaves facts out.

A part measures one way of asking; the bare SQL of a question is what it sent to the database, sent again without the
rest, under the same policies and on the same connection, in turns with it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import django

django.setup()

from django.core.management import call_command  # noqa: E402 (needs the apps)
from django.db import connection  # noqa: E402

from benchmarks import crowd, projections, searches  # noqa: E402
from benchmarks.graph import ROWS_EACH, Measured, compare, fill  # noqa: E402
from benchmarks.reporting import circumstances, figures, percentile  # noqa: E402
from gedaechtnis.config.startup import settle  # noqa: E402
from gedaechtnis.identity.models import User  # noqa: E402
from gedaechtnis.identity.principals import Principal, person  # noqa: E402
from gedaechtnis.knowledge import pads, policies  # noqa: E402
from gedaechtnis.knowledge.policy_changes import propose_policy  # noqa: E402
from gedaechtnis.knowledge.preamble import MOST_FACTS, preamble  # noqa: E402
from gedaechtnis.memory import ports  # noqa: E402
from gedaechtnis.memory.selectors.context import build_context  # noqa: E402
from gedaechtnis.scoping.context import scope  # noqa: E402
from gedaechtnis.tools import registry  # noqa: E402

_RESULT = Path(__file__).with_name("results") / "latency.md"
_MOST_ROUND_TRIPS = 3
_RULES = 20
_TIMES_THE_SQL = 3.0
_BARS = {
    "context": dict.fromkeys((10_000, 100_000, 1_000_000), 10.0),
    "preamble": dict.fromkeys((10_000, 100_000, 1_000_000), 5.0),
    "hybrid": {10_000: 25.0, 1_000_000: 60.0},
}
"""What → rows → milliseconds at the 95th percentile."""

Statement = tuple[str, Any]
Part = Callable[[Principal, int, int], Iterable[Measured]]


def context(principal: Principal, things: int, rounds: int) -> Iterator[Measured]:
    """A message that names three things, whose facts and surroundings are told."""
    messages = [
        f"Was weißt du über Thing {i % things}? Und was über Thing {i * 7 % things} und Thing {i * 31 % things}?"
        for i in range(100)
    ]
    asking = [partial(build_context, principal=principal, text=text) for text in messages]
    if not build_context(principal=principal, text=messages[1]).fact_ids:
        raise AssertionError("a context without facts measures nothing")
    yield _compared("context", things * ROWS_EACH, principal, asking, rounds)


def told_first(principal: Principal, things: int, rounds: int) -> Iterator[Measured]:
    """A preamble of twenty rules, full notes and facts by the words of a task."""
    projections.fill_facts(principal.default_scope)
    for number in range(len(policies.active(principal=principal)), _RULES):
        propose_policy(principal=principal, rule=f"Regel Nummer {number}: " + "immer erst prüfen, dann schreiben " * 3)
    if not (notes := pads.read(principal=principal)).text:
        pads.update(principal=principal, text="x" * pads.MAX_NOTES, based_on_version=notes.version)
    tasks = [" ".join(words) for words in projections.words_of("tasks", range(100))]
    asking = [partial(preamble, principal=principal, task=task) for task in tasks]
    told = [ask() for ask in asking]
    if min(len(one.policies) for one in told) < _RULES or max(len(one.fact_ids) for one in told) < MOST_FACTS:
        raise AssertionError("a preamble without rules or facts measures nothing")
    yield _compared("preamble", things * ROWS_EACH, principal, asking, rounds)


def tools(principal: Principal, things: int, rounds: int) -> Iterator[Measured]:
    """The tools that read, each asked about twenty things."""
    for name, arguments in _TOOLS.items():
        asking = [
            partial(registry.run, name, principal=principal, arguments=arguments(i * 7 % things)) for i in range(20)
        ]
        yield _compared(name, things * ROWS_EACH, principal, asking, rounds // 4)


def _thing(number: int) -> str:
    return f"person:thing-{number}"


_TOOLS: dict[str, Callable[[int], dict[str, Any]]] = {
    "find_entity": lambda i: {"name": f"Thing {i}"},
    "get_entity": lambda i: {"ref": _thing(i)},
    "recall_facts_about": lambda i: {"ref": _thing(i), "predicate": "lik*"},
    "get_fact_history": lambda i: {"ref": _thing(i), "predicate": "likes", "beliefs": "all"},
    "get_neighbors": lambda i: {"ref": _thing(i)},
    "state_at": lambda i: {"ref": _thing(i), "at": "2020-06-01"},
    "state_as_known_at": lambda i: {"ref": _thing(i), "at": "2021-06-01"},
    "explain_change": lambda i: {"fact": f"fact:{_fact(i)}"},
    "who_has": lambda i: {"predicate": "colleague_of", "object": _thing(i)},
    "dossier": lambda i: {"ref": _thing(i)},
    "list_memory_conflicts": lambda i: {},
}
"""All but `effects_of` (these facts come of no run) and search, which has its own part."""


def _fact(number: int) -> UUID:
    """The first of the statements about what a thing likes."""
    return UUID(hashlib.md5(f"{number}/likes/1/0".encode(), usedforsecurity=False).hexdigest())


def conversations(sizes: Sequence[int], rounds: int) -> Iterator[Measured]:
    """Searches in each mode and shape, and by REST."""
    for size, user in searches.memories(sizes).items():
        principal = person(user)
        for shape, texts in searches.questions().items():
            for mode in searches.MODES:
                asking = searches.asking(principal, mode, texts)
                yield _compared(f"{mode}: {shape}", size, principal, asking, rounds)
        by_rest = list(searches.asking_by_rest(user, searches.questions()["three words"]))
        yield _compared("hybrid by REST: three words", size, principal, by_rest, rounds)


def _compared(
    what: str, size: int, principal: Principal, asking: Sequence[Callable[[], object]], rounds: int
) -> Measured:
    sent = [_sent(ask) for ask in asking]
    bare = [partial(_send, principal, one) for one in sent]
    return compare(what, size, asking, bare, rounds, round_trips=max(len(one.statements) for one in sent))


PARTS: Sequence[Part] = (context, told_first, tools)


def main(arguments: Sequence[str] | None = None) -> str:
    """Fill, measure each part, fill on; returns the report, which is also printed and written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    sizes = [10_000, 100_000, 1_000_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=sizes, help="belief rows of a memory of facts")
    parser.add_argument("--turns", type=int, nargs="*", default=sizes, help="turns of memories of conversations")
    parser.add_argument("--crowd", type=int, nargs="*", default=sizes, help="those of them that are looked at closely")
    parser.add_argument("--others", type=int, default=100_000, help="turns that others write then")
    parser.add_argument("--rounds", type=int, default=400, help="measurements of a context")
    parser.add_argument("--searches", type=int, default=100, help="measurements of each kind of search")
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
    measured += conversations(options.turns, options.searches)
    among_others = list(_among_others(options.crowd, options.others)) if options.crowd else []
    report = _report(options.rounds, [*loads, os.getloadavg()[0]], measured, among_others)
    options.result.write_text(report, encoding="utf-8")
    print(report)  # noqa: T201 (a program for the terminal)
    return report


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a question sends to the database beside opening the door, and how that has statements planned."""

    statements: Sequence[Statement]
    is_planned_once: bool


def _sent(ask: Callable[[], object]) -> _Sent:
    """The vocabulary was read before."""
    ask()
    sent: list[Statement] = []
    with _listening(sent):
        ask()
    doors = [parameters for sql, parameters in sent if "set_config" in sql]
    asked = [(sql, parameters) for sql, parameters in sent if "set_config" not in sql and "registry_" not in sql]
    return _Sent(asked, any("force_generic_plan" in door for door in doors))


@contextmanager
def _listening(sent: list[Statement]) -> Iterator[None]:
    def note(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: dict[str, Any]) -> Any:
        sent.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        yield


def _send(principal: Principal, sent: _Sent) -> None:
    with scope(principal, is_planned_once=sent.is_planned_once), connection.cursor() as cursor:
        for sql, parameters in sent.statements:
            cursor.execute(sql, parameters)
            if cursor.description:
                cursor.fetchall()


def _among_others(sizes: Sequence[int], others: int) -> Iterator[str]:
    model = ports.embedding_model()
    if model is None:
        raise AssertionError("search by meaning must be on to be measured")
    memories = {size: person(user) for size, user in searches.memories(sizes).items()}
    seen = [crowd.look(principal, size, model) for size, principal in memories.items()]
    smallest = min(memories)
    before = crowd.found(memories[smallest], smallest, model)
    searches.write_more(others)
    after = crowd.found(memories[smallest], smallest, model)
    yield from crowd.section(seen, others, before == after)


def _report(rounds: int, loads: Sequence[float], measured: Sequence[Measured], among_others: Sequence[str]) -> str:
    lines = [
        "# How long an agent waits",
        "",
        f"{circumstances(loads)} A context was measured {rounds} times, everything else less often; milliseconds. "
        f"Rows: belief rows of one memory, {ROWS_EACH} a thing; of searches, turns of one memory of conversations "
        "among all others in the database. “Alone”: without the time in which the process or that of the server waited "
        "for a processor that others had. “CPU”: of the product's Python. “Trips”: questions to the database at most, "
        "besides opening and closing the door. The bare SQL is what was sent to the database, sent again without the "
        "rest.",
        "",
        "| what | rows | p50 | p95 | p99 | alone p50 | p95 | CPU | trips | bare SQL p50 | p95 | ratio of p50 |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        *(_line(row) for row in sorted(measured, key=lambda row: [one.what for one in measured].index(row.what))),
    ]
    return "\n".join([*lines, "", "## Bars", "", *_bars(measured), "", *among_others]).rstrip() + "\n"


def _line(row: Measured) -> str:
    cells = [
        f"{row.what} | {row.size}",
        figures(row.product),
        f"{percentile(row.product, 0.99):.2f}",
        figures(row.alone),
        f"{row.cpu:.2f} | {row.round_trips}",
        figures(row.bare),
        f"{row.ratio:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _bars(measured: Sequence[Measured]) -> Iterator[str]:
    for what, bars in _BARS.items():
        for size, bar in bars.items():
            # The slowest kind of question counts.
            rows = [row for row in measured if row.what.partition(":")[0] == what and row.size == size]
            if not rows:
                continue
            slowest = max(rows, key=lambda row: percentile(row.product, 0.95))
            all, alone = percentile(slowest.product, 0.95), max(percentile(row.alone, 0.95) for row in rows)
            yield (
                f"- {slowest.what}, {size} rows: p95 {all:.1f} ms, the bar is {bar:g} ms: {_verdict(all < bar)} Alone "
                f"{alone:.1f} ms: {_verdict(alone < bar)}"
            )
    for what in ("context", "preamble"):
        rows = [row for row in measured if row.what == what]
        if rows:
            ratio, trips = max(row.ratio for row in rows), max(row.round_trips for row in rows)
            is_lean, is_brief = ratio <= _TIMES_THE_SQL, trips <= _MOST_ROUND_TRIPS
            yield f"- {what}: {ratio:.2f} times the bare SQL, the bar is {_TIMES_THE_SQL:g}: {_verdict(is_lean)}"
            yield f"- {what}: {trips} round trips, the bar is {_MOST_ROUND_TRIPS}: {_verdict(is_brief)}"


def _verdict(is_met: bool) -> str:
    return "met." if is_met else "**missed**."


if __name__ == "__main__":
    main()
