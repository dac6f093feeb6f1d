"""Extractors read a window and propose; they never write. All of them speak one protocol."""

from __future__ import annotations

from typing import Protocol

from curator.window import Window
from gedaechtnis.memory.schemas import MemoryMutationProposal


class Extractor(Protocol):
    """Turns a window into a proposal, or None where there is nothing to learn."""

    def extract(self, window: Window) -> MemoryMutationProposal | None:
        """Propose mutations for the new messages of `window`."""
        ...
