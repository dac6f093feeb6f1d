"""The proof is worth something: with a fault planted in the code, it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


NIGHTLY = "STATE_MACHINE_EXAMPLES"
AT_NIGHT = pytest.mark.skipif(NIGHTLY not in os.environ, reason="takes minutes: `make test-nightly`")


@pytest.mark.slow
@pytest.mark.parametrize(
    "proof", ["test_bitemporal_conformance.py", pytest.param("test_state_machine.py", marks=AT_NIGHT)]
)
@pytest.mark.parametrize("fault", ["clipping", "remainder", "clock"])
def test_planted_fault_is_caught_through_the_database(database: None, fault: str, proof: str) -> None:
    pytest_with_fault = [sys.executable, "-m", "pytest", "-p", "tests.mutation.plant", "-p", "no:cacheprovider", "-q"]
    run = subprocess.run(
        [*pytest_with_fault, "-x", f"tests/integration/{proof}"],
        cwd=ROOT,
        env={**{name: value for name, value in os.environ.items() if name != NIGHTLY}, "PLANTED_FAULT": fault},
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    assert "1 failed" in run.stdout
