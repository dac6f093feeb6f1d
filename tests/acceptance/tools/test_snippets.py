"""What the guides tell people to copy does what they say, on a real server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.tools import registry
from tests.acceptance.api.support import LUNA, fact, propose
from tests.acceptance.mcp.conftest import ask, environment
from tests.conftest import ApiClient
from tests.stack import ROOT, Stack

_FENCE = re.compile(r"^```(json|python|sh)\n(.*?)^```", re.M | re.S)
ADDRESS = "http://127.0.0.1:8000"


def snippets(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / "howto" / page).read_text(encoding="utf-8")
    return [body for found, body in _FENCE.findall(text) if found == language]


def run(page: str, bodies: list[str], stack: Stack) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for body in bodies:
        exec(compile(body.replace(ADDRESS, stack.url), page, "exec"), names)  # noqa: S102 (our own guides)
    return names


@pytest.fixture
def secret(anna: User, monkeypatch: pytest.MonkeyPatch) -> str:
    """A token of an agent of Anna's, whose cat likes salmon."""
    propose(ApiClient(create_token(user=anna, name="own")[1]), LUNA, fact("likes", "Lachs"))
    _token, secret = create_token(user=anna, name="guide", agent_role="assistant")
    monkeypatch.setenv("GEDAECHTNIS_TOKEN", secret)
    return secret


def test_an_agent_of_langgraph_asks_the_tools(secret: str, stack: Stack) -> None:
    names = run("langgraph.md", snippets("langgraph.md", "python")[:2], stack)
    given: list[str] = []

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_more: Any) -> Any:
            given.extend(tool.name for tool in tools)
            return self

    calls = [("get_entity", {"ref": "pet:luna"}), ("get_entity", {"ref": "pet:nobody"})]
    says = [AIMessage("", tool_calls=[{"name": name, "args": args, "id": name}]) for name, args in calls]
    graph = names["assistant"](Model(messages=iter([*says, AIMessage("Lachs")])))
    messages = graph.invoke({"messages": [("user", "Was mag Luna?")]})["messages"]
    assert given == list(registry.TOOLS)
    told, refused = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert "likes = Lachs" in told
    assert "pet:nobody" in refused
    assert messages[-1].content == "Lachs"
    names["memory"].close()


def test_the_address_for_adapters_is_that_of_the_server() -> None:
    """They need another version of the SDK than the server, so they cannot be run beside it."""
    (by_mcp,) = snippets("langgraph.md", "python")[2:]
    compile(by_mcp, "langgraph.md", "exec")
    assert f'"url": "{ADDRESS}/mcp"' in by_mcp


def test_an_agent_of_pydantic_ai_reads_the_text(secret: str, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    by_mcp, within = snippets("pydantic-ai.md", "python")
    names = run("pydantic-ai.md", [re.sub(r"^agent = .*\n", "", by_mcp, flags=re.M)], stack)
    calls = iter([ToolCallPart("get_entity", {"ref": "pet:luna"})])

    def model(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {tool.name for tool in info.function_tools} == set(registry.TOOLS)
        return ModelResponse([next(calls, TextPart("Lachs"))])

    done = asyncio.run(Agent(FunctionModel(model), toolsets=[names["memory"]]).run("Was mag Luna?"))
    requests = [message for message in done.all_messages() if isinstance(message, ModelRequest)]
    (told,) = [part.content for request in requests for part in request.parts if isinstance(part, ToolReturnPart)]
    assert "likes = Lachs" in told["text"]
    assert callable(run("pydantic-ai.md", [within], stack)["assistant"])


CONFIGS = {
    next(key for key in ("command", "type", "url") if key in entry): entry
    for body in snippets("mcp.md", "json")
    for entry in [json.loads(body)["mcpServers"]["gedaechtnis"]]
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory whose `make manage` runs on the services of the test, as that of the project does on its own."""
    makefile = "manage:\n\t@cd {root} && .venv/bin/python manage.py $(ARGS)\n"
    (tmp_path / "Makefile").write_text(makefile.format(root=ROOT))
    return tmp_path


def test_claude_desktop_starts_the_tools(secret: str, here: Path) -> None:
    config = CONFIGS["command"]
    arguments = [str(here) if argument == "/home/anna/gedaechtnis" else argument for argument in config["args"]]
    assert str(here) in arguments

    async def session() -> Any:
        started = StdioServerParameters(
            command=config["command"],
            args=arguments,
            env={**environment(), **config["env"], "GEDAECHTNIS_TOKEN": secret},
        )
        async with Client(started) as client:
            return await client.call_tool("get_entity", {"ref": "pet:luna"})

    assert "likes = Lachs" in asyncio.run(session()).content[0].text


@pytest.mark.parametrize("program", ["type", "url"])
def test_claude_code_and_cursor_reach_the_server(secret: str, stack: Stack, program: str) -> None:
    config = CONFIGS[program]
    assert config.get("type", "http") == "http"
    header = config["headers"]["Authorization"].replace("${GEDAECHTNIS_TOKEN}", secret).replace("gd_…", secret)
    assert header == f"Bearer {secret}"
    address = config["url"].replace(ADDRESS, stack.url).removesuffix("/mcp")
    answer = ask(address, secret, lambda client: client.call_tool("get_entity", {"ref": "pet:luna"}))
    assert "likes = Lachs" in answer.content[0].text
