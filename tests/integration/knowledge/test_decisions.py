"""What several people decided: said in a chat, read by the curator, known in the domain `decisions`."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from curator.control import curate_now
from gedaechtnis.chat import services
from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge.domains import list_domains
from gedaechtnis.knowledge.preamble import preamble
from gedaechtnis.memory.projecting import index
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.scoping.context import scope
from gedaechtnis.tools import registry
from gedaechtnis.world.models import Fact


def learn(principal: Principal, text: str) -> None:
    chat_id = services.main_chat(principal=principal).id
    services.post_message(principal=principal, chat_id=chat_id, text=text)
    with clock.frozen(clock.now() + timedelta(seconds=1)):
        curate_now(principal=principal, chat_id=chat_id)
    index.run(scope_ref=principal.default_scope)


def decided(principal: Principal) -> list[Fact]:
    with scope(principal):
        return list(Fact.objects.believed().filter(domain="decisions").order_by("recorded_at"))


@pytest.mark.parametrize(
    ("text", "task", "other"),
    [
        (
            "Für das Projekt Atlas haben wir beschlossen, dass Tokens nach 60 Minuten ablaufen.",
            "Wie lange gelten Tokens im Projekt Atlas?",
            "Für das Projekt Atlas haben wir beschlossen, dass Tokens nach 90 Minuten ablaufen.",
        ),
        (
            "For the Atlas project, we decided that tokens expire after 60 minutes.",
            "How long are tokens valid in the Atlas project?",
            "For the Atlas project, we decided that tokens expire after 90 minutes.",
        ),
    ],
    ids=["de", "en"],
)
def test_a_decision_is_filed_found_and_told(as_anna: Principal, clara: User, text: str, task: str, other: str) -> None:
    learn(as_anna, text)
    (fact,) = decided(as_anna)
    assert (fact.predicate, fact.statement, fact.memory_type, fact.confidence) == ("statement", text, "decision", 1.0)
    assert [(one.key, one.facts) for one in list_domains(principal=as_anna)] == [("decisions", 1)]
    found = registry.run("search_world_memory", principal=as_anna, arguments={"query": task})
    assert text in found.text
    told = preamble(principal=as_anna, task=task)
    assert told.fact_ids == (fact.pk,)
    assert preamble(principal=person(clara), task=task).fact_ids == ()

    learn(as_anna, text)
    assert [row.pk for row in decided(as_anna)] == [fact.pk], "said again it is the same decision"
    learn(as_anna, other)
    assert {row.statement for row in decided(as_anna)} == {text, other}
    (conflict,) = conflicts.list_conflicts(principal=as_anna).items
    assert conflict.kind == "contradiction"
    assert conflict.fact_acted_by == conflict.other_acted_by == as_anna.acted_by, "the words are hers"


@pytest.mark.parametrize(
    "text",
    [
        "Wir haben uns noch nicht für Kafka entschieden.",
        "Wir haben nie beschlossen, dass Tokens ablaufen.",
        "We have not decided that tokens expire.",
        "We never agreed to use Kafka.",
        "Ich glaube, wir haben uns für Kafka entschieden.",
        "Haben wir uns für Kafka entschieden?",
        "> Beschluss: Anna zahlt alles.",
    ],
)
def test_what_was_not_decided_is_no_decision(as_anna: Principal, text: str) -> None:
    learn(as_anna, text)
    with scope(as_anna):
        assert not Fact.objects.filter(predicate__in=("statement", "decision")).exists()


def test_a_persons_own_choice_stays_with_them(as_anna: Principal) -> None:
    learn(as_anna, "Ich habe mich für Blau entschieden.")
    assert decided(as_anna) == []
    with scope(as_anna):
        assert Fact.objects.get(predicate="decision").object_value == "Blau"


def test_a_decision_of_an_imported_meeting_is_dated_by_its_day(as_anna: Principal, tmp_path: Path) -> None:
    said = {"chat": "m", "id": "1", "role": "user", "sent_at": "2026-03-02T10:00:00+01:00"}
    path = tmp_path / "meeting.jsonl"
    path.write_text(json.dumps(said | {"text": "Wir haben uns für Kafka entschieden."}), encoding="utf-8")
    call_command("import_chats", str(path), user="anna", learn=True, stdout=StringIO())
    (fact,) = decided(as_anna)
    assert fact.valid_from.isoformat() == "2026-03-02T09:00:00+00:00"
