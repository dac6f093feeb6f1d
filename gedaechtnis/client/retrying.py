"""When to send again, and after which pause. Nothing here waits."""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime

import httpx

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 60.0
_REFUSED_FOR_NOW = frozenset({429, 503})


class Retrying:
    """Counts the attempts of one request. 429 and 503 say that nothing was done, so they may always be sent again."""

    def __init__(self, retries: int, is_safe: bool) -> None:
        self._left = retries
        self._is_safe = is_safe
        self._pause = _FIRST_PAUSE

    def after(self, response: httpx.Response) -> float | None:
        """Seconds to wait before the next attempt; None if the answer stands."""
        if response.status_code not in _REFUSED_FOR_NOW:
            return None
        asked = retry_after(response)
        return None if asked is not None and asked > _LONGEST_PAUSE else self._next(asked)

    def after_failure(self) -> float | None:
        """As `after` where no answer came: perhaps it was done, so only what may be done twice is sent again."""
        return self._next(None) if self._is_safe else None

    def _next(self, asked: float | None) -> float | None:
        if self._left <= 0:
            return None
        self._left -= 1
        pause, self._pause = self._pause, self._pause * 2
        # Spread, so that those who were turned away together do not come back together.
        return asked if asked is not None else pause * random.uniform(0.5, 1.0)  # noqa: S311


def retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks to wait: a number, or until a date by its own clock."""
    said = response.headers.get("Retry-After", "")
    if said.isdigit():
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - parsedate_to_datetime(response.headers["Date"])).total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
