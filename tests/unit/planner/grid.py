"""A second, naive reading of the write rules, to test the planner against.

Time is a short row of cells. Instead of rows with bounds, every cell holds the set of statements
believed there; an operation paints cells. Where statements begin and end is read off the cells, and
what was known earlier is a plain copy of the cells, kept per tick.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

SINCE_EVER = -1
"""The cell before all instants: only statements of unknown start reach it."""
LAST = 20
CELLS = range(SINCE_EVER, LAST + 1)
AMBIGUOUS = "ambiguous"
"""A correction of two beliefs that began together: the rules do not say which interval it takes."""


@dataclass(frozen=True, eq=False)
class Mark:
    """One painted statement; marks are told apart by identity."""

    value: str
    polarity: bool
    rank: int
    origin: int
    made: int
    stated_end: int | None = None

    def again(self, *, rank: int, made: int, stated_end: int | None) -> Mark:
        """Another mark of the same statement."""
        return Mark(self.value, self.polarity, rank, self.origin, made, stated_end)

    def says(self) -> str:
        return self.value if self.polarity else f"not-{self.value}"


Run = tuple[Mark, int, int]
"""A stretch `[first, behind)` of cells that hold a mark: what is a row elsewhere."""


@dataclass(frozen=True)
class Say:
    value: str
    polarity: bool = True
    start: int | None = None
    end: int | None = None
    still: bool = False
    correction: bool = False
    rank: int = 3
    decided: bool = False
    """A person saw what stands against it."""


@dataclass(frozen=True)
class Stop:
    """Ends the belief of an origin, given by its number in order of appearance."""

    origin: int
    at: int


@dataclass(frozen=True)
class Forget:
    origin: int


Step = Say | Stop | Forget
State = list[list[str]]
"""What is believed per cell; a negative statement as `not-A`."""


class Grid:
    """Believed statements per cell; open ends reach behind the last one. Grids may share `numbers` for origins."""

    def __init__(self, *, functional: bool, last: int = LAST, numbers: Iterator[int] | None = None) -> None:
        self.functional, self.never = functional, last + 1
        self.cells: dict[int, set[Mark]] = {cell: set() for cell in range(SINCE_EVER, self.never)}
        self.numbers = itertools.count() if numbers is None else numbers

    def state(self) -> State:
        return [sorted(mark.says() for mark in marks) for marks in self.cells.values()]

    def runs(self) -> set[Run]:
        found: set[Run] = set()
        open_at: dict[Mark, int] = {}
        for cell in range(SINCE_EVER, self.never + 1):
            marks = self.cells.get(cell, set())
            for mark in open_at.keys() - marks:
                found.add((mark, open_at.pop(mark), cell))
            for mark in marks - open_at.keys():
                open_at[mark] = cell
        return found

    def apply(self, step: Step, now: int) -> str:
        match step:
            case Say():
                return self._say(step, now)
            case Stop():
                return self._stop(step)
            case Forget():
                return self._forget(step)

    def _rivals(self, step: Say, cell: int) -> set[Mark]:
        return {
            mark
            for mark in self.cells.get(cell, ())
            if (
                mark.polarity != step.polarity
                if mark.value == step.value
                else self.functional and mark.polarity and step.polarity
            )
        }

    def _equals(self, step: Say, cell: int) -> set[Mark]:
        return {mark for mark in self.cells.get(cell, ()) if (mark.value, mark.polarity) == (step.value, step.polarity)}

    def _rival_begins(self, step: Say, after: int) -> list[int]:
        """Cells later than `after` in which a rival is that was not in the cell before."""
        return [
            cell for cell in self.cells if cell > after and self._rivals(step, cell) - self.cells.get(cell - 1, set())
        ]

    def _say(self, step: Say, now: int) -> str:
        start, end, end_is_stated = step.start, step.end, step.end is not None
        corrected: set[Mark] = set()
        if step.correction and start is None and (rivals := self._rivals(step, now)):
            runs = {mark: self._run(mark, now) for mark in rivals}
            taken = min(runs, key=runs.__getitem__)
            first, behind = runs[taken]
            if any(run[0] == first for mark, run in runs.items() if mark is not taken):
                return AMBIGUOUS
            corrected = {mark for mark in self._all() if mark.origin == taken.origin}
            start = first
            if end is None and not step.still:
                end, end_is_stated = behind, True
        elif start == SINCE_EVER and self.functional and step.polarity:
            then = now if end is None else end
            if end is None and self._rivals(step, now):
                start = now
            elif not step.decided and self._rivals(step, then) & self._rivals(step, then - 1):
                return "proposal"
            else:
                start = max((c + 1 for c in self.cells if c < then and self._rivals(step, c)), default=start)
        if start is None:
            start = now
        if step.still and end is None:
            end = min(self._rival_begins(step, max(start, now)), default=self.never)
        elif end is None and step.correction:
            end = self.never
        elif end is None:
            ends = [
                cell + 1
                for cell in self.cells
                if cell >= start and any(mark.stated_end == cell + 1 for mark in self._equals(step, cell))
            ]
            end = min([*self._rival_begins(step, start), *ends], default=self.never)
        if start >= end:
            return "empty_interval"

        painted = range(start, min(end, self.never))
        in_the_way = corrected.union(*(self._rivals(step, cell) for cell in painted))
        if any(mark.rank > step.rank for mark in in_the_way):
            return "proposal"
        before = {cell: set(marks) for cell, marks in self.cells.items()}
        for cell in self.cells:
            self.cells[cell] -= corrected
        for cell in painted:
            self.cells[cell] -= self._rivals(step, cell)
        self._confirm(step, painted, end, now)
        self._fill(step, painted, end if end_is_stated else None, now)
        return "restated" if before == self.cells else "committed"

    def _confirm(self, step: Say, painted: range, end: int, now: int) -> None:
        """Weaker equal marks get the new rank where they are said again, run by run."""
        weaker = {m for cell in painted for m in self._equals(step, cell) if m.rank < step.rank}
        for mark in weaker:
            for first, behind in self._runs(mark):
                part = [cell for cell in painted if first <= cell < behind]
                keeps_end = mark.stated_end == behind <= end
                stronger = mark.again(rank=step.rank, made=now, stated_end=behind if keeps_end else None)
                for cell in part:
                    self.cells[cell].remove(mark)
                    self.cells[cell].add(stronger)

    def _fill(self, step: Say, painted: range, stated_end: int | None, now: int) -> None:
        """A new mark, its own origin, on each run of painted cells that do not say so yet."""
        free = [cell for cell in painted if not self._equals(step, cell)]
        mark = None
        for cell in free:
            if mark is None or cell - 1 not in free:
                mark = Mark(step.value, step.polarity, step.rank, next(self.numbers), now, stated_end)
            self.cells[cell].add(mark)

    def _stop(self, step: Stop) -> str:
        runs = [(m, *run) for m in self._all() if m.origin == step.origin for run in self._runs(m)]
        if not runs:
            return "nothing_believed"
        if step.at <= min(first for _, first, _ in runs):
            return "before_start"
        last = max(behind for _, _, behind in runs)
        if last <= step.at:
            return "restated" if last == step.at else "already_ended"
        for mark, first, behind in runs:
            ended = mark.again(rank=mark.rank, made=mark.made, stated_end=step.at)
            for cell in range(first, behind) if behind > step.at else ():
                self.cells[cell].remove(mark)
                if cell < step.at:
                    self.cells[cell].add(ended)
        return "committed"

    def _forget(self, step: Forget) -> str:
        gone = {mark for mark in self._all() if mark.origin == step.origin}
        for cell in self.cells:
            self.cells[cell] -= gone
        return "committed" if gone else "nothing_believed"

    def _all(self) -> set[Mark]:
        return set[Mark]().union(*self.cells.values())

    def _runs(self, mark: Mark) -> list[tuple[int, int]]:
        """The stretches `[first, behind)` of adjacent cells that hold a mark."""
        held = [cell for cell in self.cells if mark in self.cells[cell]]
        firsts = [cell for cell in held if cell - 1 not in held]
        return list(zip(firsts, (cell + 1 for cell in held if cell + 1 not in held), strict=True))

    def _run(self, mark: Mark, cell: int) -> tuple[int, int]:
        return next(run for run in self._runs(mark) if run[0] <= cell < run[1])
