from __future__ import annotations

from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.memory.selectors.context import MAX_TEXT


class PreambleIn(In):
    task: str = Field(default="", max_length=MAX_TEXT, description="Below 20 characters it brings no facts.")
    repo: str | None = Field(
        default=None, max_length=200, description="The repository at hand: what is bound to it comes first."
    )
    scope_ref: str | None = Field(
        default=None, max_length=100, description="Where the run is; the scope the token writes into without it."
    )


class PreambleOut(Out):
    """`policies` are the facts that the rules are; `policies_read` is false where they could not be read."""

    text: str
    policies: list[UUID]
    fact_ids: list[UUID]
    policies_read: bool
    timings_ms: dict[str, float]
