"""Pieces that several resources share."""

from __future__ import annotations

from typing import Annotated, Any

from ninja.params.functions import Body, Header
from pydantic import BaseModel, ConfigDict, Field

IdempotencyKey = Annotated[
    str | None, Header(None, alias="Idempotency-Key", min_length=1, max_length=200, description="The run id.")
]
WriteScope = Annotated[
    str | None,
    Header(None, alias="Gedaechtnis-Scope", description="The scope to write into; the token's default without it."),
]


class In(BaseModel):
    """Input: a field nobody knows is a mistake, not a wish to ignore."""

    model_config = ConfigDict(extra="forbid")


class Out(BaseModel):
    """Output, read from a view of the memory or the chat by the names of its fields."""

    model_config = ConfigDict(from_attributes=True)


class PageIn(In):
    cursor: str | None = Field(default=None, max_length=2000, description="`cursor` of the page before.")
    limit: int = Field(default=50, ge=1, le=200)


class ReasonIn(In):
    reason: str | None = Field(default=None, max_length=2000)


OptionalReason = Annotated[ReasonIn, Body(ReasonIn())]


class FieldError(BaseModel):
    field: str
    code: str
    detail: str


class ProblemOut(BaseModel):
    """RFC 9457. Further members may follow, such as `candidates`."""

    model_config = ConfigDict(title="Problem", extra="allow")

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldError]

    @classmethod
    def components(cls) -> dict[str, Any]:
        """Itself and what it refers to, for the OpenAPI document."""
        schema = cls.model_json_schema(ref_template="#/components/schemas/{model}")
        return {**schema.pop("$defs"), "Problem": schema}
