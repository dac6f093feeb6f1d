"""Asking for what is remembered."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import Out
from gedaechtnis.api.schemas.facts import AsOfIn
from gedaechtnis.memory.selectors.context import DEFAULT_BUDGET, MAX_TEXT


class ContextIn(AsOfIn):
    """A message, and where its writer is."""

    text: str = Field(max_length=MAX_TEXT, description="The message that the run is about to answer.")
    chat_id: UUID | None = Field(default=None, description="Helps to tell namesakes apart.")
    applies_to: list[str] = Field(
        default=[],
        max_length=20,
        description="References to what the run works in; facts of other contexts are left out.",
    )
    task: str | None = Field(default=None, max_length=300, description="A reference to the task, device or session.")
    budget_tokens: int = Field(
        default=DEFAULT_BUDGET, ge=100, le=20_000, description="Facts of what is named stay, even beyond it."
    )


class LinkedOut(Out):
    """Something the message speaks of; `said` is how."""

    id: UUID
    ref: str
    name: str
    said: str


class ContextOut(Out):
    """`tokens` is an upper estimate. `policies` is empty as yet. `timings_ms` by step, and `total`."""

    text: str
    fact_ids: list[UUID]
    entities: list[LinkedOut]
    policies: list[UUID]
    tokens: int
    timings_ms: dict[str, float]
