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
from gedaechtnis.identity.principals import person, user_scope
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.transfer import imports

DATA = Path(__file__).parents[3] / "shared" / "data" / "handout_small"
UTC = ZoneInfo("UTC")


def questions() -> Iterator[dict[str, object]]:
    for line in (DATA / "wikidata_asof_queries.jsonl").read_text().splitlines():
        yield json.loads(line)


@pytest.mark.skipif(not DATA.exists(), reason="the shared evaluation data is not here")
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


def load(anna: User, *rows: dict[str, str]) -> imports.ImportReport:
    *_, report = imports.import_facts(scope_ref=user_scope(anna.sub), rows=rows, zone=UTC)
    return report


def row(fact_id: str, **columns: str) -> dict[str, str]:
    plain = {"subject": "Ulm", "relation": "twin", "object": "Graz", "valid_from": "", "valid_to": "", "source": "t"}
    return {"fact_id": fact_id, **plain, **columns}


def test_a_bad_row_is_reported_and_the_rest_is_imported(
    anna: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {
        "no_day": row("no_day", valid_from="2020-13-01"),
        "naive": row("naive", valid_from="2020-01-01T00:00:00"),
        "backwards": row("backwards", valid_from="2020", valid_to="2019"),
        "nul": row("nul", subject="U\0lm"),
        "long": row("long", object="x" * 501),
        "nameless": row("nameless", subject=""),
    }
    lines = ["\t".join(values.values()) for values in (row("first"), *bad.values(), row("last", object="Bern"))]
    short, wide = "short\tUlm", lines[0].replace("first", "wide") + "\tmore"
    file = tmp_path / "towns.tsv"
    file.write_text("\ufeff" + "\n".join(["\t".join(imports.COLUMNS), short, wide, *lines]), encoding="utf-8")
    call_command("import_facts", str(file), user="anna")
    written = capsys.readouterr()
    refused = {line.split(": ")[0].strip() for line in written.err.splitlines()}
    assert refused == {"short", "wide", *bad}
    assert "committed: 2" in written.out
    assert "rejected: 8" in written.out


def test_names_with_one_slug_stay_apart(anna: User) -> None:
    load(anna, row("1", subject="Nürnberg"), row("2", subject="Nuernberg"), row("3", subject="nuernberg"))
    found = entities.search_entities(principal=person(anna), q="rnberg").items
    assert {(entity.ref, entity.name) for entity in found} == {
        ("topic:nuernberg", "Nürnberg"),
        ("topic:nuernberg-2", "Nuernberg"),
    }


def test_a_changed_file_doubles_nothing(anna: User) -> None:
    assert load(anna, row("1"), row("2", object="Bern")).outcomes == {"committed": 2}
    assert load(anna, row("1"), row("2", object="Bern")).outcomes == {"duplicate": 2}
    changed = load(anna, row("1"), row("3", object="Cham"), row("2", object="Bern"))
    assert changed.outcomes == {"restated": 2, "committed": 1}
    ulm = entities.get_entity(principal=person(anna), ref="topic:ulm")
    facts = asof.entity_facts(principal=person(anna), entity_id=ulm.id, predicate="t:twin").facts
    assert [fact.mentions for fact in facts] == [1, 1, 1]
