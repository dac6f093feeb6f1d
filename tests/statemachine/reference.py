"""What a scope believes, by brute force: grids of cells, and what merging, splitting and undoing do to them.

Written from the rules, not from the code: time is cells, a row is a run of equal cells, and every
act is a painting of cells that is compared before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tests.unit.planner.grid import Forget, Grid, Mark, Run, Say, Stop

FUNCTIONAL = {"address": True, "likes": False}
"""The predicates in play: one with a single value, one with several."""

T = TypeVar("T")
Place = tuple[str, str]
"""Entity and predicate."""
Row = tuple[Place, Run]
Told = tuple[str, str, int, int, int, int]
"""A row as an answer tells it: predicate, what it says, first cell, cell behind it, rank, origin."""


@dataclass(frozen=True, eq=False)
class Change:
    """What an act took away and brought, row by row."""

    gone: frozenset[Row]
    new: frozenset[Row]


@dataclass(eq=False)
class Merge:
    """One entity taken for another in one scope."""

    source: str
    target: str
    change: Change
    reversed: bool = False


@dataclass
class Beliefs:
    """One scope: a grid for each entity and predicate, and the merges it knows of."""

    entities: tuple[str, str]
    last: int
    numbers: Iterator[int]
    grids: dict[Place, Grid] = field(init=False)
    merges: list[Merge] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.grids = {
            (entity, predicate): Grid(functional=functional, last=self.last, numbers=self.numbers)
            for entity in self.entities
            for predicate, functional in FUNCTIONAL.items()
        }

    def rows(self) -> frozenset[Row]:
        return frozenset((place, run) for place, grid in self.grids.items() for run in grid.runs())

    def told(self, entity: str) -> list[Told]:
        """The rows about an entity, in a fixed order."""
        return sorted(
            (place[1], mark.says(), first, behind, mark.rank, mark.origin)
            for place, (mark, first, behind) in self.rows()
            if place[0] == entity
        )

    def slot(self, place: Place, value: str) -> frozenset[Row]:
        """The rows that a statement of a value meets."""
        runs = self.grids[place].runs()
        return frozenset((place, run) for run in runs if FUNCTIONAL[place[1]] or run[0].value == value)

    def say(self, place: Place, step: Say, now: int) -> tuple[str, Change]:
        return self._changing(lambda: self.grids[place].apply(step, now))

    def would_say(self, place: Place, step: Say, now: int) -> str:
        """What saying it would come to."""
        grid = self.grids[place]
        before = {cell: set(marks) for cell, marks in grid.cells.items()}
        outcome = grid.apply(step, now)
        grid.cells = before
        return outcome

    def stop(self, step: Stop | Forget, now: int) -> tuple[str, Change]:
        """End or retract what an origin became, wherever it stands now."""
        places = {place for place, (mark, _, _) in self.rows() if mark.origin == step.origin}
        if not places:
            return "nothing_believed", Change(frozenset(), frozenset())
        (place,) = places
        return self._changing(lambda: self.grids[place].apply(step, now))

    def undo(self, change: Change) -> tuple[str, Change]:
        """Take back an act, if all that it wrote is believed still and nothing stands where it took away."""
        if not change.gone and not change.new:
            return "nothing_to_undo", change
        merged = {merge.source for merge in self.merges if not merge.reversed}
        if not change.new <= self.rows() or any(place[0] in merged for place, _ in change.gone):
            return "moved_since", change
        before = {place: {cell: set(marks) for cell, marks in grid.cells.items()} for place, grid in self.grids.items()}
        short, undone = self._changing(lambda: self._exchange(change.new, change.gone))
        if short:
            for place, cells in before.items():
                self.grids[place].cells = cells
            return "moved_since", change
        return "undone", undone

    def merge(self, source: str, target: str) -> Merge:
        _, change = self._changing(lambda: self._move(source, target))
        self.merges.append(Merge(source, target, change))
        return self.merges[-1]

    def split(self, merge: Merge) -> tuple[int, Change]:
        """How many rows could not be written again wholly, and what changed."""
        away = {row for row in merge.change.gone if row[0][0] == merge.source}
        cut = merge.change.gone - away
        taken, left = ({mark.origin for _, (mark, _, _) in rows} for rows in (away, cut))
        withdrawn = {
            row
            for row in self.rows()
            if (row[0][0] == merge.target and row[1][0].origin in taken)
            or (row in merge.change.new and row[1][0].origin in left)
        }
        merge.reversed = True
        return self._changing(lambda: self._exchange(withdrawn, [*away, *cut]))

    def _move(self, source: str, target: str) -> None:
        """Each cell goes to whoever has the higher claim there; equal claims to what is moved."""
        for predicate in FUNCTIONAL:
            here, there = self.grids[source, predicate], self.grids[target, predicate]
            for mark, first, behind in sorted(here.runs(), key=lambda run: run[1]):
                copied = _copy(mark)
                for cell in range(first, behind):
                    here.cells[cell].remove(mark)
                    rivals = _rivals(there, mark, cell)
                    outdone = any((rival.rank, rival.made) > (mark.rank, mark.made) for rival in rivals)
                    equal = {other for other in there.cells[cell] if other.says() == mark.says()}
                    weaker = {other for other in equal if other.rank < mark.rank}
                    if not outdone and equal == weaker:
                        there.cells[cell] = (there.cells[cell] - rivals - weaker) | {copied}

    def _exchange(self, gone: Iterable[Row], back: Iterable[Row]) -> int:
        """Take rows away, then write others in the gaps; the number of those that had not all of their place."""
        for place, (mark, first, behind) in gone:
            for cell in range(first, behind):
                self.grids[place].cells[cell].remove(mark)
        short = 0
        for place, (mark, first, behind) in back:
            grid, copied = self.grids[place], _copy(mark)
            free = [c for c in range(first, behind) if not _rivals(grid, mark, c) and not _equals(grid, mark, c)]
            short += len(free) < behind - first
            for cell in free:
                grid.cells[cell].add(copied)
        return short

    def _changing(self, act: Callable[[], T]) -> tuple[T, Change]:
        before = self.rows()
        outcome = act()
        after = self.rows()
        return outcome, Change(gone=before - after, new=after - before)


def _copy(mark: Mark) -> Mark:
    return mark.again(rank=mark.rank, made=mark.made, stated_end=mark.stated_end)


def _rivals(grid: Grid, mark: Mark, cell: int) -> set[Mark]:
    def competes(other: Mark) -> bool:
        if other.value == mark.value:
            return other.polarity != mark.polarity
        return grid.functional and other.polarity and mark.polarity

    return {other for other in grid.cells[cell] if competes(other)}


def _equals(grid: Grid, mark: Mark, cell: int) -> bool:
    return any(other.says() == mark.says() for other in grid.cells[cell])
