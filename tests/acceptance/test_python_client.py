"""The Python client speaks with a real server; the documents' examples run as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gedaechtnis.client import Forbidden, Gedaechtnis, Invalid, Unauthorized
from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token
from tests.stack import Stack

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.fixture
def memory(anna: User, stack: Stack) -> Iterator[Gedaechtnis]:
    _token, secret = create_token(user=anna, name="client")
    with Gedaechtnis(stack.url, secret, language="en", timeout=30) as memory:
        yield memory


def run(document: str, stack: Stack, secret: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All examples of a document, one after the other."""
    monkeypatch.setenv("TOKEN", secret)
    examples = _PYTHON.findall((ROOT / document).read_text(encoding="utf-8"))
    assert examples
    names: dict[str, Any] = {"__name__": "example"}
    for example in examples:
        exec(compile(example.replace("http://127.0.0.1:8000", stack.url), document, "exec"), names)  # noqa: S102
    return names


def test_the_guide_runs_as_written(anna: User, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    _token, secret = create_token(user=anna, name="guide")
    names = run("docs/howto/python-client.md", stack, secret, monkeypatch)
    assert names["told"].outcome == "committed"
    assert [result.outcome for result in names["results"]] == ["committed", "committed"]
    assert "- feeding_time_evening: 18:30" in names["block"].text
    assert [fact.object.value for fact in names["known"].items] == ["19:00"]
    assert names["everything"].startswith(b"{")
    assert names["posted"].message_id
    assert "find_entity" in names["names"]


def test_the_example_of_the_readme_runs(anna: User, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    _token, secret = create_token(user=anna, name="readme")
    names = run("README.md", stack, secret, monkeypatch)
    assert names["fact"].outcome == "committed"


def test_an_agent_proposes_and_the_person_decides(memory: Gedaechtnis, anna: User, stack: Stack) -> None:
    memory.add_entity("pet", "Luna")
    _token, secret = create_token(user=anna, name="agent", agent_role="assistant")
    with Gedaechtnis(stack.url, secret) as agent:
        guess = agent.add("pet:luna", "likes", "Thunfisch", source="inference")
        other = agent.add("pet:luna", "likes", "Baden", source="inference")
        with pytest.raises(Forbidden) as caught:
            agent.accept(str(guess.proposal_id))
    assert (guess.outcome, caught.value.code) == ("pending", "person_required")
    assert [proposal.id for proposal in memory.proposals()] == [guess.proposal_id, other.proposal_id]
    assert memory.accept(str(guess.proposal_id)).outcome == "committed"
    memory.reject(str(other.proposal_id), reason="no")
    assert [fact.object.value for fact in memory.facts("pet:luna", predicate="likes").items] == ["Thunfisch"]


def test_the_same_key_again_is_done_once(memory: Gedaechtnis) -> None:
    first = memory.add("me", "likes", "Tee", run_id="r1")
    again = memory.add("me", "likes", "Tee", run_id="r1")
    assert (first.outcome, again.outcome) == ("committed", "duplicate")


def test_refusals_name_code_and_field(memory: Gedaechtnis, stack: Stack) -> None:
    with pytest.raises(Invalid) as caught:
        memory.propose([{"op": "assert_fact", "subject_ref": "me", "predicate": "age"}])
    assert (caught.value.code, caught.value.field) == ("missing", "operations.0.object_value")
    with Gedaechtnis(stack.url, "wrong") as stranger, pytest.raises(Unauthorized):
        stranger.get("me")
