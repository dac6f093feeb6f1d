"""Which questions are understood, and what each asks about: a labelled table that grows with every miss."""

from __future__ import annotations

import pytest

from gedaechtnis.chat import questions

UNDERSTOOD = {
    "Wo wohnt Anna?": ("Anna", "lives_in"),
    "Wo wohnst du eigentlich?": ("du", "lives_in"),
    "Wo wohnt denn meine Schwester?": ("meine Schwester", "lives_in"),
    "Seit wann wohnt Anna in Ulm?": ("Anna", "lives_in"),
    "Wer wohnt in Nürnberg?": ("Nürnberg", "lives_in inward"),
    "Wer arbeitet bei Siemens?": ("Siemens", "works_at inward"),
    "Wo hat Anna früher gewohnt?": ("Anna", "lives_in former"),
    "Wo arbeite ich?": ("ich", "works_at"),
    "Wann hat Anna Geburtstag?": ("Anna", "born_on"),
    "Wann ist Annas Geburtstag?": ("Annas", "born_on"),
    "Wie alt ist Mia?": ("Mia", "age"),
    "Wogegen ist Mia allergisch?": ("Mia", "allergic_to"),
    "Wann bekommt Luna Futter?": ("Luna", "feeding_time_morning"),
    "Was mag Luna nicht?": ("Luna", "likes"),
    "Wem gehört Luna?": ("Luna", "owned_by"),
    "Was ist Anna von Beruf?": ("Anna", "job_title"),
    "Wie ist Annas Telefonnummer?": ("Annas", "phone"),
    "Was weißt du über Luna?": ("Luna", "everything"),
    "Wie heißt meine Frau?": ("meine Frau", "identity"),
    "Wer ist Bello?": ("Bello", "identity"),
    "Where does Anna live?": ("Anna", "lives_in"),
    "Who lives in Leeds?": ("Leeds", "lives_in inward"),
    "Where did Tom live before?": ("Tom", "lives_in former"),
    "When is Tom's birthday?": ("Tom's", "born_on"),
    "When's Tom's birthday?": ("Tom's", "born_on"),
    "How old am I?": ("I", "age"),
    "What is Kate allergic to?": ("Kate", "allergic_to"),
    "When does Rex get fed?": ("Rex", "feeding_time_morning"),
    "What does Tom do?": ("Tom", "job_title"),
    "What's my husband's name?": ("my husband's", "identity"),
    "What do you know about Rex?": ("Rex", "everything"),
}


@pytest.mark.parametrize(("text", "expected"), UNDERSTOOD.items(), ids=UNDERSTOOD)
def test_a_question_is_understood(text: str, expected: tuple[str, str]) -> None:
    assert questions.is_question(text)
    question = questions.read(text)
    assert question is not None
    assert (question.about, _kind(question)) == expected


def _kind(question: questions.Question) -> str:
    ask = question.ask
    if ask is None:
        return "identity" if question.identifies else "everything"
    return ask.predicates[0] + " inward" * ask.inward + " former" * ask.former


@pytest.mark.parametrize(
    "text", ["Anna wohnt in Ulm.", "Wie gesagt, Anna wohnt in Ulm.", "Wie schön!", "Luna ist müde"]
)
def test_a_statement_is_no_question(text: str) -> None:
    assert not questions.is_question(text)


@pytest.mark.parametrize(
    ("about", "predicates"),
    [
        ("meine Frau", "married_to partner_of"),
        ("meinem Bruder", "sibling_of"),
        ("Mama", "parent_of"),
        ("my husband's", "married_to partner_of"),
        ("unser Hund", "owned_by"),
    ],
)
def test_a_role_is_read(about: str, predicates: str) -> None:
    role = questions.role_of(about)
    assert role is not None
    assert " ".join(role.predicates) == predicates


@pytest.mark.parametrize("about", ["Anna", "Frau Schmidt", "Hund", "der Mann", "meine Meinung"])
def test_a_name_is_no_role(about: str) -> None:
    assert questions.role_of(about) is None
