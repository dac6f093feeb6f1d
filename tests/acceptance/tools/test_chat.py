"""A question whose form nobody knows is looked for by its words."""

from __future__ import annotations

import pytest

from gedaechtnis.chat import agent, episodes
from gedaechtnis.chat import services as chats
from gedaechtnis.chat.models import Message
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import MAX_CLEARANCE, person
from gedaechtnis.memory.projecting import index
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Projection


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


def tell(user: User, *texts: str) -> None:
    """Write into the chat, and let it become findable."""
    own = person(user)
    chat = chats.main_chat(principal=own)
    for text in texts:
        chats.post_message(principal=own, chat_id=chat.id, text=text)
    episodes.project(scope_ref=own.default_scope)
    index.run(scope_ref=own.default_scope)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Wo steht mein Fahrrad?", "„Mein Fahrrad steht im Keller“"),
        ("Wo habe ich letzte Woche übernachtet?", "„Letzte Woche habe ich in Leipzig übernachtet“"),
        ("Hast du irgendwas über mein Fahrrad?", "„Mein Fahrrad steht im Keller“"),
    ],
)
def test_what_was_said_and_states_no_fact_is_quoted(anna: User, question: str, told: str) -> None:
    tell(anna, "Mein Fahrrad steht im Keller", "Letzte Woche habe ich in Leipzig übernachtet", question)
    reply = agent.answer(principal=person(anna), text=question)
    assert reply is not None
    first, *lines = reply.text.splitlines()
    assert first == "Vielleicht meinst du das:"
    assert [line.partition(" · ")[0] for line in lines] == [f"– {told}"]
    assert reply.quotes


@pytest.mark.parametrize(
    "question",
    ["Wie heißt die Hauptstadt von Frankreich?", "Was soll ich heute kochen?", "Kannst du mir einen Witz erzählen?"],
)
def test_nothing_is_quoted_where_nothing_fits(anna: User, question: str) -> None:
    tell(anna, "Mein Fahrrad steht im Keller", "Letzte Woche habe ich in Leipzig übernachtet", question)
    reply = agent.answer(principal=person(anna), text=question)
    assert reply is not None
    assert not reply.quotes


def test_an_answer_that_quotes_is_seen_by_full_clearance_alone(anna: User) -> None:
    tell(anna, "Mein Fahrrad steht im Keller", "Wo steht mein Fahrrad?")
    tell(anna, "Wo steht mein Fahrrad?")
    with scope(person(anna)):
        levels = list(Message.objects.filter(role="assistant").order_by("seq").values_list("classification", flat=True))
    assert levels == [2, MAX_CLEARANCE]


def test_what_the_agent_answers_is_not_found_as_if_it_had_been_said(anna: User) -> None:
    tell(anna, "Welcher Staubsauger?")
    with scope(person(anna)):
        texts = list(Projection.objects.filter(source_kind="episode").values_list("text", flat=True))
    assert texts == ["Welcher Staubsauger?"]
