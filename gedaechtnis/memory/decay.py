"""How much a memory still weighs: Weibull decay per memory type. It orders answers and never changes truth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from gedaechtnis.memory.schemas import MemoryType

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Weibull:
    """`exp(-(age / scale)^shape)`: after `scale_days` 37 % are left; a shape above 1 holds long and then drops."""

    scale_days: float
    shape: float

    def left(self, age: timedelta) -> float:
        """What is left of the weight after `age`, between 0 and 1; all of it for what is yet to come."""
        return math.exp(-((max(age / _DAY, 0.0) / self.scale_days) ** self.shape))


_NEVER = Weibull(math.inf, 1.0)
_PROFILE = Weibull(3650, 0.8)

DECAY: Mapping[str, Weibull] = {
    MemoryType.USER_ASSERTION: _PROFILE,
    MemoryType.CORRECTION: _PROFILE,
    MemoryType.PREFERENCE: Weibull(1825, 0.8),
    MemoryType.DECISION: Weibull(730, 1.0),
    MemoryType.COMMITMENT: Weibull(30, 1.5),
    MemoryType.NOTE: Weibull(180, 0.8),
    MemoryType.POLICY: _NEVER,
    MemoryType.DERIVED_PREFERENCE: Weibull(365, 0.8),
    MemoryType.DERIVED_PATTERN: Weibull(180, 0.8),
    MemoryType.HYPOTHESIS: Weibull(60, 1.0),
    MemoryType.OBSERVED_STATE: Weibull(7, 0.8),
    MemoryType.AGENT_ACTION: Weibull(14, 1.0),
    MemoryType.IMPORTED: Weibull(1825, 0.8),
}


def left(memory_type: str, age: timedelta) -> float:
    """What is left of the weight of a memory that was last touched `age` ago; types nobody knows decay like a note."""
    return DECAY.get(memory_type, DECAY[MemoryType.NOTE]).left(age)
