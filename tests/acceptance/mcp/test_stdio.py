"""MCP over stdin and stdout, as desktop programs start it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from gedaechtnis.identity import tokens
from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.models import AuditEntry, Token, User
from gedaechtnis.tools import registry
from tests.acceptance.mcp.conftest import Use, environment, run_mcp
from tests.acceptance.mcp.test_http import ASKED, data_of, text_of
from tests.stack import ROOT


def ask(use: Use, *arguments: str, **more: str) -> Any:
    async def session() -> Any:
        started = StdioServerParameters(
            command=sys.executable,
            args=["manage.py", "mcp", *arguments],
            env={**environment(), **more},
            cwd=ROOT,
        )
        async with Client(started) as client:
            return await use(client)

    return asyncio.run(session())


def test_every_tool_answers_and_a_token_that_ends_is_told_so(
    anna_with_luna: User, secret_of: Callable[..., str]
) -> None:
    secret = secret_of(anna_with_luna, agent_role="assistant")

    async def use(client: Client) -> Any:
        listed = await client.list_tools()
        answers = {name: await client.call_tool(name, arguments) for name, arguments in ASKED.items()}
        await asyncio.to_thread(_revoke, anna_with_luna, secret)
        return listed.tools, answers, await client.call_tool("get_entity", ASKED["get_entity"])

    listed, answers, refused = ask(use, GEDAECHTNIS_TOKEN=secret)
    assert {tool.name for tool in listed} == set(registry.TOOLS)
    assert [name for name, answer in answers.items() if answer.is_error] == []
    assert "feeding_time_morning = 07:00" in text_of(answers["get_entity"])
    assert data_of(answers["propose_fact"])["outcome"] == "pending"
    assert (refused.is_error, data_of(refused)["code"]) == (True, "invalid_token")


def _revoke(user: User, secret: str) -> None:
    tokens.revoke_token(user=user, token_id=Token.objects.get(digest=tokens._digest(secret)).id)


def test_a_user_is_served_by_an_agent_of_theirs(anna_with_luna: User) -> None:
    answer = ask(
        lambda client: client.call_tool("propose_fact", ASKED["propose_fact"]), "--user", "anna", "--language", "en"
    )
    assert data_of(answer)["outcome"] == "pending"
    assert text_of(answer).startswith("Proposed.")
    assert AuditEntry.objects.get(kind=Kind.READ).acted_by == f"agent:mcp@user:{anna_with_luna.sub}"


def test_nobody_is_served_without_a_name_that_counts(database: None) -> None:
    for arguments, told in (
        ((), "GEDAECHTNIS_TOKEN"),
        (("--user", "nobody"), "There is no user nobody."),
        (("--token", "gd_wrong"), "not valid"),
    ):
        done = run_mcp(*arguments)
        assert done.returncode == 1
        assert told in done.stderr
        assert done.stdout == ""
