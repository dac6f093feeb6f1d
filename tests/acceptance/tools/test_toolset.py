"""The tools in the hands of pydantic-ai: called for real, by models that are not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import agent
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.tools import registry
from gedaechtnis.tools.toolset import MemoryToolset
from tests.acceptance.api.support import LUNA, fact, propose
from tests.conftest import ApiClient


@pytest.fixture
def toolset(anna: User) -> MemoryToolset:
    _token, secret = create_token(user=anna, name="told")
    propose(ApiClient(secret), LUNA, fact("likes", "Lachs"))
    return MemoryToolset(lambda: agent(anna, "helper"))


def parts_of(toolset: MemoryToolset, *calls: ToolCallPart) -> list[Any]:
    """What came back to a model that makes these calls one after the other."""
    left = list(calls)

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[left.pop(0) if left else TextPart("fertig")])

    result = asyncio.run(Agent(FunctionModel(model), toolsets=[toolset]).run("Was mag Luna?"))
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]


def test_a_model_is_offered_every_tool_and_reads_its_text(toolset: MemoryToolset) -> None:
    model = TestModel(call_tools=["list_memory_conflicts"], custom_output_text="fertig")
    asyncio.run(Agent(model, toolsets=[toolset]).run("Widerspricht sich etwas?"))
    offered = model.last_model_request_parameters
    assert offered is not None
    assert {tool.name for tool in offered.function_tools} == set(registry.TOOLS)


def test_what_was_found_comes_back_as_text_with_its_data(toolset: MemoryToolset) -> None:
    (part,) = parts_of(toolset, ToolCallPart("get_entity", {"ref": "Luna"}))
    assert "- likes = Lachs · 👤" in part.content
    assert part.metadata["entity"]["ref"] == "pet:luna"


def test_a_misfit_is_tried_again_and_a_refusal_is_told(toolset: MemoryToolset) -> None:
    retry, refused, answered = parts_of(
        toolset,
        ToolCallPart("get_entity", {"name": "Luna"}),
        ToolCallPart("get_entity", {"ref": "Waldemar"}),
        ToolCallPart("propose_fact", {"subject": "Luna", "predicate": "breed", "object": "Siam"}),
    )
    assert (retry.outcome, retry.content) == ("retried", "ref: Das fehlt.")
    assert (refused.outcome, refused.content) == ("failed", "Unter „Waldemar“ ist nichts bekannt.")
    assert answered.metadata["outcome"] == "pending"
