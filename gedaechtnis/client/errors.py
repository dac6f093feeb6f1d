"""What can go wrong, by kind. Compare `code`: it is stable, `detail` is for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class GedaechtnisError(Exception):
    """Everything that the client raises."""


class ConnectionFailed(GedaechtnisError):
    """No answer came: the server is not there, or took longer than the time-out."""


class ProblemError(GedaechtnisError):
    """The server refused. `field` is the dotted path of what is wrong, if it is one thing."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.code = str(body.get("code", "unknown"))
        self.detail = str(body.get("detail", ""))
        self.errors = tuple(body.get("errors", ()))
        self.field: str | None = self.errors[0]["field"] if len(self.errors) == 1 else None
        self.extra = {name: value for name, value in body.items() if name not in _STANDARD}
        self.retry_after = retry_after
        """Seconds after which the server asks to come again."""
        super().__init__(f"{status} {self.code}: {self.detail}")


class Unauthorized(ProblemError):
    """401: no token, or one that is not valid any more."""


class Forbidden(ProblemError):
    """403: the token may not do this."""


class NotFound(ProblemError):
    """404: it does not exist, or is not yours to see."""


class Conflict(ProblemError):
    """409: something changed since, or a name could be several (`extra["candidates"]`)."""


class Invalid(ProblemError):
    """400, 413, 415, 422: the question is wrong; `field` says where."""


class RateLimited(ProblemError):
    """429, after all retries."""


class Unavailable(ProblemError):
    """5xx, after all retries where another attempt could help."""


_STANDARD = frozenset({"type", "title", "status", "code", "detail", "errors"})
_BY_STATUS: Mapping[int, type[ProblemError]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: RateLimited,
}
_SERVER_ERROR = 500


def problem(status: int, body: Mapping[str, Any], retry_after: float | None) -> ProblemError:
    """The exception for an answer of this status."""
    kind = Unavailable if status >= _SERVER_ERROR else _BY_STATUS.get(status, ProblemError)
    return kind(status, body, retry_after)
