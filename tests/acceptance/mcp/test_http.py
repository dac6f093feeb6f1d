"""MCP over HTTP, asked by the SDK's own client: a real server, real tokens, every tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from gedaechtnis.common import clock
from gedaechtnis.identity import groups, tokens
from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.models import AuditEntry, Token, User
from gedaechtnis.identity.principals import person
from gedaechtnis.knowledge.policy_changes import propose_policy
from gedaechtnis.mcp.http import MAX_BODY_BYTES
from gedaechtnis.tools import registry
from tests.acceptance.api.support import LUNA, fact, propose
from tests.acceptance.mcp.conftest import ask, environment
from tests.acceptance.mcp.server import Web
from tests.conftest import ApiClient

PROPOSING = {
    "propose_fact",
    "supersede_fact",
    "forget",
    "propose_policy",
    "supersede_policy",
    "consolidate_memory",
    "harmonize_memory",
}
ENDING = {"supersede_fact", "forget", "supersede_policy"}
KEEPING = {"update_my_notes", "record_observation", "remember"}
ASKED: dict[str, dict[str, Any]] = {
    "find_entity": {"name": "luna"},
    "get_entity": {"ref": "pet:luna"},
    "recall_facts_about": {"ref": "pet:luna", "predicate": "feeding_*"},
    "get_fact_history": {"ref": "pet:luna", "predicate": "likes"},
    "get_neighbors": {"ref": "pet:luna"},
    "state_at": {"ref": "pet:luna", "at": "2100-01-01"},
    "state_as_known_at": {"ref": "pet:luna", "at": "2100-01-01"},
    "effects_of": {"of": "run:r-1"},
    "explain_change": {"fact": "pet:luna.likes"},
    "who_has": {"predicate": "likes", "object": "Lachs"},
    "search_world_memory": {"query": "Was mag Luna?"},
    "dossier": {"ref": "pet:luna"},
    "list_memory_conflicts": {},
    "propose_fact": {"subject": "pet:luna", "predicate": "breed", "object": "Siam"},
    "supersede_fact": {"fact": "pet:luna.likes", "object": "Huhn"},
    "forget": {"fact": "pet:luna.likes"},
    "read_my_notes": {},
    "update_my_notes": {"text": "Luna frisst abends."},
    "record_observation": {"text": "Luna schläft."},
    "remember": {"text": "Luna mag Lachs.", "domain": "pets"},
    "consolidate_memory": {},
    "harmonize_memory": {},
    "get_preamble": {"task": "Was mag Luna, Lachs oder Huhn?"},
    "list_policies": {},
    "propose_policy": {"rule": "Antworte knapp"},
    "supersede_policy": {"policy": "policy:quiet", "rule": "Antworte knapp"},
}


@pytest.fixture(scope="module")
def web(django_db_setup: Any) -> Iterator[Web]:
    web = Web(environment())
    yield web
    web.stop()


def call(web: Web, secret: str | None, name: str, arguments: dict[str, Any], **headers: str) -> Any:
    return ask(web.url, secret, lambda client: client.call_tool(name, arguments), **headers)


def data_of(result: Any) -> Any:
    """What a program reads; the text stands beside it for models that are shown this instead of the content."""
    assert result.structured_content["text"] == text_of(result)
    return result.structured_content["data"]


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_is_listed_and_answers_text_and_data(
    web: Web, anna_with_luna: User, secret_of: Callable[..., str], mode: str
) -> None:
    secret = secret_of(anna_with_luna, agent_role="assistant")

    async def use(client: Client) -> Any:
        listed = await client.list_tools()
        return listed.tools, {name: await client.call_tool(name, arguments) for name, arguments in ASKED.items()}

    listed, answers = ask(web.url, secret, use, mode=mode)
    assert {tool.name for tool in listed} == set(registry.TOOLS)
    for tool in listed:
        assert tool.annotations.read_only_hint is (tool.name not in PROPOSING | KEEPING)
        assert tool.annotations.destructive_hint is (tool.name in ENDING)
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.idempotent_hint is (tool.name not in PROPOSING | KEEPING)
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        Draft202012Validator.check_schema(tool.output_schema)
    assert set(answers) == set(registry.TOOLS)
    for name, answer in answers.items():
        assert not answer.is_error, (name, answer)
        assert text_of(answer)
        registry.TOOLS[name].answer.model_validate(data_of(answer))
        schema = next(tool.output_schema for tool in listed if tool.name == name)
        Draft202012Validator(schema).validate(answer.structured_content)
    assert "feeding_time_morning = 07:00" in text_of(answers["get_entity"])
    assert data_of(answers["propose_fact"])["outcome"] == "pending"


def test_a_server_introduces_itself_in_the_language_asked_for(
    web: Web, anna_with_luna: User, secret_of: Callable[..., str]
) -> None:
    secret = secret_of(anna_with_luna)

    async def use(client: Client) -> Any:
        tools = {tool.name: tool.title for tool in (await client.list_tools()).tools}
        return client.instructions, tools["find_entity"], text_of(await client.call_tool("get_entity", {"ref": "Lun"}))

    german = ask(web.url, secret, use)
    english = ask(web.url, secret, use, **{"Accept-Language": "en-GB,en;q=0.9"})
    assert german[1:] == ("Etwas nach Namen finden", "Nichts heißt „Lun“. Nah daran: pet:luna („Luna“).")
    assert english[1:] == ("Find a thing by name", "Nothing is called “Lun”. Close to it: pet:luna (“Luna”).")
    assert "Gedächtnis" in german[0]
    assert "memory" in english[0]


def test_the_preamble_is_a_prompt_too(web: Web, anna_with_luna: User, secret_of: Callable[..., str]) -> None:
    propose_policy(principal=person(anna_with_luna), rule="Antworte knapp")
    secret = secret_of(anna_with_luna)

    async def use(client: Client) -> Any:
        (prompt,) = (await client.list_prompts()).prompts
        got = await client.get_prompt(prompt.name, {"task": "Was mag Luna, Lachs oder Huhn?"})
        refused = []
        for name, arguments in (("other", {}), (prompt.name, {"colour": "red"}), (prompt.name, {"repo": "a b"})):
            with pytest.raises(MCPError) as raised:
                await client.get_prompt(name, arguments)
            refused.append(str(raised.value))
        return prompt, got, refused

    prompt, got, refused = ask(web.url, secret, use)
    assert (prompt.name, prompt.title) == ("preamble", "Bevor du beginnst")
    assert [argument.name for argument in prompt.arguments] == ["task", "repo"]
    assert not any(argument.required for argument in prompt.arguments)
    (message,) = got.messages
    assert message.role == "user"
    assert message.content.text.startswith("## Regeln")
    assert "Antworte knapp" in message.content.text
    assert len(refused) == 3


def test_what_a_tool_refuses_is_an_answer_in_words(
    web: Web, anna_with_luna: User, secret_of: Callable[..., str]
) -> None:
    secret = secret_of(anna_with_luna)
    for name, arguments, field in (
        ("get_entity", {"ref": "pet:nobody"}, "ref"),
        ("get_entity", {}, "ref"),
        ("get_neighbors", {"ref": "pet:luna", "depth": 9}, "depth"),
        ("find_entity", {"name": "a\x00b"}, "name"),
    ):
        answer = call(web, secret, name, arguments)
        assert answer.is_error
        assert data_of(answer)["field"] == field
        assert text_of(answer) == data_of(answer)["detail"]


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(
    web: Web, anna: User, secret_of: Callable[..., str]
) -> None:
    async def use(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("drop_tables", {})

    ask(web.url, secret_of(anna), use)


def test_a_token_that_only_reads_is_offered_and_allowed_no_more(
    web: Web, anna_with_luna: User, secret_of: Callable[..., str]
) -> None:
    secret = secret_of(anna_with_luna, read_only=True)
    listed = ask(web.url, secret, lambda client: client.list_tools()).tools
    assert {tool.name for tool in listed} == set(registry.TOOLS) - PROPOSING - KEEPING
    for name in PROPOSING | KEEPING:
        refused = call(web, secret, name, ASKED[name])
        assert (refused.is_error, data_of(refused)["code"]) == (True, "read_only")
    assert "Lachs" in text_of(call(web, secret, "get_entity", ASKED["get_entity"]))


def post(web: Web, body: Any, **headers: str) -> httpx2.Response:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    return httpx2.post(f"{web.url}/mcp", content=text, headers=given)


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_nobody_is_let_in_without_a_valid_token(web: Web, anna: User, secret_of: Callable[..., str]) -> None:
    with clock.frozen(clock.now().replace(year=2020)):
        expired = secret_of(anna, expires_at=clock.now())
    revoked = secret_of(anna)
    tokens.revoke_token(user=anna, token_id=Token.objects.get(digest=tokens._digest(revoked)).id)
    response = post(web, PING)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer realm="gedaechtnis"'
    for given in ("Bearer gd_wrong", f"Bearer {expired}", f"Bearer {revoked}", "Bearer", "Basic YTpi"):
        response = post(web, PING, Authorization=given)
        assert response.status_code == 401, given
        assert 'error="invalid_token"' in response.headers["www-authenticate"]
        assert response.json()["error"]["data"]["code"] == "invalid_token"
    with pytest.raises(Exception, match=r"."):
        ask(web.url, "gd_wrong", lambda client: client.list_tools())


def test_a_page_elsewhere_and_a_foreign_name_reach_nothing(web: Web, anna: User, secret_of: Callable[..., str]) -> None:
    token = {"Authorization": f"Bearer {secret_of(anna)}"}
    assert post(web, PING, **token).status_code == 200
    assert post(web, PING, **token, Origin=web.url).status_code == 200
    assert post(web, PING, **token, Origin="https://evil.example").status_code == 403
    assert post(web, PING, **token, Origin="null").status_code == 403
    assert post(web, PING, **token, Host="evil.example").status_code == 421


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_only_posts_are_answered(web: Web, anna: User, secret_of: Callable[..., str], method: str) -> None:
    response = httpx2.request(
        method, f"{web.url}/mcp", headers={"Authorization": f"Bearer {secret_of(anna)}", "Accept": "text/event-stream"}
    )
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_garbage_is_answered_by_the_protocol(web: Web, anna: User, secret_of: Callable[..., str]) -> None:
    token = {"Authorization": f"Bearer {secret_of(anna)}"}
    for body, code in (
        ("{", -32700),
        ("[" * 100_000, -32700),
        (b"\xff\xfe", -32700),
        ("null", None),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1, "method": "no/such"}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_entity", "arguments": []}}, None),
    ):
        response = post(web, body, **token)
        assert response.status_code < 500, body
        error = response.json()["error"]
        assert code is None or error["code"] == code, (str(body)[:60], error)
    assert post(web, PING, **token | {"Content-Type": "text/plain"}).status_code in (400, 415)
    assert post(web, "x" * (MAX_BODY_BYTES + 1), **token).status_code == 413


def test_everybody_is_told_their_own(
    web: Web, anna_with_luna: User, ben: User, clara: User, secret_of: Callable[..., str]
) -> None:
    group = groups.create_group(user=anna_with_luna, name="WG")
    groups.add_member(user=anna_with_luna, group_id=group.id, username="ben", role="viewer")
    scope = {"Gedaechtnis-Scope": f"group:{group.id}"}
    shared = {**LUNA, "id_hint": "pet:mohrle", "canonical_name": "Mohrle"}
    propose(ApiClient(secret_of(anna_with_luna)), shared, fact("likes", "Quark", subject="pet:mohrle"), **scope)
    seen = {
        user.username: {
            name: "👤"
            in text_of(call(web, secret_of(user, agent_role="assistant"), "get_entity", {"ref": f"pet:{name}"}))
            for name in ("luna", "mohrle")
        }
        for user in (anna_with_luna, ben, clara)
    }
    assert seen == {
        "anna": {"luna": True, "mohrle": True},
        "ben": {"luna": False, "mohrle": True},
        "clara": {"luna": False, "mohrle": False},
    }


def test_what_an_agent_reads_is_on_record(web: Web, anna_with_luna: User, secret_of: Callable[..., str]) -> None:
    call(web, secret_of(anna_with_luna, agent_role="assistant"), "get_entity", ASKED["get_entity"])
    entry = AuditEntry.objects.get(kind=Kind.READ)
    assert entry.details["route"] == "tools.get_entity"
    assert entry.acted_by.startswith("agent:assistant@")
    assert entry.address_hash


def test_two_processes_share_an_address_and_either_may_be_gone(
    anna_with_luna: User, secret_of: Callable[..., str]
) -> None:
    secret = secret_of(anna_with_luna)

    async def use(client: Client) -> list[bool]:
        answers = [await client.call_tool("get_entity", ASKED["get_entity"]) for _ in range(12)]
        return [answer.is_error for answer in answers]

    web = Web(environment(), workers=2)
    try:
        for mode in ("legacy", "auto"):
            assert ask(web.url, secret, use, mode=mode) == [False] * 12
    finally:
        web.stop()

    first = Web(environment(), port=web.port)

    async def across_a_restart(client: Client) -> tuple[bool, bool]:
        before = await client.call_tool("get_entity", ASKED["get_entity"])
        first.stop()
        second = Web(environment(), port=web.port)
        try:
            after = await client.call_tool("get_entity", ASKED["get_entity"])
        finally:
            second.stop()
        return before.is_error, after.is_error

    assert ask(first.url, secret, across_a_restart) == (False, False)
