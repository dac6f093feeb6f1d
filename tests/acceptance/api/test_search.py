"""Searching through the API: what questions find, with and without search by meaning."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.models import AuditEntry, User
from gedaechtnis.identity.principals import Principal, user_scope
from gedaechtnis.memory import ports
from gedaechtnis.memory.projecting import episodes, index, vectors
from gedaechtnis.memory.projecting.episodes import Episode
from gedaechtnis.memory.selectors.recall import people
from gedaechtnis.scoping.context import scope
from tests.acceptance.api.support import LUNA, assert_problem, fact, propose

SEARCH = "/api/world/search"
HOUSE = {"op": "upsert_entity", "id_hint": "topic:haus", "kind": "topic", "canonical_name": "Haus"}
FIRM = {"op": "upsert_entity", "id_hint": "organisation:firma", "kind": "organisation", "canonical_name": "Firma"}
LENA = {"op": "upsert_entity", "id_hint": "person:lena", "kind": "person", "canonical_name": "Lena"}
NINE = datetime(2030, 3, 1, 9, tzinfo=UTC)


@pytest.fixture(params=["with meaning", "by words alone"])
def meaning(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Every case holds with the bundled model and without any."""
    model = ports.embedding_model()
    if request.param == "by words alone":
        ports.bind_embedding_model(None, ports.model_at)
    yield request.param == "with meaning"
    ports.bind_embedding_model(model, ports.model_at)


def learn(anna: User) -> None:
    """Let what was said be indexed, and get its vectors."""
    scope_ref = user_scope(anna.sub)
    index.run(scope_ref=scope_ref)
    if ports.embedding_model() is not None:
        while vectors.embed_pending(scope_ref=scope_ref).left:
            pass


def find(api: Any, query: str, **asked: Any) -> dict[str, Any]:
    response = api.post(SEARCH, {"query": query, **asked})
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def texts(answer: dict[str, Any], most: int = 10) -> list[str]:
    return [hit["text"] for hit in answer["hits"][:most]]


def notes(*said: str) -> list[dict[str, Any]]:
    return [fact("note", text, subject="topic:haus", statement=text) for text in said]


def say(principal: Principal, *said: tuple[datetime, str]) -> list[UUID]:
    """Messages of one session; their ids."""
    chat_id = uuid7()
    told = [
        Episode(
            message_id=uuid7(), chat_id=chat_id, session_id="", position=place, speaker="Anna", role="user", text=text,
            sent_at=sent_at, external_id=None, scope_ref=principal.default_scope, classification=1,
        )
        for place, (sent_at, text) in enumerate(said)
    ]  # fmt: skip
    episodes.store(principal=principal, episodes=told)
    return [episode.message_id for episode in told]


ENGLISH = (
    "The CI box is the old NUC in the cellar",
    "House automation keeps its DB on the NAS",
    "Ladder is at the neighbours",
    "Meter kq4711 shows 318",
)


@pytest.mark.parametrize("query", ["", " ", "\n"])
def test_case_c72_an_empty_question_is_refused(api: Any, query: str) -> None:
    assert_problem(api.post(SEARCH, {"query": query}), 422, "empty_query", "query")


def test_case_c72_short_and_ordinary_questions(api: Any, anna: User, meaning: bool) -> None:
    propose(api, HOUSE, *notes(*ENGLISH))
    learn(anna)
    for query in ("a", "why", "?", "to be or not to be", "😀🎉"):
        answer = find(api, query)
        assert answer["hits"] == [], query
        assert any(note.startswith("lexical:") for note in answer["missing"])
    box, database, _ladder, meter = ENGLISH
    assert texts(find(api, "CI"))[0] == box
    assert box in texts(find(api, "ci failures"), 3)
    assert database in texts(find(api, "which DB do we use"), 3)
    assert texts(find(api, "kq4711 banana"))[0] == meter
    assert set(texts(find(api, "CI", mode="keyword"))) == {box}


def test_case_c73_of_a_whole_log_the_end_is_used(
    api: Any, anna: User, meaning: bool, caplog: pytest.LogCaptureFixture
) -> None:
    propose(api, HOUSE, LENA, *notes(*ENGLISH), fact("born_on", "1990-04-03", subject="person:lena"))
    learn(anna)
    with caplog.at_level(logging.DEBUG):
        answer = find(api, "ERROR worker lost connection\n" * 4_200 + "Wann hat Lena Geburtstag?")
    assert answer["is_truncated"]
    assert answer["used_length"] <= 2_000
    assert any(hit["ref"] == "person:lena" or "1990" in hit["text"] for hit in answer["hits"][:3])
    assert any("1990" in text or "3. April" in text for text in texts(answer, 3)), texts(answer)
    assert all(len(record.getMessage()) < 1_000 for record in caplog.records if "worker lost" in record.getMessage())
    smileys = find(api, "😀" * 9_000)
    assert smileys["is_truncated"]
    assert smileys["hits"] == []


def test_case_c73_a_megabyte_is_refused_before_any_model_is_asked(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ports.embedding_model()
    assert model is not None
    monkeypatch.setattr(type(model), "embed", lambda *_args, **_named: pytest.fail("the model was asked"))
    assert_problem(api.post(SEARCH, {"query": "a b " * 262_144}), 413, "too_large")


GERMAN = (
    "Die Krankenversicherung meiner Schwester endet im März",
    "Kündigung an die Straße Am Hang geschickt",
    "Kartoffelauflauf gebacken",
    "東京の友人",
)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("Versicherung", 0),
        ("kuendigen", 1),
        ("Kuendigung", 1),
        ("gekündigt", 1),
        ("Strasse", 1),
        ("Auflauf", 2),
        ("友人", 3),
    ],
)
def test_case_c75_german_words_and_unspaced_scripts(
    api: Any, anna: User, meaning: bool, query: str, place: int
) -> None:
    propose(api, HOUSE, *notes(*GERMAN, *ENGLISH))
    learn(anna)
    answer = find(api, query)
    assert GERMAN[place] in texts(answer, 3)
    hit = next(hit for hit in answer["hits"] if hit["text"] == GERMAN[place])
    assert hit["voices"]["lexical"] > 0


def test_case_c22_what_was_replaced_is_marked_and_stands_below(
    api: Any, anna: User, as_anna: Principal, meaning: bool
) -> None:
    old, new = "+49 30 5550101", "+49 30 5550102"
    after = NINE + timedelta(days=30)
    with clock.frozen(NINE):
        (first,) = say(as_anna, (NINE, f"Our support number is {old}"))
        propose(api, FIRM, support_number(old, first, NINE))
    with clock.frozen(after):
        (second,) = say(as_anna, (after, f"Support number changed to {new}"))
        propose(api, support_number(new, second, after))
    with clock.frozen(after + timedelta(days=1)):
        learn(anna)
        today = find(api, "What is the support number?")
        then = find(api, "What is the support number?", as_of=(NINE + timedelta(days=1)).isoformat())
    assert any(new in text for text in texts(today))
    replaced = [hit for hit in today["hits"] if old in hit["text"]]
    assert all(hit["is_superseded"] and hit["valid_to"] == "2030-03-31T09:00:00Z" for hit in replaced), replaced
    assert str(first) in [hit["message_id"] for hit in replaced]
    place = {hit["message_id"]: n for n, hit in enumerate(today["hits"])}
    assert place[str(second)] < place[str(first)]
    holding = next(hit["fact_id"] for hit in today["hits"] if hit["fact_id"] and new in hit["text"])
    assert {hit["superseded_by"] for hit in replaced} == {holding}
    assert any(old in text for text in texts(then))
    assert not any(new in text for text in texts(then))
    assert not any(hit["is_superseded"] for hit in then["hits"])


def support_number(number: str, message_id: UUID, since: datetime) -> dict[str, Any]:
    return fact(
        "address",
        number,
        subject="organisation:firma",
        statement=f"The support number is {number}",
        valid_from=since.isoformat(),
        evidence={"kind": "conversation_quote", "text": number, "ref": f"msg:{message_id}"},
    )


def test_it_refuses_a_field_it_does_not_know(api: Any) -> None:
    assert_problem(api.post(SEARCH, {"query": "Tee", "modus": "hybrid"}), 422, "unknown_field", "modus")


def test_it_pages(api: Any, anna: User, meaning: bool) -> None:
    propose(api, HOUSE, *notes(*(f"Im Regal {n} steht Tee der Sorte {n}" for n in range(25))))
    learn(anna)
    seen: list[str] = []
    cursor = None
    while True:
        answer = find(api, "Tee im Regal", limit=10, cursor=cursor, source_kinds=["fact"])
        seen += texts(answer)
        cursor = answer["cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert {f"Im Regal {n} steht Tee der Sorte {n}" for n in range(25)} <= set(seen)
    assert_problem(api.post(SEARCH, {"query": "Kaffee", "cursor": "e30="}), 422, "invalid_cursor", "cursor")


def test_scores_are_bounded_and_fall(api: Any, anna: User, meaning: bool) -> None:
    propose(api, HOUSE, *notes(*ENGLISH, *GERMAN))
    learn(anna)
    hits = find(api, "Wo ist der Kartoffelauflauf, und wo die Leiter?")["hits"]
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(hit["voices"] for hit in hits)
    assert ("semantic" in {voice for hit in hits for voice in hit["voices"]}) == meaning


@pytest.mark.parametrize("query", ["blorf zanthu", "zimpel krabotti", "qwrtzp mnbv"])
def test_of_words_nobody_used_nothing_is_found(api: Any, anna: User, meaning: bool, query: str) -> None:
    propose(api, HOUSE, *notes(*ENGLISH))
    learn(anna)
    assert find(api, query)["hits"] == []


def test_it_says_that_nothing_is_searched_by_meaning(api: Any, anna: User, meaning: bool) -> None:
    propose(api, LUNA, fact("note", "schläft gern"))
    learn(anna)
    missing = find(api, "Wer schläft gern?")["missing"]
    assert any(note.startswith("semantic:") for note in missing) != meaning


def test_strangers_find_nothing(api: Any, stranger: Any, anna: User) -> None:
    propose(api, HOUSE, *notes(*ENGLISH))
    learn(anna)
    assert find(stranger, "CI box in the cellar")["hits"] == []


def test_a_named_month_finds_what_was_said_then(api: Any, anna: User, as_anna: Principal, meaning: bool) -> None:
    may, june = datetime(2023, 5, 12, 10, tzinfo=UTC), datetime(2023, 8, 20, 10, tzinfo=UTC)
    propose(api, LUNA)
    say(as_anna, (may, "Wir waren wandern und danach Eis essen"), (may, "Abends noch im Kino"))
    say(as_anna, (june, "Wir waren wandern, sehr heiß"), (june, "Danach schwimmen"))
    learn(anna)
    answer = find(api, "Wo waren wir im Mai 2023 wandern?", source_kinds=["episode"])
    assert texts(answer)[0] == "Wir waren wandern und danach Eis essen"
    assert answer["hits"][0]["voices"]["temporal"] > 0
    only = find(api, "wandern", source_kinds=["episode"], time_range=["2023-08-01", "2023-09-01"])
    assert texts(only)[0] == "Wir waren wandern, sehr heiß"
    assert not set(texts(only)) & {"Wir waren wandern und danach Eis essen", "Abends noch im Kino"}


def test_one_conversation_alone(api: Any, anna: User, as_anna: Principal, meaning: bool) -> None:
    propose(api, LUNA)
    say(as_anna, (NINE, "Der Schlüssel liegt unter der Matte"))
    say(as_anna, (NINE, "Der Schlüssel liegt beim Nachbarn"))
    with clock.frozen(NINE):
        learn(anna)
        both = find(api, "Wo liegt der Schlüssel?", source_kinds=["episode"])["hits"]
        assert len(both) == 2
        only = find(api, "Wo liegt der Schlüssel?", source_kinds=["episode"], chat=both[1]["chat"])["hits"]
    assert [hit["message_id"] for hit in only] == [both[1]["message_id"]]
    assert_problem(api.post(SEARCH, {"query": "Schlüssel", "chat": "nirgends"}), 404, "not_found")


def test_what_is_related_is_found_by_the_graph(api: Any, anna: User, meaning: bool) -> None:
    propose(
        api,
        LENA,
        FIRM,
        {
            "op": "assert_relationship",
            "subject_ref": "person:lena",
            "predicate": "works_at",
            "object_ref": FIRM["id_hint"],
        },
        fact("address", "Hafenstraße 3", subject="organisation:firma"),
    )
    learn(anna)
    hits = find(api, "Was ist mit Lena?")["hits"]
    address = next(hit for hit in hits if "Hafenstraße" in hit["text"])
    assert address["voices"]["graph"] > 0


def test_a_first_name_means_whoever_alone_has_it(api: Any, anna: User, as_anna: Principal, meaning: bool) -> None:
    def works_at(person: str, name: str, firm: str) -> list[dict[str, Any]]:
        entities = [
            {"op": "upsert_entity", "kind": kind, "canonical_name": called, "id_hint": hint}
            for kind, called, hint in (("person", name, person), ("organisation", firm, f"organisation:{firm}"))
        ]
        relationship = {"op": "assert_relationship", "subject_ref": person, "predicate": "works_at"}
        return [
            *entities,
            {**relationship, "object_ref": f"organisation:{firm}"},
            fact("address", f"{firm}straße 3", subject=f"organisation:{firm}"),
        ]

    propose(api, *works_at("person:tim", "Tim Vogt", "Kran"), *works_at("person:ute", "Ute Rau", "Lampen"))
    learn(anna)
    hits = find(api, "Wo arbeitet Tim?")["hits"]
    address = next(hit for hit in hits if "Kranstraße" in hit["text"])
    assert address["voices"]["graph"] > 0
    propose(api, *works_at("person:tim-2", "Tim Lang", "Hafen"))
    learn(anna)
    with scope(as_anna):
        assert not people.named_in("Was ist mit Tim?", own_scope=as_anna.read_scopes[0]).entity_ids


def test_an_agent_that_may_only_read_searches_and_leaves_an_entry(anna: User, client_for: Any) -> None:
    reader = client_for(anna, agent_role="assistant", read_only=True)
    assert find(reader, "Tee")["hits"] == []
    assert AuditEntry.objects.filter(details__route="search_world", details__status="200").exists()
