from __future__ import annotations

from typing import Any

from pydantic import Field

from gedaechtnis.api.schemas.common import Out


class ToolOut(Out):
    """A tool in the reader's language; the schemas are JSON Schema (2020-12)."""

    name: str
    title: str
    description: str
    is_reading: bool = Field(description="It changes nothing; the others propose.")
    is_destructive: bool = Field(description="It proposes that something no longer be believed.")
    is_idempotent: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] = Field(description="Of `data` in the answer.")


class ToolList(Out):
    items: list[ToolOut]
    cursor: None = None


class ToolAnswerOut(Out):
    """`text` is for a model to read, `data` the same for a program."""

    text: str
    data: dict[str, Any]
