"""Pages of an answer: a marker says how far one has come, in which question."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import replace

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.selectors.recall.hits import SearchQuery

MAX_OFFSET = 1_000


def offset_of(query: SearchQuery) -> int:
    """How many hits came before this page.

    Raises:
        Problem: `invalid_cursor`, also for the marker of another question.
    """
    if query.cursor is None:
        return 0
    try:
        offset, asked = json.loads(base64.urlsafe_b64decode(query.cursor))
        if asked == _mark(query) and isinstance(offset, int) and 0 < offset <= MAX_OFFSET:
            return offset
    except (ValueError, TypeError, RecursionError, binascii.Error) as error:
        raise _invalid() from error
    raise _invalid()


def cursor(query: SearchQuery, offset: int) -> str | None:
    """The marker of the page after so many hits; None where answers end."""
    if offset > MAX_OFFSET:
        return None
    return base64.urlsafe_b64encode(json.dumps([offset, _mark(query)]).encode()).decode()


def _mark(query: SearchQuery) -> str:
    asked = replace(query, cursor=None, limit=1)
    return hashlib.sha256(repr(asked).encode("utf-8", "replace")).hexdigest()[:16]


def _invalid() -> Problem:
    return Problem("invalid_cursor", _("This page marker cannot be read."), field="cursor")
