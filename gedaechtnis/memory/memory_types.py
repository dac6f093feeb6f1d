"""What each memory type means for routing, retention and decay: one table."""

from __future__ import annotations

from dataclasses import dataclass

from gedaechtnis.memory.schemas import MemoryType


@dataclass(frozen=True, slots=True)
class Rule:
    """`explicit`: the type is a person's own words, so a verified quote of theirs commits it."""

    explicit: bool
    retention_class: str


RULES: dict[MemoryType, Rule] = {
    MemoryType.USER_ASSERTION: Rule(explicit=True, retention_class="permanent"),
    MemoryType.CORRECTION: Rule(explicit=True, retention_class="permanent"),
    MemoryType.PREFERENCE: Rule(explicit=True, retention_class="permanent"),
    MemoryType.DECISION: Rule(explicit=True, retention_class="permanent"),
    MemoryType.COMMITMENT: Rule(explicit=True, retention_class="permanent"),
    MemoryType.NOTE: Rule(explicit=True, retention_class="permanent"),
    MemoryType.POLICY: Rule(explicit=False, retention_class="permanent"),
    MemoryType.DERIVED_PREFERENCE: Rule(explicit=False, retention_class="permanent"),
    MemoryType.DERIVED_PATTERN: Rule(explicit=False, retention_class="permanent"),
    MemoryType.HYPOTHESIS: Rule(explicit=False, retention_class="permanent"),
    MemoryType.OBSERVED_STATE: Rule(explicit=False, retention_class="windowed"),
    MemoryType.AGENT_ACTION: Rule(explicit=False, retention_class="windowed"),
    MemoryType.IMPORTED: Rule(explicit=False, retention_class="permanent"),
}
