"""Whether search finds facts: about now and then, over two relations, in other words; and what each constant is worth.

A part of `make bench-recall`. The facts are told and the questions asked through the REST door.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.test import Client

from benchmarks.measures import Asked, Result
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.memory.projecting import index, vectors
from gedaechtnis.memory.selectors.recall import gathering, weights

_PROBE = Path(__file__).parent / "probe_facts.json"
_BATCH = 50
_LIMIT = 20

WAYS: dict[str, dict[str, Any]] = {
    "all": {},
    "without words": {"lexical": 0.0},
    "without meaning": {"semantic": 0.0},
    "without times": {"date": 0.0, "says_when": 0.0},
    "without subject": {"subject": 0.0},
    "without graph": {"graph": 0.0},
    "without loss for what ended": {"ENDED": 0.0},
    "without decay": {"FADED": 0.0},
    "without loss for repeating": {"REPEATED": 0.0},
}
"""Weights (small) and constants (capital) that are set otherwise."""


class Facts:
    """The facts of the probe in a memory of their own, and its questions."""

    def __init__(self) -> None:
        told = json.loads(_PROBE.read_text(encoding="utf-8"))
        user = User.objects.create(username="probe-facts", language="de", time_zone="UTC")
        _token, secret = create_token(user=user, name="bench", agent_role="")
        self.client = Client(headers={"Authorization": f"Bearer {secret}"})
        met = self._tell([_entity(entity) for entity in told["entities"]])
        refs = {entity["ref"]: result["entity_ref"] for entity, result in zip(told["entities"], met, strict=True)}
        taken = self._tell([_fact(fact, refs) for fact in told["facts"]])
        self.names = {result["fact_id"]: fact["id"] for fact, result in zip(told["facts"], taken, strict=True)}
        self.questions = [
            Asked(asked["question"], asked["kind"], frozenset(asked["evidence"])) for asked in told["questions"]
        ]
        scope_ref = person(user).default_scope
        index.run(scope_ref=scope_ref)
        while vectors.embed_pending(scope_ref=scope_ref).left:
            pass

    def _tell(self, operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
        taken = []
        for at in range(0, len(operations), _BATCH):
            body = {"run_id": None, "operations": operations[at : at + _BATCH]}
            results = self._post("/api/world/proposals", body)["results"]
            refused = [result for result in results if result["outcome"] != "committed"]
            if refused:
                raise ValueError(f"the probe was not taken: {refused[0]}")
            taken += results
        return taken

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        response = self.client.post(path, json.dumps(body), content_type="application/json")
        if response.status_code != 200:
            raise ValueError(f"{path}: {response.content.decode()}")
        return response.json()

    def ask(self, way: str) -> list[Result]:
        """Every question, with the constants of a way."""
        with _set(WAYS[way]):
            return [Result(asked, self._found(asked)) for asked in self.questions]

    def _found(self, asked: Asked) -> list[str]:
        hits = self._post("/api/world/search", {"query": asked.text, "limit": _LIMIT})["hits"]
        return [self.names.get(hit["fact_id"], hit["ref"]) for hit in hits]


def _entity(told: dict[str, str]) -> dict[str, Any]:
    return {"op": "upsert_entity", "id_hint": told["ref"], "kind": told["kind"], "canonical_name": told["name"]}


def _fact(told: dict[str, Any], refs: dict[str, str]) -> dict[str, Any]:
    target = refs.get(told["object"])
    operation: dict[str, Any] = {key: value for key, value in told.items() if key not in ("id", "subject", "object")}
    operation["subject_ref"] = refs[told["subject"]]
    if target is None:
        return {"op": "assert_fact", "object_value": told["object"], **operation}
    return {"op": "assert_relationship", "object_ref": target, **operation}


@contextmanager
def _set(changed: dict[str, Any]) -> Iterator[None]:
    factors = {name: value for name, value in changed.items() if name.islower()}
    with ExitStack() as stack:
        hybrid = replace(gathering.WEIGHTS["hybrid"], **factors)
        stack.enter_context(patch.dict(gathering.WEIGHTS, {"hybrid": hybrid}))
        for name in changed.keys() - factors.keys():
            stack.enter_context(patch.object(weights, name, changed[name]))
        yield
