"""The Python client speaks with a real server; the documents' examples run as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gedaechtnis.client import Conflict, ConnectionFailed, Forbidden, Gedaechtnis, Invalid, Unauthorized
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.memory.projecting import index
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
    assert names["seen"].ref == f"obs:{names['seen'].id}"
    assert names["before"].version == 0


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


def test_notes_of_an_older_version_are_not_written_over(memory: Gedaechtnis) -> None:
    assert memory.notes().version == 0
    assert memory.update_notes("eins").version == 1
    with pytest.raises(Conflict) as caught:
        memory.update_notes("zwei")
    assert caught.value.code == "version_conflict"
    assert memory.update_notes("zwei", based_on_version=1).text == "zwei"


def test_a_search_finds_and_goes_on_by_its_cursor(memory: Gedaechtnis, anna: User) -> None:
    memory.add_entity("pet", "Mimi")
    memory.add("pet:mimi", "feeding_time_evening", "18:30", valid_from="2026-03-01")
    memory.add("pet:mimi", "feeding_time_evening", "19:00", valid_from="2026-05-01")
    index.run(scope_ref=person(anna).default_scope)
    first = memory.search("When is Mimi fed in the evening?", source_kinds=["fact"], limit=1)
    assert "19:00" in first.hits[0].text
    assert not first.hits[0].is_superseded
    (then,) = memory.search(
        "When is Mimi fed in the evening?", source_kinds=["fact"], limit=1, cursor=first.cursor
    ).hits
    assert "18:30" in then.text
    assert (then.is_superseded, then.superseded_by) == (True, first.hits[0].fact_id)
    with pytest.raises(Invalid) as caught:
        memory.search(" ")
    assert (caught.value.code, caught.value.field) == ("empty_query", "query")


def test_who_is_not_there_is_named() -> None:
    nobody = Gedaechtnis("http://127.0.0.1:9", "gd_any", retries=0)
    with nobody, pytest.raises(ConnectionFailed, match=r"http://127\.0\.0\.1:9/? gives no answer"):
        nobody.get("me")


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
