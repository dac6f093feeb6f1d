"""What the vocabulary and stale writes refuse, as callers see it."""

from __future__ import annotations

from typing import Any

from tests.acceptance.api.support import LUNA, assert_problem, fact, propose

PROPOSALS = "/api/world/proposals"


def test_a_stale_write_answers_409_with_the_present_value(api: Any) -> None:
    _, three = propose(api, LUNA, fact("age", 3))
    (four,) = propose(api, fact("age", 4, based_on_fact_id=three["fact_id"]))
    late = {"operations": [fact("age", 5, based_on_fact_id=three["fact_id"])]}
    for _attempt in range(2):  # the same when it is asked again under its key
        answer = api.post(PROPOSALS, late, **{"Idempotency-Key": "late"})
        problem = assert_problem(answer, 409, "stale", "operations.0.based_on_fact_id")
        (present,) = problem["present"]
        assert (present["object_value"], present["fact_id"]) == (4, four["fact_id"])


def test_among_others_a_stale_operation_is_reported_and_the_others_go_on(api: Any) -> None:
    _, three = propose(api, LUNA, fact("age", 3))
    propose(api, fact("age", 4))
    late, other = propose(api, fact("age", 5, based_on_fact_id=three["fact_id"]), fact("colour", "grau"))
    assert (late["outcome"], late["code"]) == ("rejected", "stale")
    assert late["extra"]["present"][0]["object_value"] == 4
    assert other["outcome"] == "committed"
