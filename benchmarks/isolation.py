"""What row-level security costs: hot reads with and without policies, and name search in a million names.

Run with `make bench-isolation`. The same statements, recorded from the product's own functions, are
asked as the application under its policies and as a role that bypasses them, in turns, on the same rows and
in the same session: two sessions differ by more than policies cost, as their processes run on other cores.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import django
import psycopg

django.setup()

from django.core.management import call_command  # noqa: E402 (needs the apps)
from django.db import connection  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from benchmarks.reporting import circumstances, figures  # noqa: E402
from gedaechtnis.common.text import search_keys  # noqa: E402
from gedaechtnis.embedded import roles  # noqa: E402
from gedaechtnis.identity.models import User  # noqa: E402
from gedaechtnis.identity.principals import Principal, person  # noqa: E402
from gedaechtnis.memory.selectors import asof, entities, names  # noqa: E402
from gedaechtnis.scoping.context import scope  # noqa: E402
from gedaechtnis.world.models import Entity  # noqa: E402

SHARES = (300, 200, 150, 100, 70, 50, 40, 30, 20, 15, 10, 5, 3, 2, 1, 1, 1, 1, 0.6, 0.4)
"""Size of each scope in thousandths of all names."""
RATIO_TARGET = 1.3
_SQL = Path(__file__).with_name("isolation.sql")
_RESULT = Path(__file__).with_name("results") / "isolation.md"
_HOT_SCOPE = 4
_ROLES = (roles.APP, roles.BACKUP)
_VALID_AT, _KNOWN_AT = datetime(2021, 6, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: milliseconds both ways, and what the line says about the plans."""

    what: str
    first: list[float]
    second: list[float]
    plans: str = ""

    @property
    def ratio(self) -> float:
        return statistics.median(self.first) / statistics.median(self.second)


def main(arguments: Sequence[str] | None = None) -> str:
    """Fill the database, measure, and return the report, which is also printed and written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.isolation", description=__doc__)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200, help="measurements of each figure")
    parser.add_argument("--result", type=Path, default=_RESULT)
    options = parser.parse_args(arguments)
    loads = [os.getloadavg()[0]]
    call_command("setup", verbosity=0)
    people = [_person(number) for number in range(len(SHARES))]
    _fill(options.names, [principal.default_scope for principal in people])
    reads = list(_reads(people[_HOT_SCOPE], options.rounds))
    searches = [row for number in (0, 4, 19) for row in _searches(number, people[number], options.rounds)]
    report = _report(options, [*loads, os.getloadavg()[0]], reads, searches)
    options.result.write_text(report, encoding="utf-8")
    print(report)  # noqa: T201 (a program for the terminal)
    return report


def _person(number: int) -> Principal:
    user, _made = User.objects.get_or_create(username=f"bench{number}", defaults={"sub": UUID(int=number + 1)})
    return person(user)


def _fill(count: int, scopes: Sequence[str]) -> None:
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        ends = [sum(SHARES[: number + 1]) / 1000 for number in range(len(SHARES) - 1)]
        admin.execute(
            "SELECT set_config('bench.count', %s, false), set_config('bench.scopes', %s, false), "
            "set_config('bench.ends', %s, false), set_config('bench.hot', %s, false)",
            [str(count), "{" + ",".join(scopes) + "}", "{" + ",".join(map(str, ends)) + "}", scopes[_HOT_SCOPE]],
        )
        admin.execute(_SQL.read_bytes())
        admin.execute("VACUUM ANALYZE")


def _reads(principal: Principal, rounds: int) -> Iterable[Row]:
    with scope(principal):
        found = list(Entity.objects.filter(facts__isnull=False).distinct().order_by("id")[:20])
    kinds: dict[str, Callable[[Entity], object]] = {
        "current facts of an entity": lambda e: asof.entity_facts(principal=principal, entity_id=e.pk),
        "state at a moment": lambda e: asof.entity_facts(principal=principal, entity_id=e.pk, valid_at=_VALID_AT),
        "as known at a moment": lambda e: asof.entity_facts(principal=principal, entity_id=e.pk, known_at=_KNOWN_AT),
        "entity by reference": lambda e: entities.get_entity(principal=principal, ref=e.ref),
        "page of the entity list": lambda e: entities.search_entities(principal=principal),
        "page of one kind": lambda e: entities.search_entities(principal=principal, kind="place"),
    }
    for what, ask in kinds.items():
        ask(found[0])  # Once before: the vocabulary is read from the database only the first time.
        yield _compare(what, [_statements(partial(ask, entity)) for entity in found], rounds)


def _statements(ask: Callable[[], object]) -> list[str]:
    """The statements that a function of the product sends, the settings of its door included."""
    with CaptureQueriesContext(connection) as captured:
        ask()
    return [sql for query in captured.captured_queries if (sql := query["sql"]).lstrip("(").startswith("SELECT")]


def _compare(what: str, asked: Sequence[list[str]], rounds: int) -> Row:
    timings: dict[str, list[float]] = {role: [] for role in _ROLES}
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], prepare_threshold=None) as line:
        for number in range(-len(asked), rounds):
            statements = asked[number % len(asked)]
            answers = []
            # In turns, so that neither always finds the pages warmed by the other.
            for role in _ROLES if number % 2 else reversed(_ROLES):
                spent, answer = _ask(line, role, statements)
                answers.append([sorted(map(repr, rows)) for rows in answer])
                if number >= 0:
                    timings[role].append(spent)
            if answers[0] != answers[1]:
                raise AssertionError(f"{what}: both roles must be given the same rows to compare")
        first, second = (_plans(line, role, asked[0]) for role in _ROLES)
    alike = sum(plan == other for plan, other in zip(first, second, strict=True))
    return Row(what, timings[roles.APP], timings[roles.BACKUP], f"{alike} of {len(first)}")


def _ask(line: psycopg.Connection[Any], role: str, statements: Sequence[str]) -> tuple[float, list[Any]]:
    with line.transaction():
        line.execute(f"SET LOCAL ROLE {role}".encode())
        start = time.perf_counter()
        answers = [line.execute(statement.encode()).fetchall() for statement in statements]
        return (time.perf_counter() - start) * 1000, answers


def _plans(line: psycopg.Connection[Any], role: str, statements: Sequence[str]) -> list[object]:
    """How each statement is planned for a role, settings left out."""
    plans: list[object] = []
    with line.transaction():
        line.execute(f"SET LOCAL ROLE {role}".encode())
        for statement in statements:
            if "set_config" in statement:
                line.execute(statement.encode())
            else:
                ((explained,),) = line.execute(b"EXPLAIN (FORMAT JSON) " + statement.encode()).fetchall()
                plans.append(_shape(explained[0]["Plan"]))
    return plans


def _shape(node: dict[str, Any]) -> object:
    """A plan without its figures and conditions, and without what reads the settings for the policies."""
    below = [_shape(child) for child in node.get("Plans", []) if child["Parent Relationship"] != "InitPlan"]
    return (node["Node Type"], node.get("Index Name", node.get("Relation Name")), below)


def _searches(number: int, principal: Principal, rounds: int) -> Iterable[Row]:
    """Both ways of searching a scope: under the policies, and as definer."""
    with scope(principal):
        some = list(Entity.objects.filter(is_self=False).order_by("id").values_list("name_key", flat=True)[:20])
        size = Entity.objects.count()
    chance = random.Random(number)  # noqa: S311 (which letter is mistyped)
    asked = {
        "a name": some,
        "a name with a typo": [_mistyped(name, chance) for name in some],
        "one word of it": [name.split()[1] for name in some],
        "five letters inside": [name.split()[1][1:6] for name in some],
        "its first three letters": [name[:3] for name in some],
        "three letters inside": [name.split()[1][1:4] for name in some],
    }
    for what, texts in asked.items():
        timings: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(-2, _turns(rounds)):
            text = texts[turn % len(texts)]
            answers = []
            for as_definer in (False, True):
                with scope(principal):
                    start = time.perf_counter()
                    answers.append(names.find(search_keys(text), status="active", limit=51, as_definer=as_definer))
                    if turn >= 0:
                        timings[as_definer].append((time.perf_counter() - start) * 1000)
            if answers[0] != answers[1]:
                raise AssertionError(f"{text}: both ways must find the same")
        yield Row(f"{what}, scope of {size}", timings[False], timings[True])


def _turns(rounds: int) -> int:
    """Searches are slower than reads, and asked less often."""
    return max(1, rounds // 4)


def _mistyped(name: str, chance: random.Random) -> str:
    place = chance.randrange(len(name) // 2, len(name))
    return name[:place] + "x" + name[place + 1 :]


def _report(options: argparse.Namespace, loads: Sequence[float], reads: Sequence[Row], searches: Sequence[Row]) -> str:
    missed = [f"{row.what} ({row.ratio:.2f})" for row in reads if row.ratio > RATIO_TARGET]
    slowest = max(searches, key=lambda row: statistics.median(row.first))
    lines = [
        "# What isolation costs",
        "",
        f"{circumstances(loads)} {options.names} names in {len(SHARES)} scopes, {options.rounds} measurements of each "
        f"read and {_turns(options.rounds)} of each search. Milliseconds, planning included.",
        "",
        "## Hot reads",
        "",
        "Both roles in one session, settings of the door included. “Alike”: statements planned in the same shape.",
        "",
        "| read | policies p50 | p95 | bypassing p50 | p95 | ratio of p50 | alike |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {row.what} | {figures(row.first)} | {figures(row.second)} | {row.ratio:.2f} | {row.plans} |"
            for row in reads
        ),
        "",
        f"Target {RATIO_TARGET}: " + (f"missed by {', '.join(missed)}." if missed else "met by all."),
        "",
        "## Name search: a page of 50, ranked",
        "",
        "| asked | under policies p50 | p95 | as definer p50 | p95 |",
        "|---|---|---|---|---|",
        *(f"| {row.what} | {figures(row.first)} | {figures(row.second)} |" for row in searches),
        "",
        f"Slowest: {slowest.what}, {statistics.median(slowest.first):.0f} ms.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
