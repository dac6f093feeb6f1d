"""What the benchmarks of search measure: which answers come first."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

DEPTHS = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Result:
    """Which turns or facts came first, for one question."""

    asked: Asked
    found: Sequence[str]

    def recall(self, depth: int) -> float:
        return len(self.asked.evidence.intersection(self.found[:depth])) / len(self.asked.evidence)

    def is_hit(self, depth: int) -> float:
        return float(not self.asked.evidence.isdisjoint(self.found[:depth]))

    def reciprocal(self) -> float:
        return next((1 / place for place, id in enumerate(self.found, 1) if id in self.asked.evidence), 0.0)


def table(rows: dict[str, list[Result]]) -> list[str]:
    """Recall, hits and mean reciprocal rank of each row."""
    lines = [
        "| | questions | r@5 | r@10 | r@20 | hit@5 | hit@10 | hit@20 | MRR |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, results in rows.items():
        columns: list[Callable[[Result], float]] = [
            *(lambda result, depth=depth: result.recall(depth) for depth in DEPTHS),  # type: ignore[misc]
            *(lambda result, depth=depth: result.is_hit(depth) for depth in DEPTHS),  # type: ignore[misc]
            Result.reciprocal,
        ]
        cells = " | ".join(f"{statistics.fmean(map(column, results)):.3f}" for column in columns)
        lines.append(f"| {name} | {len(results)} | {cells} |")
    return lines


def by_category(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results of each category of questions."""
    kinds = sorted({result.asked.category for result in results})
    return {kind: [result for result in results if result.asked.category == kind] for kind in kinds}
