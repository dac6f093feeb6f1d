"""The latency benchmark runs and compares like with like; how fast it is fails no test."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import latency


@pytest.mark.slow
@pytest.mark.usefixtures("database")
def test_the_latency_benchmark_measures_each_part_while_a_memory_grows(tmp_path: Path) -> None:
    result = tmp_path / "latency.md"
    options = "--sizes 4000 6000 --turns 500 --crowd 500 --others 40 --rounds 4 --searches 4"
    report = latency.main([*options.split(), "--result", str(result)])
    assert result.read_text(encoding="utf-8") == report
    for size in (4000, 6000):
        assert f"| context | {size} |" in report
        assert f"| preamble | {size} |" in report
        assert f"| dossier | {size} |" in report
    assert "| hybrid: three words | 500 |" in report
