"""C39: a retry takes effect once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from django.db import connections

from gedaechtnis.identity.models import User
from tests.acceptance.api.support import LUNA, assert_problem, fact, propose

PROPOSALS = "/api/world/proposals"


def stored(admin: psycopg.Connection[Any]) -> tuple[int, int]:
    """(facts, evidence) about a cat's age, whoever owns them."""
    row = admin.execute(
        "SELECT (SELECT count(*) FROM facts WHERE predicate = 'age'), "
        "(SELECT count(*) FROM fact_evidence e JOIN facts f ON f.id = e.fact_id WHERE f.predicate = 'age')"
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def test_case_c39_a_retry_answers_what_was_stored(
    api: Any, stranger: Any, admin_connection: psycopg.Connection[Any]
) -> None:
    body = {"operations": [LUNA, fact("age", 3)]}
    first = api.post(PROPOSALS, body, **{"Idempotency-Key": "k1"}).json()
    assert first["run_id"] == "k1"
    for _retry in range(2):
        again = api.post(PROPOSALS, body, **{"Idempotency-Key": "k1"}).json()
        assert [result["outcome"] for result in again["results"]] == ["duplicate", "duplicate"]
        assert again["results"][1]["fact_id"] == first["results"][1]["fact_id"]
    assert stored(admin_connection) == (1, 1)
    other = {"operations": [LUNA, fact("age", 4)]}
    assert_problem(api.post(PROPOSALS, other, **{"Idempotency-Key": "k1"}), 409, "run_id_reused")
    strangers = stranger.post(PROPOSALS, other, **{"Idempotency-Key": "k1"}).json()
    assert [result["outcome"] for result in strangers["results"]] == ["committed", "committed"]
    assert stored(admin_connection) == (2, 2)


def test_case_c39_parallel_requests_with_one_key_write_once(
    api: Any, admin_connection: psycopg.Connection[Any]
) -> None:
    propose(api, LUNA)
    body = {"operations": [fact("age", 3)]}

    def send(_number: int) -> Any:
        try:
            return api.post(PROPOSALS, body, **{"Idempotency-Key": "k2"})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as pool:
        responses = list(pool.map(send, range(10)))
    assert {response.status_code for response in responses} == {200}
    outcomes = sorted(response.json()["results"][0]["outcome"] for response in responses)
    assert outcomes == ["committed", *["duplicate"] * 9]
    assert len({response.json()["results"][0]["fact_id"] for response in responses}) == 1
    assert stored(admin_connection) == (1, 1)


def test_header_and_body_must_name_one_run(api: Any) -> None:
    body = {"run_id": "r-1", "operations": [LUNA]}
    assert_problem(api.post(PROPOSALS, body, **{"Idempotency-Key": "r-2"}), 422, "run_id_conflict", "run_id")
    assert api.post(PROPOSALS, body, **{"Idempotency-Key": "r-1"}).json()["run_id"] == "r-1"
    assert_problem(api.post(PROPOSALS, body, **{"Idempotency-Key": "r" * 201}), 422, "too_long", "Idempotency-Key")


def test_verbs_for_a_fact_are_repeatable_too(api: Any) -> None:
    fact_id = propose(api, LUNA, fact("age", 3))[1]["fact_id"]
    path = f"/api/world/facts/{fact_id}/invalidate"
    key = {"Idempotency-Key": "k3"}
    first, again = api.post(path, {"reason": "falsch"}, **key), api.post(path, {"reason": "falsch"}, **key)
    assert (first.json()["outcome"], again.json()["outcome"]) == ("committed", "duplicate")
    assert first.json()["closed_fact_ids"] == again.json()["closed_fact_ids"] == [fact_id]


def test_a_refused_verb_is_refused_again(api: Any) -> None:
    fact_id = propose(api, LUNA, fact("age", 3))[1]["fact_id"]
    path = f"/api/world/facts/{fact_id}/invalidate"
    assert api.post(path).status_code == 200
    for _retry in range(2):
        assert_problem(api.post(path, **{"Idempotency-Key": "k4"}), 409, "nothing_believed")


def test_runs_of_an_agent_are_its_own(anna: User, api: Any, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="assistant")
    assert propose(api, LUNA, run_id="r-1")[0]["outcome"] == "committed"
    assert propose(agent, {**LUNA, "canonical_name": "Minka", "id_hint": "pet:minka"}, run_id="r-1")[0]["outcome"] == (
        "pending"
    )
