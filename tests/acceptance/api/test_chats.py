"""Talking to the agent, and the curator that reads along."""

from __future__ import annotations

from typing import Any

from tests.acceptance.api.support import LUNA, assert_problem, fact, propose

MAIN = "/api/chats/main"


def test_the_main_chat_is_there_and_others_may_be_added(api: Any) -> None:
    main = api.get(MAIN).json()
    assert main["is_main"] is True
    made = api.post("/api/chats", {"title": "Garten"})
    assert made.status_code == 201
    chats = api.get("/api/chats").json()["items"]
    assert [chat["id"] for chat in chats] == [main["id"], made.json()["id"]]
    assert api.get(f"/api/chats/{made.json()['id']}").json() == made.json()
    assert_problem(api.post("/api/chats", {"titel": "x"}), 422, "unknown_field", "titel")


def test_a_question_is_answered_with_the_facts_it_rests_on(api: Any) -> None:
    fact_id = propose(api, LUNA, fact("age", 3))[1]["fact_id"]
    posted = api.post(f"{MAIN}/messages", {"text": "Was weißt du über Luna?"}).json()
    assert posted["reply"]["fact_ids"] == [fact_id]
    question, answer = api.get(f"{MAIN}/messages").json()["items"]
    assert (question["role"], question["id"]) == ("user", posted["message_id"])
    assert (answer["role"], answer["run_id"]) == ("assistant", posted["run_id"])
    assert answer["facts"][0]["fact_id"] == fact_id


def test_sending_twice_makes_one_message(api: Any) -> None:
    sent = {"text": "Luna frisst um sieben.", "client_id": "c-1"}
    first, again = (api.post(f"{MAIN}/messages", sent).json() for _time in range(2))
    assert first["message_id"] == again["message_id"]
    by_header = api.post(f"{MAIN}/messages", {"text": sent["text"]}, **{"Idempotency-Key": "c-1"}).json()
    assert by_header["message_id"] == first["message_id"]
    assert len(api.get(f"{MAIN}/messages", {"after": 0}).json()["items"]) == 1
    other = api.post(f"{MAIN}/messages", {**sent, "text": "anders"})
    assert_problem(other, 409, "client_id_reused", "client_id")
    assert_problem(
        api.post(f"{MAIN}/messages", sent, **{"Idempotency-Key": "c-2"}), 422, "run_id_conflict", "client_id"
    )


def test_messages_are_read_in_pages(api: Any) -> None:
    for number in range(3):
        api.post(f"{MAIN}/messages", {"text": f"Satz {number}."})
    first = api.get(f"{MAIN}/messages", {"after": 0, "limit": 2}).json()
    rest = api.get(f"{MAIN}/messages", {"after": first["cursor"], "limit": 2}).json()
    assert [item["text"] for item in first["items"] + rest["items"]] == ["Satz 0.", "Satz 1.", "Satz 2."]
    assert rest["cursor"] is None
    assert_problem(api.get(f"{MAIN}/messages", {"limit": 0}), 422, "out_of_range", "limit")


def test_messages_must_say_something_by_a_person(api: Any, agent: Any) -> None:
    assert_problem(api.post(f"{MAIN}/messages", {"text": "  "}), 422, "empty_message", "text")
    assert_problem(api.post(f"{MAIN}/messages", {}), 422, "missing", "text")
    naive = api.post(f"{MAIN}/messages", {"text": "Hallo", "sent_at": "2026-03-01T12:00:00"})
    assert_problem(naive, 422, "naive_time", "sent_at")
    assert_problem(agent.post(f"{MAIN}/messages", {"text": "Hallo"}), 403, "person_required")


def test_the_curator_reads_when_asked(api: Any) -> None:
    before = api.get(f"{MAIN}/curator").json()
    assert before == {"watermark": 0, "pending_turns": 0, "due_at": None, "last_run": None}
    api.post(f"{MAIN}/messages", {"text": "Ich wohne in Nürnberg."})
    waiting = api.get(f"{MAIN}/curator").json()
    assert (waiting["pending_turns"], waiting["last_run"]) == (1, None)
    assert waiting["due_at"].endswith("Z")
    done = api.post(f"{MAIN}/curate").json()
    assert (done["watermark"], done["pending_turns"], done["due_at"]) == (1, 0, None)
    assert done["last_run"]["outcome"] == "committed"
    assert done["last_run"]["operations"]
    assert api.get(f"{MAIN}/curator").json() == done
    (home,) = api.get("/api/world/facts", {"predicate": "lives_in"}).json()["items"]
    assert home["object"]["label"] == "Nürnberg"


def test_the_curator_says_why_it_skipped(api: Any) -> None:
    api.post(f"{MAIN}/messages", {"text": "ok"})
    done = api.post(f"{MAIN}/curate").json()
    assert done["last_run"]["outcome"] == "skipped"
    assert done["last_run"]["skipped_because"]
