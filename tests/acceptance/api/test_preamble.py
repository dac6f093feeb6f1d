"""What a run is told first, over REST: by itself, and with the context of a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError

from gedaechtnis.identity.models import AuditEntry, User
from gedaechtnis.identity.principals import person
from gedaechtnis.knowledge import pads, policies
from gedaechtnis.knowledge.policy_changes import propose_policy

TASK = "Wie bauen wir den Login mit Tokens um?"


@pytest.fixture
def agent(client_for: Callable[..., Any], anna: User) -> Any:
    """An agent of Anna's, who has two rules and notes of her own."""
    me = person(anna)
    propose_policy(principal=me, rule="Immer testen")
    propose_policy(principal=me, rule="Nie ohne Review", domain="style", repo="api")
    pads.update(principal=me, text="Annas eigene Notiz")
    return client_for(anna, agent_role="coder", clearance=3)


def told(api: Any, path: str, body: dict[str, Any]) -> Any:
    response = api.post(path, body)
    assert response.status_code == 200, response.content
    return response.json()


def test_rules_come_with_a_context_and_by_themselves(agent: Any) -> None:
    agent.post("/api/tools/update_my_notes", {"text": "Notiz des Agenten"})
    for answer in (
        told(agent, "/api/knowledge/preamble", {"task": TASK, "repo": "api"}),
        told(agent, "/api/world/context", {"text": TASK, "repo": "api"}),
    ):
        assert len(answer["policies"]) == 2
        assert answer["policies_read"] is True
        assert answer["text"].index("[repo:api/style] Nie ohne Review") < answer["text"].index("[general] Immer testen")
        assert "Notiz des Agenten" in answer["text"]
        assert "Annas eigene" not in answer["text"]
    assert told(agent, "/api/world/context", {"text": TASK})["tokens"] > 10


def test_a_read_only_token_is_told_too(client_for: Callable[..., Any], agent: Any, anna: User) -> None:
    reader = client_for(anna, agent_role="reader", read_only=True)
    assert len(told(reader, "/api/knowledge/preamble", {})["policies"]) == 2


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"task": TASK, "repo": "a b"}, 422, "invalid_repo"),
        ({"task": "a\x00b"}, 422, "invalid_text"),
        ({"task": 5}, 422, None),
        ({"topic": "x"}, 422, None),
        ({"task": TASK, "scope_ref": "group:00000000-0000-0000-0000-000000000000"}, 404, "not_found"),
    ],
)
def test_what_is_refused(agent: Any, body: dict[str, Any], status: int, code: str | None) -> None:
    response = agent.post("/api/knowledge/preamble", body)
    assert response.status_code == status
    assert code in (None, response.json()["code"])


def test_a_stranger_is_told_nothing(client_for: Callable[..., Any], agent: Any, anna: User, clara: User) -> None:
    stranger = client_for(clara, agent_role="coder")
    assert told(stranger, "/api/knowledge/preamble", {"task": TASK})["text"] == ""
    response = stranger.post("/api/knowledge/preamble", {"scope_ref": f"user:{anna.sub}"})
    assert response.status_code == 404


def test_it_is_on_record_that_an_agent_read_it(agent: Any) -> None:
    told(agent, "/api/knowledge/preamble", {"task": TASK})
    told(agent, "/api/tools/get_preamble", {"task": TASK})
    for route in ("read_preamble", "tools.get_preamble"):
        assert AuditEntry.objects.filter(kind="read", details__route=route, details__status="200").exists()


def test_where_the_rules_cannot_be_read_the_run_knows(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**named: Any) -> Any:
        raise OperationalError("gone")

    monkeypatch.setattr(policies, "active", broken)
    for path, body in (("/api/knowledge/preamble", {"task": TASK}), ("/api/world/context", {"text": TASK})):
        answer = told(agent, path, body)
        assert (answer["policies_read"], answer["policies"]) == (False, [])
        assert "konnten nicht gelesen werden" in answer["text"]
    tool = told(agent, "/api/tools/get_preamble", {"task": TASK})
    assert tool["data"]["policies_read"] is False
