"""What every tool says about the example world, in both languages, word for word.

`WRITE_GOLDEN=1 make test ARGS=tests/acceptance/tools/test_golden.py` writes the files anew; read the difference.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.tools import registry
from tests.acceptance.tools.world import BASTI, LUNA, REPO

GOLDEN = Path(__file__).parents[1] / "golden"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CURSOR = re.compile(r"cursor=\S+")

CASES: dict[str, list[dict[str, Any]]] = {
    "find_entity": [
        {"name": "luna"},
        {"name": "Lunchen", "kind": "pet"},
        {"name": "luna", "limit": 1},
        {"name": "Waldemar"},
    ],
    "get_entity": [
        {"ref": LUNA},
        {"ref": "Basti"},
        {"ref": "me", "limit": 1},
        {"ref": "file:memory-py"},
        {"ref": "place:ulm"},
    ],
    "recall_facts_about": [
        {"ref": BASTI, "predicate": "preferred_*"},
        {"ref": BASTI},
        {"ref": BASTI, "limit": 2},
        {"ref": LUNA, "predicate": "colour"},
    ],
    "get_fact_history": [
        {"ref": BASTI, "predicate": "preferred_language"},
        {"ref": LUNA, "predicate": "feeding_time_evening"},
        {"ref": "task:issue-42", "predicate": "due_at", "beliefs": "all"},
        {"ref": LUNA, "predicate": "breed"},
    ],
    "get_neighbors": [{"ref": REPO}, {"ref": BASTI, "depth": 2}, {"ref": "repo:luna-tools"}],
    "state_at": [
        {"ref": LUNA, "at": "2026-06-07"},
        {"ref": LUNA, "at": "2026-06-11", "predicate": "feeding_time_evening"},
        {"ref": LUNA, "at": "2026-01-01", "predicate": "feeding_time_evening"},
    ],
    "state_as_known_at": [
        {"ref": "task:issue-42", "at": "2026-06-08"},
        {"ref": LUNA, "at": "2026-06-07"},
        {"ref": LUNA, "at": "2026-05-30"},
    ],
    "effects_of": [{"of": "run:r-xyz"}, {"of": "run:r-english"}, {"of": "run:r-none"}],
    "explain_change": [
        {"fact": f"{LUNA}.feeding_time_evening"},
        {"fact": f"{BASTI}.preferred_language"},
        {"fact": "task:issue-42.due_at"},
    ],
    "who_has": [
        {"predicate": "lives_in", "object": "Ulm"},
        {"predicate": "status", "object": "blocked"},
        {"predicate": "preferred_language", "object": "de", "at": "2026-06-05"},
        {"predicate": "species", "object": "Hund"},
    ],
    "search_world_memory": [
        {"query": "Wann bekommt Luna Futter?", "mode": "keyword", "limit": 2},
        {"query": "Ulm", "mode": "keyword", "predicate": "lives_in"},
        {"query": "Staubsauger", "mode": "keyword"},
    ],
    "dossier": [{"ref": BASTI}],
    "list_memory_conflicts": [{}],
    "propose_fact": [
        {"subject": LUNA, "predicate": "breed", "object": "Maine Coon"},
        {"subject": "Pauli", "subject_kind": "pet", "predicate": "owned_by", "object": "Basti", "reason": "Ein Gast."},
    ],
    "supersede_fact": [
        {"fact": f"{LUNA}.feeding_time_evening", "object": "20:00"},
        {"fact": f"{BASTI}.preferred_output_format", "object": "HTML", "how": "was_wrong"},
    ],
    "forget": [
        {"fact": f"{BASTI}.eats"},
        {"fact": f"{BASTI}.lives_in", "how": "ended", "at": "2026-06"},
    ],
    "read_my_notes": [{}],
    "update_my_notes": [{"text": "Basti mag es kurz."}, {"text": "Basti mag es knapp.", "based_on_version": 1}],
    "record_observation": [{"text": "Der Build bricht nachts ab."}],
    "remember": [
        {"text": "Basti testet vor jedem Push.", "domain": "workflow", "topic": "tests"},
        {"text": "Die CI hat zwei Kerne.", "domain": "build", "repo": "home-agent", "memory_type": "observed_state"},
    ],
    "consolidate_memory": [{}, {"session_id": "none"}],
    "harmonize_memory": [{}, {"domain": "build"}],
    "get_preamble": [{}, {"task": "Schreib einen Test für die Uhr von Luna", "repo": "memory"}],
    "list_policies": [{}, {"repo": "memory", "include_inactive": True}],
    "propose_policy": [
        {"rule": "Antworte knapp."},
        {"rule": "Keine neuen Abhängigkeiten", "domain": "architecture", "repo": "memory", "required_role": "coder"},
    ],
    "supersede_policy": [{"policy": "policy:quiet", "rule": "Nach 21 Uhr keine Meldungen mehr"}],
}

REFUSED: dict[str, list[dict[str, Any]]] = {
    "find_entity": [{}, {"name": "luna", "colour": "red"}, {"name": ["luna"]}],
    "get_entity": [{"ref": "Lun"}, {"ref": "pet:nobody"}, {"ref": LUNA, "limit": 0}],
    "get_neighbors": [{"ref": LUNA, "depth": 4}],
    "state_at": [{"ref": LUNA, "at": "gestern"}, {"ref": LUNA, "at": "2026-06-07T10:00"}],
    "explain_change": [{"fact": "Luna"}, {"fact": f"{LUNA}.breed"}],
    "effects_of": [{"of": "event:1"}],
    "propose_fact": [
        {"subject": LUNA, "predicate": "feeding_time_evening", "object": "abends"},
        {"subject": "Niemand", "predicate": "likes", "object": "Tee"},
    ],
    "forget": [{"fact": f"{LUNA}.species", "at": "2026"}],
    "update_my_notes": [{}, {"text": "a\x00"}, {"text": "x", "based_on_version": -1}],
    "record_observation": [{"text": ""}, {"text": " "}],
    "remember": [{"text": "x", "domain": "a b"}, {"text": "x", "domain": "repo:a/b", "repo": "c"}],
    "consolidate_memory": [{"limit": 0}],
    "harmonize_memory": [{"domain": "a b"}],
}


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("name", registry.TOOLS)
def test_a_tool_says_what_its_golden_file_says(name: str, language: str, assistant: Principal) -> None:
    told = []
    for asked in CASES[name]:
        with translation.override(language):
            answer = registry.run(name, principal=assistant, arguments=asked)
        registry.TOOLS[name].answer.model_validate(answer.as_json())
        told.append(f"> {name} {json.dumps(asked, ensure_ascii=False)}\n{answer.text}\n")
    _compare(f"{name}.{language}.txt", told)


@pytest.mark.parametrize("language", ["de", "en"])
def test_what_does_not_fit_is_refused_in_the_readers_words_naming_the_argument(
    language: str, assistant: Principal
) -> None:
    told = []
    for name, cases in REFUSED.items():
        for asked in cases:
            with translation.override(language), pytest.raises(Problem) as refused:
                registry.run(name, principal=assistant, arguments=asked)
            assert refused.value.field in {*registry.TOOLS[name].form.model_fields, *asked}
            told.append(
                f"> {name} {json.dumps(asked, ensure_ascii=False)}\n"
                f"{refused.value.code} · {refused.value.field} · {refused.value.detail}\n"
            )
    _compare(f"refused.{language}.txt", told)


def _compare(name: str, told: list[str]) -> None:
    text = _CURSOR.sub("cursor=…", _ID.sub("<id>", "\n".join(told)))
    path = GOLDEN / name
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
