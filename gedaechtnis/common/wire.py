"""How values look where programs read them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from gedaechtnis.common.instants import rfc3339

Instant = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""RFC 3339 in UTC with microseconds: recorded times may differ by one."""
