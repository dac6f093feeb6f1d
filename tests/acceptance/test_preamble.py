"""What each run is told first, letter by letter, in both languages; alone, and with the facts of what is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import translation

from gedaechtnis.common import clock
from gedaechtnis.identity.principals import Principal, from_token, person
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.knowledge import pads
from gedaechtnis.knowledge.briefing import brief
from gedaechtnis.knowledge.policy_changes import propose_policy
from gedaechtnis.knowledge.preamble import preamble
from gedaechtnis.memory.projecting import index
from tests.acceptance.test_context_block import fact, relation, tell, thing
from tests.conftest import make_user

GOLDEN = Path(__file__).with_name("golden")
FIRST = datetime(2026, 6, 2, 9, 0, tzinfo=UTC)
TASK = {
    "de": "Schreib die Anmeldung in home-agent um: Tokens laufen bisher nach einer Stunde ab.",
    "en": "Rewrite the login in home-agent: tokens expire after an hour today.",
}
RULES = (
    ("Nie direkt auf main pushen", "general", None, None),
    ("Antworten immer auf Deutsch", "general", None, None),
    ("Migrationen schreibt nur, wer sie auch prüft", "architecture", "home-agent", "db-admin"),
    ("Keine Bibliothek ohne ADR", "architecture", None, None),
)
STATEMENTS = (
    ("Die Anmeldung prüft Tokens zuerst im Cache, dann in der Datenbank.", "repo:home-agent/codebase", "login"),
    ("Tokens laufen nach 60 Minuten ab und werden nie verlängert.", "decisions", "tokens"),
    ("Ein login ohne Tokens gibt es nur für Gäste.", "repo:other/codebase", ""),
)
NOTES = "# Wo ich war\n\n- Anmeldung halb umgebaut, `tests/test_login.py` ist noch rot\n"


@pytest.fixture
def at_work(database: None) -> Iterator[Principal]:
    """An agent of Basti's with rules, notes and statements of its workspace."""
    with clock.frozen(FIRST):
        basti = make_user("basti")
        me = person(basti)
        for rule, domain, repo, role in RULES:
            propose_policy(principal=me, rule=rule, domain=domain, repo=repo, required_role=role)
    tell(
        me,
        FIRST + timedelta(days=1),
        thing("repo", "repo", "home-agent"),
        thing("pr", "task", "PR 42"),
        thing("app", "device", "Login-App"),
        relation("pr", "belongs_to", "repo"),
        fact("repo", "default_branch", "main"),
        fact("app", "note", "fragt nach jeder Stunde erneut nach der Anmeldung"),
        *(
            thing(f"d{number}", "domain", domain)
            for number, domain in enumerate(dict.fromkeys(domain for _text, domain, _topic in STATEMENTS))
        ),
        *(
            fact(f"d{number}", "statement", text, domain=domain, topic=topic, statement=text)
            for number, (text, domain, topic) in enumerate(STATEMENTS)
        ),
    )
    token, _secret = create_token(user=basti, name="coder", agent_role="coder")
    agent = from_token(token)
    with clock.frozen(FIRST + timedelta(days=2)):
        pads.update(principal=agent, text=NOTES)
        index.run(scope_ref=me.default_scope)
        yield agent


def same_as_written(name: str, text: str) -> None:
    golden = GOLDEN / name
    if "REWRITE_GOLDEN" in os.environ:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_preamble_reads_as_written_down(at_work: Principal, language: str) -> None:
    with translation.override(language):
        told = preamble(principal=at_work, task=TASK[language], repo="home-agent")
    same_as_written(f"preamble.{language}.md", told.text)
    assert len(told.policies) == len(RULES)


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_briefing_reads_as_written_down(at_work: Principal, language: str) -> None:
    with translation.override(language):
        told = brief(principal=at_work, text=TASK[language], repo="home-agent")
    same_as_written(f"briefing.{language}.md", told.text)
    assert len(set(told.fact_ids)) == len(told.fact_ids)


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_task_of_fewer_than_twenty_characters_has_no_facts(at_work: Principal, language: str) -> None:
    with translation.override(language):
        told = preamble(principal=at_work, task="Tokens der Anmeldung"[:19])
    same_as_written(f"preamble_short.{language}.md", told.text)
    assert told.fact_ids == ()
