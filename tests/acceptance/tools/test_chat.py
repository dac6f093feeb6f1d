"""A question whose form nobody knows is looked for by its words."""

from __future__ import annotations

import pytest

from gedaechtnis.chat import agent
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("In welchem Format und in welcher bevorzugten Sprache?", "bevorzugte Sprache"),
        ("Welche Blockaden und welcher Status?", "blocked"),
    ],
)
def test_what_its_words_find_is_told_with_date_and_source(basti: User, question: str, told: str) -> None:
    reply = agent.answer(principal=person(basti), text=question)
    assert reply is not None
    assert told in reply.text
    assert "👤" in reply.text
    assert reply.fact_ids


def test_where_nothing_is_found_the_agent_says_so(basti: User) -> None:
    reply = agent.answer(principal=person(basti), text="Welcher Staubsauger?")
    assert reply is not None
    assert reply.fact_ids == ()
    assert reply.text.startswith("Darüber weiß ich")
