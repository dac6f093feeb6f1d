"""Errors a caller can act on, told as RFC 9457 problem details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Problem(Exception):
    """A refused request: what is wrong, where, and under which stable code.

    `detail` is a sentence in the reader's language; `code` is what programs compare;
    `field` is the dotted path of the offending input, if there is one.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        status: int = 422,
        field: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.status = status
        self.field = field
        self.extra = dict(extra or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"

    def at(self, field: str) -> Problem:
        """The same problem, located at an input field."""
        return Problem(self.code, self.detail, self.status, field, self.extra)


class NotFound(Problem):
    """Missing and foreign objects answer alike (an existence oracle would leak)."""

    def __init__(self, detail: str, *, field: str | None = None) -> None:
        super().__init__("not_found", detail, 404, field)
