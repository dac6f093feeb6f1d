"""Two sentences side by side: which of their words differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words; `differs` where the other sentence says something else."""

    text: str
    differs: bool


def sides(one: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both sentences in pieces. Joined again each is as it was."""
    left, right = _TOKEN.findall(one), _TOKEN.findall(other)
    pairs = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return (
        _pieces(left, [(begin, end, tag != "equal") for tag, begin, end, _b, _e in pairs]),
        _pieces(right, [(begin, end, tag != "equal") for tag, _b, _e, begin, end in pairs]),
    )


def _pieces(tokens: list[str], runs: list[tuple[int, int, bool]]) -> tuple[Piece, ...]:
    return tuple(Piece("".join(tokens[begin:end]), differs) for begin, end, differs in runs if begin < end)
