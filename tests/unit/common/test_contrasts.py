"""In what two nearly equal sentences contradict each other, in German and English."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gedaechtnis.common.contrasts import Contrast, contrasts
from gedaechtnis.common.likeness import essence, overlap, trigrams

PAIRS = Path(__file__).parents[2] / "data" / "statements"
NUMBER, DATE, TIME, NAME, NEGATION = Contrast.NUMBER, Contrast.DATE, Contrast.TIME, Contrast.NAME, Contrast.NEGATION


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Der Dienst hat zwei Knoten.", "Der Dienst hat 3 Knoten.", {NUMBER}),
        ("Der Dienst hat zwei Knoten.", "Der Dienst hat 2 Knoten.", set()),
        ("There are twelve shards.", "There are eleven shards.", {NUMBER}),
        ("It expires after fifteen minutes.", "It expires after 45 minutes.", {NUMBER}),
        ("Es läuft nach dreißig Minuten ab.", "Es läuft nach 30 Minuten ab.", set()),
        ("Up to a hundred users.", "Up to ninety users.", {NUMBER}),
        ("Das Limit ist 1.000.", "Das Limit ist 1000.", set()),
        ("The limit is 1,000.", "The limit is 1.5.", {NUMBER}),
        ("Das sind 2,50 Euro.", "Das sind 2.50 Euro.", set()),
        ("We run Python 3.11.2.", "We run Python 3.12.2.", {NUMBER}),
        ("Ein Knoten reicht.", "Knoten reichen.", set()),
        ("Backups are kept.", "Backups are kept for 30 days.", set()),
        ("Abgabe am 3. April 2026.", "Abgabe am 03.04.2026.", set()),
        ("Abgabe am 3. April 2026.", "Abgabe am 4. April 2026.", {DATE}),
        ("Due on March 12, 2027.", "Due on 2027-03-13.", {DATE}),
        ("Immer montags.", "Jeden Montag.", set()),
        ("Every Monday.", "On Tuesdays.", {DATE}),
        ("Im März ist Inventur.", "Im Mai ist Inventur.", {DATE}),
        ("Beginn um 9:15 Uhr.", "Beginn um 09:15.", set()),
        ("Beginn um 9 Uhr.", "Beginn um 10 Uhr.", {TIME}),
        ("It starts at 3 pm.", "It starts at 15:00.", set()),
        ("It starts at 12 am.", "It starts at 12:00 pm.", {TIME}),
        ("Anna leitet das Team.", "Ben leitet das Team.", {NAME}),
        ("Das Team leitet Anna.", "Das Team leitet Ben.", {NAME}),
        ("We deploy with Ansible.", "We deploy with Salt.", {NAME}),
        ("Das neue Treffen ist kurz.", "Die neue Besprechung ist kurz.", set()),
        ("Backups run nightly.", "Snapshots run nightly.", set()),
        ("The branch is `main`.", "The branch is `develop`.", {NAME}),
        ("Mail goes to ops@a.example.", "Mail goes to dev@a.example.", {NAME}),
        ("Das ist erlaubt.", "Das ist nicht erlaubt.", {NEGATION}),
        ("Das gilt noch.", "Das gilt nicht mehr.", {NEGATION}),
        ("Es gibt Ausnahmen.", "Es gibt keine Ausnahmen.", {NEGATION}),
        ("Wir warten das immer.", "Wir warten das nie.", {NEGATION}),
        ("It is supported.", "It is no longer supported.", {NEGATION}),
        ("It does scale.", "It doesn’t scale.", {NEGATION}),
        ("It never fails.", "It does not fail.", set()),
        ("Höchstens 5 Stück.", "Nicht mehr als 5 Stück.", set()),
        ("It writes CSV.", "It writes not only CSV.", set()),
        ("See No. 5.", "See 5.", set()),
        ("", "", set()),
    ],
)
def test_tells_what_differs(one: str, other: str, expected: set[Contrast]) -> None:
    assert contrasts(one, other) == expected
    assert contrasts(other, one) == expected


@pytest.mark.parametrize(
    "same",
    [
        "the API is stable",
        "The  API is stable.",
        "„The API is stable“",
        "\tThe API is STABLE!! ",
        "Ｔhe API is stable…",
    ],
)
def test_the_essence_leaves_out_what_changes_nothing(same: str) -> None:
    assert essence(same) == essence("The API is stable.")


def test_the_essence_keeps_what_says_something() -> None:
    assert essence("Is the API stable?") != essence("Is the API stable")
    assert essence("1.5 GB") != essence("15 GB")


def test_pieces_are_those_of_postgres() -> None:
    assert trigrams("a word") == {"  a", " a ", "  w", " wo", "wor", "ord", "rd "}
    assert overlap(trigrams("word"), trigrams("two words")) == pytest.approx(4 / 11)
    assert overlap(frozenset(), frozenset()) == 0


@pytest.mark.parametrize(
    ("name", "hits", "alarms"), [("pairs.csv", (36, 34), (40, 0)), ("fresh.csv", (15, 12), (15, 0))]
)
def test_contradictions_among_pairs_people_wrote_are_found_and_rewordings_are_not(
    name: str, hits: tuple[int, int], alarms: tuple[int, int]
) -> None:
    """The figures in docs/reference/knowledge.md are made of these."""
    with (PAIRS / name).open(encoding="utf-8") as file:
        pairs = list(csv.DictReader(file, delimiter=";"))
    found: dict[str, list[bool]] = {"0": [], "1": []}
    for pair in pairs:
        is_alike = overlap(trigrams(pair["one"]), trigrams(pair["other"])) >= 0.6
        found[pair["contradicts"]].append(is_alike and bool(contrasts(pair["one"], pair["other"])))
    assert (len(found["1"]), sum(found["1"])) == hits
    assert (len(found["0"]), sum(found["0"])) == alarms
