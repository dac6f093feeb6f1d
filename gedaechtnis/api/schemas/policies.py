from __future__ import annotations

from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out
from gedaechtnis.api.schemas.proposals import ProposalOut
from gedaechtnis.common.wire import Instant


class PoliciesIn(In):
    scope_ref: str | None = Field(
        default=None, max_length=100, description="Whose runs; the scope the token writes into without it."
    )
    repo: str | None = Field(default=None, max_length=200, description="The repository at hand: its rules come first.")
    include_inactive: bool = Field(default=False, description="Also those switched off or beginning later.")


class PolicyIn(In):
    rule: str = Field(max_length=10_000, description="One line of at most 1,000 characters.")
    domain: str = Field(default="general", max_length=500, description="`architecture` or `repo:my-repo/architecture`.")
    repo: str | None = Field(default=None, max_length=500)
    required_role: str | None = Field(default=None, max_length=1000, description="For whom it is meant; a hint.")
    name: str | None = Field(default=None, max_length=1000, description="The rule's first words without one.")
    quote: str | None = Field(default=None, max_length=8000)
    message: str | None = Field(default=None, max_length=200, description="What the quote stands in: `msg:<id>`.")
    reason: str | None = Field(default=None, max_length=2000)


class SupersedePolicyIn(In):
    rule: str = Field(max_length=10_000, description="One line of at most 1,000 characters.")
    quote: str | None = Field(default=None, max_length=8000)
    message: str | None = Field(default=None, max_length=200)
    reason: str | None = Field(default=None, max_length=2000)


class PolicyOut(Out):
    """`id` is that of its fact. `made_at`: when it was said, `acted_by`: by whom."""

    id: UUID
    entity_id: UUID
    rule: str
    domain: str
    required_role: str | None
    is_active: bool
    scope_ref: str
    valid_from: Instant
    valid_to: Instant | None
    made_at: Instant
    source: str
    acted_by: str


class PoliciesOut(Out):
    """`characters` and `tokens`: what the active ones take of each run. `waiting`: what a person has to decide."""

    items: list[PolicyOut]
    characters: int
    tokens: int
    waiting: list[ProposalOut]
