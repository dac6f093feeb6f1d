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


def test_case_c17_a_question_may_be_confined_to_a_context(api: Any, stranger: Any) -> None:
    contexts = [
        {"op": "upsert_entity", "id_hint": f"context:{name}", "kind": "context", "canonical_name": name}
        for name in ("work", "home")
    ]
    propose(
        api,
        LUNA,
        *contexts,
        fact("colour", "grau", applies_to_ref="context:work"),
        fact("colour", "getigert", applies_to_ref="context:home"),
        fact("note", "schnurrt"),
    )

    def shown(path: str, where: str | None, **more: str) -> dict[str, str | None]:
        answer = api.get(path, {**more, "applies_to": where} if where else more)
        assert answer.status_code == 200, answer.content
        found = answer.json()["items"]
        return {str(item["object"]["value"]): item["applies_to_ref"] for item in found if item["predicate"] != "name"}

    luna = "/api/world/entities/pet:luna/facts"
    assert shown(luna, "context:work") == {"grau": "context:work", "schnurrt": None}
    assert shown(luna, None) == {"grau": "context:work", "getigert": "context:home", "schnurrt": None}
    assert shown("/api/world/facts", "context:home", predicate="colour") == {"getigert": "context:home"}
    assert_problem(
        stranger.get("/api/world/facts", {"predicate": "colour", "applies_to": "context:work"}), 404, "not_found"
    )
