"""The tools for agents built with pydantic-ai."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ToolReturn
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping.threads import in_thread
from gedaechtnis.tools import registry

_ANY = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))
"""The registry checks arguments, in the reader's words."""
_RETRIES = 2
_MALFORMED = 422


class MemoryToolset(AbstractToolset[Any]):
    """The tools of one principal, answered in their language.

    `who` is asked at each call, in the thread that answers it, so that rights are those of the moment:
    `MemoryToolset(lambda: agent(user, "helper"))`. The model reads the text; the data is the `metadata` of the result.
    """

    def __init__(self, who: Callable[[], Principal], *, id: str = "gedaechtnis") -> None:
        self._who = who
        self._id = id

    @property
    def id(self) -> str:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        defined = await in_thread(self._defined)
        return {
            one.name: ToolsetTool(toolset=self, tool_def=one, max_retries=_RETRIES, args_validator=_ANY)
            for one in defined
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> ToolReturn:
        """The answer; a misfit of an argument asks the model to try again, any other refusal tells it why not."""
        try:
            return await in_thread(partial(self._called, name, tool_args))
        except Problem as problem:
            if problem.status == _MALFORMED:
                raise ModelRetry(problem.detail) from problem
            raise ToolFailed(problem.detail) from problem

    def _defined(self) -> list[ToolDefinition]:
        principal = self._who()
        with translation.override(principal.language):
            return [
                ToolDefinition(
                    name=tool.name,
                    description=_(tool.description),
                    parameters_json_schema=tool.input_schema(),
                    metadata={"is_reading": tool.is_reading, "is_destructive": tool.is_destructive},
                )
                for tool in registry.offered_to(principal)
            ]

    def _called(self, name: str, arguments: dict[str, Any]) -> ToolReturn:
        principal = self._who()
        with translation.override(principal.language):
            answer = registry.run(name, principal=principal, arguments=arguments)
        return ToolReturn(return_value=answer.text, metadata=answer.as_json())
