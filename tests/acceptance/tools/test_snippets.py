"""What the guides tell people to copy can be copied."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.tools import registry
from tests.acceptance.api.support import LUNA, fact, propose
from tests.conftest import ApiClient
from tests.stack import Stack

HOWTO = Path(__file__).parents[3] / "docs" / "howto"
NOT_INSTALLED = ("langchain_mcp_adapters", "langgraph", "pydantic_ai.mcp")
"""What the guides say to install beside."""
_FENCE = re.compile(r"^```(json|python)\n(.*?)^```", re.M | re.S)
SNIPPETS = [
    (page, language, body)
    for page in ("mcp.md", "pydantic-ai.md", "langgraph.md")
    for language, body in _FENCE.findall((HOWTO / page).read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "language", "body"), SNIPPETS)
def test_a_snippet_can_be_read_and_uses_what_exists(page: str, language: str, body: str) -> None:
    if language == "json":
        assert json.loads(body)["mcpServers"]["gedaechtnis"]
        return
    compile(body, page, "exec")
    for module, names in re.findall(r"^from (\S+) import (.+)$", body, re.M):
        if module.startswith(NOT_INSTALLED):
            continue
        for name in names.split(", "):
            assert hasattr(importlib.import_module(module), name.partition(" as ")[0]), f"{module}.{name}"


def test_the_program_without_packages_runs(anna: User, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    _token, secret = create_token(user=anna, name="langgraph", agent_role="assistant")
    _token, own = create_token(user=anna, name="own")
    propose(ApiClient(own), LUNA, fact("likes", "Lachs"))
    monkeypatch.setenv("GEDAECHTNIS_TOKEN", secret)
    monkeypatch.setenv("GEDAECHTNIS_API", f"{stack.url}/api")
    (program,) = [body for _page, language, body in SNIPPETS if language == "python" and "urlopen" in body]
    names: dict[str, Callable[..., Any]] = {}
    exec(compile(program, "langgraph.md", "exec"), names)  # noqa: S102 (our own guide)
    assert [tool["name"] for tool in names["tools"]()] == list(registry.TOOLS)
    assert "likes = Lachs" in names["use"]("get_entity", ref="pet:luna")
