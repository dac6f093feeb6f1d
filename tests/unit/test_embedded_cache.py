"""How much of its files the bundled PostgreSQL keeps in memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gedaechtnis.embedded.account import Account
from gedaechtnis.embedded.postgres import Postgres


@pytest.mark.parametrize(
    ("machine", "container", "kept"),
    [(1, "max", "256MB"), (24, "max", "3072MB"), (24, "8589934592", "1024MB"), (512, "max", "4096MB")],
)
def test_it_keeps_an_eighth_of_what_is_there(
    machine: int, container: str, kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": machine * 2**30 // 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    monkeypatch.setattr(Path, "read_text", lambda path: f"{container}\n")
    server = Postgres(tmp_path, Account(), 5432, "", throwaway=False)
    assert server._settings["shared_buffers"] == kept
