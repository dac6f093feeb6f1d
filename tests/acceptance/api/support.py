"""Short ways to say what the tests send."""

from __future__ import annotations

from typing import Any

LUNA = {"op": "upsert_entity", "id_hint": "pet:luna", "kind": "pet", "canonical_name": "Luna"}
PAKET = {"op": "upsert_entity", "id_hint": "object:paket-17", "kind": "object", "canonical_name": "Paket 17"}
NUERNBERG = {"op": "upsert_entity", "id_hint": "place:nuernberg", "kind": "place", "canonical_name": "Nürnberg"}

PROBLEM = "application/problem+json"


def fact(predicate: str, value: Any, *, subject: str = "pet:luna", **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, "object_value": value, **more}


def relation(subject: str, predicate: str, target: str, **more: Any) -> dict[str, Any]:
    return {
        "op": "assert_relationship",
        "subject_ref": subject,
        "predicate": predicate,
        "object_ref": target,
        **more,
    }


def propose(
    client: Any, *operations: dict[str, Any], run_id: str | None = None, **headers: str
) -> list[dict[str, Any]]:
    """Send a proposal that is well formed; its results."""
    response = client.post("/api/world/proposals", {"run_id": run_id, "operations": list(operations)}, **headers)
    assert response.status_code == 200, response.content
    results: list[dict[str, Any]] = response.json()["results"]
    return results


def assert_problem(response: Any, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """The response is a problem document of this kind, located at `field`."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == PROBLEM
    problem: dict[str, Any] = response.json()
    assert problem["code"] == code, problem
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    if field is not None:
        assert field in [error["field"] for error in problem["errors"]], problem
    return problem
