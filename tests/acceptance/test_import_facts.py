"""Real facts with valid time, and the questions that come with them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.core.management import call_command

from gedaechtnis.common.instants import parse_bound
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.selectors import asof, entities

DATA = Path(__file__).parents[3] / "shared" / "data" / "handout_small"
UTC = ZoneInfo("UTC")

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the shared evaluation data is not here")


def questions() -> Iterator[dict[str, object]]:
    for line in (DATA / "wikidata_asof_queries.jsonl").read_text().splitlines():
        yield json.loads(line)


def test_every_question_of_the_wikidata_sample_is_answered(anna: User) -> None:
    call_command("import_facts", str(DATA / "wikidata_facts_2k.tsv"), user="anna", verbosity=0)
    with (DATA / "wikidata_facts_2k.tsv").open(newline="") as handle:
        rows = {row["fact_id"]: row for row in csv.DictReader(handle, delimiter="\t")}
    principal = person(anna)
    ids: dict[str, object] = {}
    wrong = []
    for question in questions():
        subject = str(question["subject"])
        if subject not in ids:
            ids[subject] = entities.get_entity(principal=principal, ref=f"topic:{subject.lower()}").id
        day = parse_bound(str(question["day"]), zone=UTC, field="day")
        assert day is not None
        answer = asof.entity_facts(
            principal=principal,
            entity_id=ids[subject],
            predicate=f"wikidata:{question['relation']}",
            valid_at=day.at,
        )
        expected = {rows[fact_id]["object"] for fact_id in question["fact_ids"]}
        if {fact.object.label for fact in answer.facts} != expected:
            wrong.append(question)
    assert not wrong
    assert len(list(questions())) == 142
