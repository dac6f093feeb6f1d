"""Relations in questions: whose they are, how they are read in both languages, and what is none."""

from __future__ import annotations

import pytest

from gedaechtnis.memory.selectors.recall import relations
from gedaechtnis.memory.selectors.recall.relations import Relation

NAMES = ("tim", "tim vogt", "anna", "lena", "hans", "vogt", "luna", "lastenrad", "mowe", "björn", "brandt")


def told(relation: Relation | str | None) -> str:
    """`tim > sibling_of`, `me > owns > …`: from whose it is on; `<` where the owner is the subject."""
    if relation is None:
        return "me"
    if isinstance(relation, str):
        return relation
    way = "<" if relation.role.owner_first else ">"
    return f"{told(relation.owner)} {way} {'former ' * relation.is_former}{relation.role.predicates[0]}"


def read(text: str) -> list[str]:
    return [told(relation) for relation in relations.read(text, NAMES).relations]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # German: genitive, "von", articles, adjectives, inflected
        ("Wo wohnt Tims Schwester?", "tim > sibling_of"),
        ("wo wohnt tims schwester", "tim > sibling_of"),
        ("Wo wohnt die Schwester von Tim?", "tim > sibling_of"),
        ("Wo wohnt die Schwester von Tim Vogt?", "tim vogt > sibling_of"),
        ("Was mag Hans' Bruder?", "hans > sibling_of"),
        ("Wo arbeitet Annas neuer Chef?", "anna > knows"),
        ("Wie heißt der Hund des Bruders von Anna?", "anna > sibling_of > owned_by"),
        ("Wo wohnt der Besitzer des Lastenrads?", "lastenrad < owned_by"),
        ("Wer ist der Eigentümer der Möwe?", "mowe < owned_by"),
        ("Wogegen ist Annas Katze allergisch?", "anna > owned_by"),
        ("Wann hat Lenas Mutter Geburtstag?", "lena > parent_of"),
        ("Wie alt ist das Kind von Tim?", "tim < parent_of"),
        ("Wo sitzt die Firma, in der Anna arbeitet?", "anna < works_at"),
        ("Wie groß ist die Stadt, wo Tim wohnt?", "tim < lives_in"),
        ("Wo ist Tims Arbeitgeber?", "tim < works_at"),
        ("Was macht Björns Kollegin?", "björn > colleague_of"),
        ("Wo wohnt meine Schwester?", "me > sibling_of"),
        ("Wo wohnt die Schwester von mir?", "me > sibling_of"),
        ("Wann sind meiner Frau Blumen lieber?", "me > married_to"),
        ("Wo wohnt die Mutter meiner Frau?", "me > married_to > parent_of"),
        ("Wo wohnt Tims frühere Frau?", "tim > former married_to"),
        ("Wo wohnt die Ex-Frau von Tim?", "tim > former married_to"),
        # English: 's, of, clauses
        ("Where does Tim's sister live?", "tim > sibling_of"),
        ("Where does Tim’s older sister live?", "tim > sibling_of"),
        ("Where does the sister of Tim live?", "tim > sibling_of"),
        ("What is the name of my brother's dog?", "me > sibling_of > owned_by"),
        ("Where does the mother of Tim's wife live?", "tim > married_to > parent_of"),
        ("Where does the owner of Luna live?", "luna < owned_by"),
        ("What does the company where Anna works sell?", "anna < works_at"),
        ("What does the company that Anna works for sell?", "anna < works_at"),
        ("What does the company Anna works for sell?", "anna < works_at"),
        ("What does the company where I work sell?", "me < works_at"),
        ("What does the company where my sister works sell?", "me > sibling_of < works_at"),
        ("Where does Anna's ex-husband live?", "anna > former married_to"),
        ("Where is Anna's former employer?", "anna < former works_at"),
        ("Does Tim's guinea pig bite?", "tim > owned_by"),
    ],
)
def test_a_relation_is_read_with_whose_it_is(text: str, wanted: str) -> None:
    assert read(text) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        "Wo wohnt Tim?",
        "Wo wohnt Frau Vogt?",
        "Was sagt Frau Brandt zu Tim?",
        "In welcher Stadt wohnt Tim?",
        "Which company does Anna work for?",
        "What kind of music does Tim like?",
        "Hat Tim eine Schwester?",
        "Who is a friend?",
        "Wo wohnt Jens' Schwester?",
        "Mag der Hund Tim?",
        "seine Schwester",
        "",
        "😀",
    ],
)
def test_what_only_looks_alike_is_none(text: str) -> None:
    assert read(text) == []


def test_several_relations_are_read() -> None:
    assert read("Kennt Tims Schwester den Partner von Lena?") == ["tim > sibling_of", "lena > partner_of"]
    assert read("Mag Tims Hund Tims Hund?") == ["tim > owned_by"]


def test_whoever_is_named_beside_stays_in_the_rest() -> None:
    reading = relations.read("Wohnt Tim bei Tims Schwester oder bei meiner Mutter?", NAMES)
    assert reading.rest(reading.relations) == "Wohnt Tim bei Schwester oder bei Mutter"
    assert reading.rest(()) == "Wohnt Tim bei Tims Schwester oder bei meiner Mutter"


def test_a_long_row_of_relations_is_read_as_far_as_it_is_meant() -> None:
    text = "Who is " + "my sister's " * 150 + "dog?"
    assert all(told(relation).count(">") <= 3 for relation in relations.read(text, NAMES).relations)
