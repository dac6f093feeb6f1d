"""What the agent without a model answers: exactly what was asked, from facts, in the reader's language."""

from __future__ import annotations

from typing import Any

import pytest

from gedaechtnis.identity.models import User
from tests.acceptance.api.support import LUNA, NUERNBERG, fact, propose, relation

ANNA = {"op": "upsert_entity", "id_hint": "person:anna-huber", "kind": "person", "canonical_name": "Anna Huber"}
SISTER = {"op": "upsert_entity", "id_hint": "person:eva", "kind": "person", "canonical_name": "Eva"}
ULM = {"op": "upsert_entity", "id_hint": "place:ulm", "kind": "place", "canonical_name": "Ulm"}


@pytest.fixture
def world(api: Any) -> None:
    results = propose(
        api, LUNA, ANNA, SISTER, NUERNBERG, ULM,
        relation("person:anna-huber", "lives_in", "place:ulm", valid_from="2019", valid_to="2024-04-01"),
        relation("person:anna-huber", "lives_in", "place:nuernberg", valid_from="2024-04-01"),
        fact("born_on", "1990-04-03", subject="person:anna-huber"),
        fact("allergic_to", "Erdnüsse", subject="person:anna-huber"),
        relation("person:eva", "sibling_of", "me"),
        fact("age", 7, subject="person:eva"),
        relation("pet:luna", "owned_by", "me"),
        fact("likes", "Thunfisch", polarity=False),
    )  # fmt: skip
    assert {result["outcome"] for result in results} == {"committed"}


def ask(api: Any, text: str) -> str:
    reply = api.post("/api/chats/main/messages", {"text": text}).json()["reply"]
    return str(reply["text"])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wo wohnt Anna?", "Anna Huber wohnt in Nürnberg (seit 1. April 2024)."),
        ("Wo hat Anna früher gewohnt?", "Anna Huber wohnt in Ulm (2019 – 1. April 2024)."),
        ("Wer wohnt in Nürnberg?", "Anna Huber wohnt in Nürnberg (seit 1. April 2024)."),
        ("Wann hat Anna Huber Geburtstag?", "Anna Huber ist am 3. April 1990 geboren."),
        ("Wogegen ist Anna allergisch?", "Anna Huber ist allergisch gegen Erdnüsse."),
        ("Was mag Luna?", "Luna mag Thunfisch nicht."),
        ("Wie alt ist meine Schwester?", "Eva ist 7 Jahre alt."),
        ("Wie alt ist Luna?", "Das weiß ich von Luna noch nicht."),
        ("Wo wohnt Quirin?", "Darüber weiß ich noch nichts. Erzähl es mir, dann merke ich es mir."),
        ("Wie geht es dir?", "Ich bin hier nur das Gedächtnis: Frag mich nach dem, was du mir erzählt hast."),
    ],
)
def test_a_question_is_answered_with_just_that(world: None, api: Any, question: str, answer: str) -> None:
    assert ask(api, question) == answer


def test_everything_about_one_thing_is_a_list(world: None, api: Any) -> None:
    lines = ask(api, "Was weißt du über Luna?").splitlines()
    assert lines[0] == "Über Luna weiß ich 2 Dinge:"
    assert "– Luna mag Thunfisch nicht" in lines


def test_who_asks_may_be_asked_about(world: None, api: Any) -> None:
    assert "Anna ist Geschwister von Eva" in ask(api, "Was weißt du über mich?")
    assert ask(api, "Wer ist meine Schwester?").startswith("Eva ist Geschwister von")


def test_namesakes_are_both_told(world: None, api: Any) -> None:
    other = {"op": "upsert_entity", "id_hint": "person:anna", "kind": "person", "canonical_name": "Anna"}
    propose(api, other, relation("person:anna", "lives_in", "place:ulm"))
    lines = ask(api, "Wo wohnt Anna?").splitlines()
    assert lines == ["– Anna wohnt in Ulm", "– Anna Huber wohnt in Nürnberg (seit 1. April 2024)"]


def test_what_an_answer_rests_on_is_told_in_the_language_of_its_reader(world: None, api: Any, anna: User) -> None:
    ask(api, "Wann hat Anna Geburtstag?")
    anna.language = "en"
    anna.save(update_fields=["language"])
    facts = api.get("/api/chats/main/messages").json()["items"][-1]["facts"]
    assert [fact["label"] for fact in facts] == ["Anna Huber was born on 3 April 1990"]
