"""Sentences about a domain as the committer meets them; `shelf.py` compares them with what is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import fold_space
from gedaechtnis.identity.principals import MAX_CLEARANCE
from gedaechtnis.memory import planner, spaces, values
from gedaechtnis.memory.ports import EmbeddingsUnavailable
from gedaechtnis.memory.schemas import AssertFact, AssertRelationship, Operation
from gedaechtnis.memory.writing.act import Act
from gedaechtnis.memory.writing.assertions import Said
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.memory.writing.shelf import NO_MEANINGS, PREDICATE, Meanings, Sentence
from gedaechtnis.memory.writing.statements import FREE_TEXT, Statement
from gedaechtnis.world.models import Fact, FactEvidence


def is_free_text(statement: Statement) -> bool:
    """Whether a statement is a sentence about a domain."""
    return (statement.predicate.key, statement.subject.kind) == FREE_TEXT and isinstance(statement.value, str)


def meanings_of(operations: Sequence[Operation]) -> Meanings:
    """Ask the model about the free texts of a proposal; outside of any scope. Without one, letters alone are compared.

    How sensitive a text will be is not known yet, so only a model that may read everything is asked.
    """
    texts = list(dict.fromkeys(text for op in operations if (text := _text_of(op))))
    model = spaces.in_use().model if texts else None
    if model is None or model.clearance < MAX_CLEARANCE:
        return NO_MEANINGS
    try:
        vectors = model.embed(texts)
    except EmbeddingsUnavailable:
        return NO_MEANINGS
    return Meanings(model.name, {text: vector for text, vector in zip(texts, vectors, strict=True) if vector})


def _text_of(op: Operation) -> str | None:
    if isinstance(op, AssertFact) and op.predicate == PREDICATE and op.domain and isinstance(op.object_value, str):
        return op.object_value
    return None


def filed(op: AssertFact | AssertRelationship, statement: Statement) -> AssertFact | AssertRelationship:
    """The operation under the domain that it speaks of, its topic in one spelling.

    Raises:
        Problem: `domain_misfit` if it names another domain than its subject.
    """
    key = statement.subject.canonical_name
    if op.domain and op.domain != key and op.replaces_fact_id is None:
        raise Problem(
            "domain_misfit",
            _("The statement is about the domain “%(subject)s”, and cannot be filed under “%(domain)s”.")
            % {"subject": key, "domain": op.domain},
            field="domain",
        )
    return op.model_copy(update={"domain": key, "topic": fold_space(op.topic or "").lower()})


def in_known_words(session: WriteSession, statement: Statement, topic: str, *, said_at: datetime) -> Statement:
    """The statement as it is worded already where the same is believed, so that it is restated."""
    wording = session.shelf.wording(sentence_about(statement, topic, said_at=said_at))
    if wording is None:
        return statement
    key = values.object_key(statement.predicate, value=wording)
    return replace(statement, value=wording, object_key=key, sentence=wording)


def rivals(act: Act, statement: Statement, topic: str, said: Said) -> list[Fact]:
    """The believed statements that it contradicts, but for those it names and those a person decided about."""
    if not statement.polarity:
        return []
    named = {row.origin_fact_id for row in (said.replaces, said.based_on) if row is not None}
    found = act.session.shelf.rivals(sentence_about(statement, topic, said_at=act.said_at))
    return [row for row in found if row.origin_fact_id not in named | act.settled]


def is_new_witness(session: WriteSession, plan: planner.Plan, op: AssertFact | AssertRelationship) -> bool:
    """Whether a word that would have to wait confirms what is believed: not again from the same agent.

    It counts again where it rests on an observation that nobody named yet.
    """
    sources = op.sources if isinstance(op, AssertFact) else []
    told = FactEvidence.objects.filter(fact_id__in=plan.evidence_for)
    if sources and set(sources) - set(told.filter(ref__in=sources).values_list("ref", flat=True)):
        return True
    own = session.principal.acted_by
    return not (session.has_evidence(plan.evidence_for) or told.filter(acted_by=own).exists())


def sentence_about(statement: Statement, topic: str, *, said_at: datetime) -> Sentence:
    """What is compared of a statement."""
    return Sentence(
        subject_id=statement.subject.pk,
        applies_to_id=statement.applies_to_id,
        topic=topic,
        text=str(statement.value),
        start=statement.valid_from.at if statement.valid_from else said_at,
        end=statement.valid_to.at if statement.valid_to else None,
    )
