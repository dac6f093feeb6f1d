"""The tools of agents, for programs that speak neither MCP nor Python."""

from __future__ import annotations

from typing import Annotated, Any

from django.utils.translation import gettext as _
from ninja import Router
from ninja.params.functions import Body

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.tools import ToolAnswerOut, ToolList
from gedaechtnis.tools import registry

router = Router(tags=["tools"])


@router.get("", response=ToolList, summary="Which tools there are")
def list_tools(request: ApiRequest) -> dict[str, Any]:
    """Those that the caller may use, with what each takes and answers: none that propose if it may only read."""
    return {
        "items": [
            {
                "name": tool.name,
                "title": _(tool.title),
                "description": _(tool.description),
                "is_reading": tool.is_reading,
                "is_destructive": tool.is_destructive,
                "is_idempotent": tool.is_idempotent,
                "input_schema": tool.input_schema(),
                "output_schema": tool.output_schema(),
            }
            for tool in registry.offered_to(request.auth)
        ]
    }


@router.post("/{name}", response=ToolAnswerOut, summary="Use a tool")
def run_tool(request: ApiRequest, name: str, arguments: Annotated[dict[str, Any], Body(...)]) -> dict[str, Any]:
    """The body holds the tool's arguments, as its `input_schema` says. A misfit is 422 and names the argument."""
    answer = registry.run(name, principal=request.auth, arguments=arguments, request=request)
    return {"text": answer.text, "data": answer.as_json()}
