"""The graph benchmark runs and compares like with like; how fast it is fails no test."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import graph


@pytest.mark.slow
@pytest.mark.usefixtures("database")
def test_the_graph_benchmark_measures_questions_and_writes_while_a_memory_grows(tmp_path: Path) -> None:
    result = tmp_path / "graph.md"
    report = graph.main(["--sizes", "4000", "6000", "--rounds", "4", "--chunks", "2", "--result", str(result)])
    assert result.read_text(encoding="utf-8") == report
    for what in ("current", "state_at", "as_known_at", "history", "reverse", "assert by API", "assert", "bulk"):
        for size in (4000, 6000):
            assert f"| {what} | {size} |" in report
    assert f"the bar is {graph.BULK_BAR}: " in report
