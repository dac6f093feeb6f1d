"""Whether two names that look alike could be one. Only names count: neither recency nor company lifts a pair."""

from __future__ import annotations

import re

from gedaechtnis.common.text import finding_keys, name_key

_LENGTHS_APART = 3
_NUMBER = re.compile(r"\d+")


def is_plausible(one: str, other: str) -> bool:
    """Equal but for case, one within the other as whole words, or of one first letter and nearly one length.

    Names with different numbers in them name different things, however alike they look.
    """
    a, b = name_key(one), name_key(other)
    if not a or not b or _numbers_differ(a, b):
        return False
    return a == b or holds(a, b) or holds(b, a) or (a[0] == b[0] and abs(len(a) - len(b)) <= _LENGTHS_APART)


def are_compatible(one: str, other: str) -> bool:
    """Whether two names can be those of one bearer: the same in some spelling, or one a shorter form of the other."""
    a, b = finding_keys(one), finding_keys(other)
    return bool(a & b) or any(holds(x, y) or holds(y, x) for x in a for y in b)


def holds(longer: str, shorter: str) -> bool:
    """Whether a name key holds another as whole words."""
    return f" {shorter} " in f" {longer} "


def _numbers_differ(a: str, b: str) -> bool:
    return sorted(_NUMBER.findall(a)) != sorted(_NUMBER.findall(b)) and bool(_NUMBER.search(a) and _NUMBER.search(b))
