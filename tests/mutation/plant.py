"""A pytest plugin that plants the fault named by PLANTED_FAULT: `pytest -p tests.mutation.plant …`."""

from __future__ import annotations

import os


def pytest_collection_finish() -> None:
    from tests.mutation.faults import FAULTS  # noqa: PLC0415 (needs Django set up)

    target, name, fault = FAULTS[os.environ["PLANTED_FAULT"]]
    if getattr(target, name) == fault:
        raise RuntimeError("the fault is no fault: what it replaces reads like it")
    setattr(target, name, fault)
