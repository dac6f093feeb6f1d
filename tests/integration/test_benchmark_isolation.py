"""The isolation benchmark runs and compares like with like; how fast it is fails no test."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import isolation


@pytest.mark.slow
@pytest.mark.usefixtures("database")
def test_the_isolation_benchmark_measures_reads_and_searches(tmp_path: Path) -> None:
    result = tmp_path / "isolation.md"
    report = isolation.main(["--names", "4000", "--rounds", "4", "--result", str(result)])
    assert result.read_text(encoding="utf-8") == report
    for what in ("state at a moment", "entity by reference", "page of one kind", "a name with a typo"):
        assert f"| {what}" in report
    assert "| 0 of" not in report, "a read is planned in another way under the policies"
    assert f"Target {isolation.RATIO_TARGET}: " in report
