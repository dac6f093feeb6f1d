"""Logs without what people said: where something failed and of which kind, never the words it failed on.

The text of an exception may quote a row (PostgreSQL's DETAIL and CONTEXT do) or what somebody
typed, and addresses of pages hold what people look for. Django's error page with
GEDAECHTNIS_DEBUG=1 shows it all to who develops.
"""

from __future__ import annotations

import copy
import logging
import traceback
from collections.abc import Iterator
from typing import Any

_CAUSED = "\nThe above was the cause of the following:\n\n"
_TOLD = ("sqlstate", "code")
"""Attributes of exceptions that name what went wrong without quoting anything."""


class PrivateFormatter(logging.Formatter):
    """Exceptions as their types and places; requests by route; asyncio's reports by their first line."""

    def format(self, record: logging.LogRecord) -> str:
        """One record, without private text."""
        record = copy.copy(record)
        # Another handler may have written the whole exception there.
        record.exc_text = None
        if (request := getattr(record, "request", None)) is not None and isinstance(record.args, tuple):
            record.args = (*record.args[:1], _route(request), *record.args[2:])
        elif isinstance(record.args, dict) and "exc" in record.args:
            # Celery's report of a failed task.
            record.args = {**record.args, "exc": "an exception" if record.exc_info is None else "see below"}
        elif record.name == "asyncio":
            record.msg, record.args = record.getMessage().partition("\n")[0], None
        return super().format(record)

    def formatException(self, ei: Any) -> str:
        """The frames and types of an exception and its causes, the first cause first."""
        return _CAUSED.join(_describe(error) for error in reversed([*_chain(ei[1])]))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _describe(error: BaseException) -> str:
    frames = "".join(traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__)).format())
    kind = type(error)
    told = {name: value for name in _TOLD if isinstance(value := getattr(error, name, None), str) and value}
    if constraint := getattr(getattr(error, "diag", None), "constraint_name", None):
        told["constraint"] = constraint
    details = "".join(f" {name}={value}" for name, value in told.items())
    return f"Traceback (most recent call last):\n{frames}{kind.__module__}.{kind.__qualname__}{details}"


def _route(request: Any) -> str:
    match = getattr(request, "resolver_match", None)
    return f"{request.method} {match.route if match else 'an unknown address'}"
