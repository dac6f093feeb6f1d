"""Random histories: decoding them from numbers, and checking the planner on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.planner import UNKNOWN
from tests.unit.planner.grid import AMBIGUOUS, CELLS, SINCE_EVER, Forget, Grid, Say, Step, Stop
from tests.unit.planner.ledger import Ledger, day

VALUES = "ABC"
STARTS = (*range(12), None, SINCE_EVER)
LENGTHS = (None, None, "still", 1, 2, 3, 5)
INSTANTS = [day(cell) for cell in CELLS]
STEP_CODES = len(VALUES) * len(STARTS) * len(LENGTHS) * 8 * 4 * 5 * 7 * 6
"""Every integer below is one step; small ones are plain statements, so that failures shrink well."""


def decode(code: int) -> Step:
    """The step that a number stands for."""

    def take(options: int) -> int:
        nonlocal code
        code, chosen = divmod(code, options)
        return chosen

    value, start, length = VALUES[take(3)], STARTS[take(len(STARTS))], LENGTHS[take(len(LENGTHS))]
    kind, rank, polarity, correction, number = take(8), take(4), take(5), take(7), take(6)
    if kind == 6:
        return Stop(number, (start or 0) + 1)
    if kind == 7:
        return Forget(number)
    return Say(
        value,
        polarity=polarity < 4,
        start=start,
        end=max(start or 0, 0) + length if isinstance(length, int) else None,
        still=length == "still",
        correction=correction == 6,
        rank=1 if rank == 3 else 3,
    )


def check_history(steps: Iterable[Step], *, functional: bool) -> None:
    """Run planner and grid side by side; every answer must agree, then and for ever after."""
    grid, ledger = Grid(functional=functional), Ledger(functional=functional)
    origins: list[UUID] = []
    seen = [grid.state()]
    for tick, step in enumerate(steps, start=1):
        if isinstance(step, Say) or step.origin < len(origins):
            expected = grid.apply(step, tick)
            if expected != AMBIGUOUS:
                assert _apply(ledger, step, tick, origins) == expected
        present = ledger.held(INSTANTS)
        check_slot(present, functional=functional)
        assert present == ledger.held(INSTANTS, known_at=day(tick)), "state_at is as_known_at(now)"
        seen.append(grid.state())
        assert present == seen[-1], step
    for tick, then in enumerate(seen):
        assert ledger.held(INSTANTS, known_at=day(tick)) == then, "no old answer moves"


def check_slot(cells: Sequence[Sequence[str]], *, functional: bool) -> None:
    """No overlap in a slot and no X beside not-X, at any instant."""
    for held in cells:
        assert len(held) == len(set(held))
        positive = [value for value in held if not value.startswith("not-")]
        assert not functional or len(positive) <= 1
        assert not any(f"not-{value}" in held for value in positive)


def _apply(ledger: Ledger, step: Step, tick: int, origins: list[UUID]) -> str:
    """The planner's outcome or refusal; new origins are noted in the order of their intervals."""
    try:
        match step:
            case Say():
                made = ledger.say(
                    step.value,
                    UNKNOWN if step.start == SINCE_EVER else step.start,
                    step.end,
                    now=tick,
                    rank=step.rank,
                    polarity=step.polarity,
                    still=step.still,
                    correction=step.correction,
                )
            case Stop():
                made = ledger.end(origins[step.origin], step.at, now=tick)
            case Forget():
                made = ledger.retract(origins[step.origin], now=tick)
    except Problem as problem:
        return problem.code
    new = sorted((row for row in made.inserts if row.copy_of is None), key=lambda row: row.valid_from)
    origins.extend(row.origin_id for row in new)
    return made.outcome.value
