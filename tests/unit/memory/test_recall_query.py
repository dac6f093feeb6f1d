"""A question taken apart: what is kept, what is asked for, whom and what time it names."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.selectors.recall import forms, query
from gedaechtnis.memory.selectors.recall.periods import HELD, Anchor, Period, anchors, held, nearness, periods
from gedaechtnis.memory.selectors.recall.query import Intent

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_it_refuses_an_empty_question(text: str) -> None:
    with pytest.raises(Problem) as caught:
        query.keep(text)
    assert (caught.value.code, caught.value.status) == ("empty_query", 422)


def test_it_keeps_the_end_of_a_long_question() -> None:
    kept = query.keep("ERROR worker lost " * 7_000 + "Wann hat Lena Geburtstag?")
    assert kept.is_truncated
    assert kept.used_length == len(kept.text) <= query.MAX_CHARACTERS
    assert kept.text.endswith("Wann hat Lena Geburtstag?")
    assert kept.text.split()[0] in {"ERROR", "worker", "lost"}  # no half a word


def test_it_cuts_between_code_points() -> None:
    kept = query.keep("😀" * 9_000)
    assert kept.text == "😀" * query.MAX_CHARACTERS


def test_it_refuses_a_megabyte() -> None:
    with pytest.raises(Problem) as caught:
        query.keep("ä" * 500_000 + "b" * 100_000)
    assert (caught.value.code, caught.value.status) == ("too_large", 413)


def test_it_looks_up_each_word_once_and_of_too_many_the_last() -> None:
    assert query.terms("Tee und Kuchen, Tee!") == ("kuch", "tee")
    assert query.terms(" ".join(f"w{n}" for n in range(500)))[-1] == "w499"
    assert len(query.terms(" ".join(f"w{n}" for n in range(500)))) == query.MAX_LEXEMES


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Wann hat Lena Geburtstag?", Intent.TIME),
        ("Seit wann wohnt Tim in Kiel?", Intent.TIME),
        ("Wie lange dauert die Kur?", Intent.TIME),
        ("An welchem Tag kommt der Handwerker?", Intent.TIME),
        ("When did Ann move?", Intent.TIME),
        ("How long did the trip take?", Intent.TIME),
        ("Wer hat den Kuchen gebacken?", Intent.NAME),
        ("Wo liegt der Schlüssel?", Intent.NAME),
        ("In welcher Stadt wohnt Tim?", Intent.NAME),
        ("Wie heißt der Hund?", Intent.NAME),
        ("Which city did she visit?", Intent.NAME),
        ("Whose bike is it?", Intent.NAME),
        ("Was isst Lena gern?", Intent.OTHER),
        ("What does Ann like?", Intent.OTHER),
    ],
)
def test_it_tells_what_kind_of_answer_is_wanted(text: str, wanted: Intent) -> None:
    assert query.intent(text) is wanted


@pytest.mark.parametrize("text", ["Wo hat Tim früher gewohnt?", "Who was her former boss?", "Wie war die alte Nummer?"])
def test_it_sees_that_what_is_over_is_asked_for(text: str) -> None:
    assert query.asks_of_earlier(text)
    assert not query.asks_of_earlier("Wo wohnt Tim?")
    assert not query.asks_of_earlier("How old is Tim?")


@pytest.mark.parametrize("text", ["Wo war sie im Sommer 2024?", "Where was she in summer 2024?"])
@pytest.mark.parametrize(
    ("first", "after", "fits"),
    [
        (date(2024, 7, 1), None, 1.0),
        (date(2010, 1, 1), date(2024, 8, 1), 1.0),
        (date(2010, 1, 1), None, HELD),
        (None, date(2025, 1, 1), HELD),
        (date(2024, 9, 1), None, 0.0),
        (None, date(2024, 6, 1), 0.0),
        (None, None, 0.0),
    ],
)
def test_a_fact_fits_a_time_it_began_ended_or_held_in(
    text: str, first: date | None, after: date | None, fits: float
) -> None:
    assert held(first, after, periods(text, now=NOW, zone=BERLIN)) == fits


def test_it_offers_runs_of_words_as_names() -> None:
    keys = query.name_keys("Wann hat Lena Meyers Schwester Geburtstag?")
    assert keys["lena meyer"] == "Lena Meyers"
    assert keys["lena"] == "Lena"
    assert "hat" not in keys
    assert "wann hat lena" not in keys


def test_it_cuts_names_with_their_endings() -> None:
    assert query.without("Wie heißt Lenas Hund, und mag Lena ihn?", ["Lena"]).split() == [
        "Wie", "heißt", "Hund,", "und", "mag", "ihn?",
    ]  # fmt: skip
    assert query.without("What is Tim's job at Timken?", ["Tim"]).split() == ["What", "is", "job", "at", "Timken?"]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What did Tim tell Lena?", {"Tim"}),
        ("Was hat Lena über Tims Umzug gesagt?", {"Lena"}),
        ("What do Lena and Tim have in common?", {"Lena", "Tim"}),
        ("Wann waren Tim, Lena und Ole zuletzt wandern?", {"Tim", "Lena", "Ole"}),
        ("Is Tim's or Lena's flat larger than Ole's?", {"Tim", "Lena"}),
        ("Who called?", set()),
    ],
)
def test_it_tells_whom_a_question_is_about(text: str, about: set[str]) -> None:
    assert query.foremost(text, ["Lena", "Tim", "Ole"]) == about
    assert query.foremost(text, []) == frozenset()


def test_it_asks_as_those_it_names_would_say_it() -> None:
    assert query.told_by("What did Tim say about Tim's job at Timken?", ["Tim"]) == (
        "What did I say about my job at Timken?"
    )
    assert query.told_by("Was sagt Tim über die Arbeit?", ["Tim"]) == "Was sagt Tim über die Arbeit?"
    assert query.told_by("What did Tim say?", []) == "What did Tim say?"


@pytest.mark.parametrize(
    ("question", "ways"),
    [
        ("When did Tim move?", ("When did I move?", "I move", "move")),
        ("In which city does Tim's aunt live?", ("In which city does my aunt live?", "city does my aunt live")),
        ("Wie viele Katzen hat Tim?", ("Wie viele Katzen hat Tim?", "Katzen hat Tim", "Katzen hat")),
        ("Wo wohnt Lena?", ("Wo wohnt Lena?", "wohnt Lena")),
        ("Lena Umzug", ("Lena Umzug",)),
        ("Whatever, Watson", ("Whatever, Watson",)),
        ("Wo?", ("Wo?",)),
    ],
)
def test_a_question_is_put_as_a_statement_too(question: str, ways: tuple[str, ...]) -> None:
    assert query.phrasings(question, ["Tim"])[: len(ways)] == ways
    assert all(way.strip() for way in query.phrasings(question, ["Tim"]))


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("Was war letzten Sommer?", date(2026, 6, 1), date(2026, 9, 1)),
        ("What did we do last summer?", date(2026, 6, 1), date(2026, 9, 1)),
        ("im Winter 2022", date(2022, 12, 1), date(2023, 3, 1)),
        ("next spring", date(2027, 3, 1), date(2027, 6, 1)),
        ("Was haben wir im Mai 2023 gemacht?", date(2023, 5, 1), date(2023, 6, 1)),
        ("in May 2023", date(2023, 5, 1), date(2023, 6, 1)),
        ("On 7 May 2023?", date(2023, 5, 7), date(2023, 5, 8)),
        ("am 7. Mai 2023", date(2023, 5, 7), date(2023, 5, 8)),
        ("last week", date(2026, 11, 23), date(2026, 11, 30)),
        ("letzte Woche", date(2026, 11, 23), date(2026, 11, 30)),
        ("gestern", date(2026, 11, 29), date(2026, 11, 30)),
        ("letzten Freitag", date(2026, 11, 27), date(2026, 11, 28)),
        ("2021", date(2021, 1, 1), date(2022, 1, 1)),
        ("Was ist für nächste Woche geplant?", date(2026, 12, 7), date(2026, 12, 14)),
    ],
)
def test_it_reads_times_as_ranges_of_days(text: str, first: date, after: date) -> None:
    assert [(period.first, period.after) for period in periods(text, now=NOW, zone=BERLIN)] == [(first, after)]


def test_it_finds_no_time_where_none_is_named() -> None:
    assert periods("Wo wohnt Lena?", now=NOW, zone=BERLIN) == ()


def test_it_ranks_days_by_how_near_they_are() -> None:
    may = Period(date(2023, 5, 1), date(2023, 6, 1))
    the_seventh = Period(date(2023, 5, 7), date(2023, 5, 8), is_exact=True)
    assert nearness(date(2023, 5, 20), [may]) == 1
    assert nearness(date(2023, 6, 10), [may]) == 0.5
    assert nearness(date(2023, 7, 10), [may]) == 0
    assert nearness(date(2023, 5, 7), [the_seventh]) == 1
    assert 0 < nearness(date(2023, 5, 12), [the_seventh]) < nearness(date(2023, 5, 8), [the_seventh]) < 1
    assert nearness(date(2023, 5, 6), [the_seventh]) < 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What did I do before I moved?", Anchor("before", "lives_in")),
        ("Was habe ich gemacht, bevor ich umgezogen bin?", Anchor("before", "lives_in")),
        ("seit ich bei Bosch arbeite", Anchor("after", "works_at")),
        ("nach unserer Hochzeit", Anchor("after", "married_to")),
    ],
)
def test_it_reads_turns_of_life_as_times(text: str, found: Anchor) -> None:
    assert anchors(text) == (found,)


def test_it_takes_a_question_for_the_time_for_none() -> None:
    assert anchors("Seit wann arbeitet Lena bei Bosch?") == ()
    assert anchors("Since when has she worked there?") == ()


@pytest.mark.parametrize("text", ["Last week I won", "Gestern war ich dort", "am 3. Mai", "vor zwei Wochen", "in 2019"])
def test_it_sees_that_a_turn_says_when(text: str) -> None:
    assert forms.says_when(text)
    assert not forms.says_when("I like tea, und Kuchen auch")


def test_it_sees_names_in_turns() -> None:
    assert forms.says_name("We went to Rome together")
    assert forms.says_name("Wir waren in Hamburg")
    assert not forms.says_name("Der Hund frisst das Futter nicht")
    assert not forms.says_name("The dog sleeps")


def test_it_tells_asking_from_telling() -> None:
    assert forms.is_short_question("Und wie geht es dir?")
    assert not forms.is_short_question("Gut, danke.")
    assert forms.is_first_person("Da habe ich geschlafen")
    assert not forms.is_first_person("Da hat sie geschlafen")


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("Wie heißt Lenas Hund?", True),
        ("Wie hieß die Firma früher?", True),
        ("What is her dog called?", True),
        ("Der Name der Schule", True),
        ("Wo wohnt Anna?", False),
        ("Who lives in Ulm?", False),
    ],
)
def test_a_name_is_asked_for_only_where_it_is_said(text: str, is_asked: bool) -> None:
    assert query.asks_for_names(text) is is_asked
