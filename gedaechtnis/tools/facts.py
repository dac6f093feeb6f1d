"""Facts about one thing: now, through time, at a moment in the world, at a moment of knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common import clock, moments
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import EntityView, FactsAnswer, FactView
from gedaechtnis.memory.selectors import asof, explain
from gedaechtnis.memory.suffix import provenance_suffix
from gedaechtnis.tools import arguments, naming, text
from gedaechtnis.tools.data import FactData, FactsAtData, FactsData, ToolAnswer


def recall_facts_about(principal: Principal, asked: arguments.RecallFacts) -> ToolAnswer:
    """What holds now, of the predicates that fit a pattern."""
    entity = naming.entity(principal, asked.ref)
    exact = None if any(sign in asked.predicate for sign in "*?[") else asked.predicate
    found = asof.entity_facts(principal=principal, entity_id=entity.id, predicate=exact).facts
    facts = [fact for fact in found if fnmatchcase(fact.predicate, asked.predicate) and _is_told(fact, exact)]
    data = FactsData(items=FactData.all(facts[: asked.limit]), total=len(facts))
    if not facts:
        return ToolAnswer(text=_nothing(entity, "" if asked.predicate == "*" else asked.predicate), data=data)
    lines = [text.line(text.full(fact), fact, principal) for fact in facts]
    return ToolAnswer(text=text.joined(text.capped(lines, asked.limit)), data=data)


def get_fact_history(principal: Principal, asked: arguments.FactHistory) -> ToolAnswer:
    """Every value that a predicate had, by when it held."""
    entity = naming.entity(principal, asked.ref)
    facts = asof.history(
        principal=principal, entity_id=entity.asked_id, predicate=asked.predicate, beliefs=asked.beliefs
    )
    data = FactsData(items=FactData.all(facts[: asked.limit]), total=len(facts))
    if not facts:
        return ToolAnswer(text=_nothing(entity, asked.predicate), data=data)
    lines = [f"- {_span(fact)} · {provenance_suffix(fact, principal=principal)}" for fact in facts]
    return ToolAnswer(text=text.joined(f"{entity.ref}.{asked.predicate}", text.capped(lines, asked.limit)), data=data)


def state_at(principal: Principal, asked: arguments.StateAt) -> ToolAnswer:
    """What held at a moment, as it is known today; with what has become of it."""
    entity, at = naming.entity(principal, asked.ref), naming.moment(principal, asked.at)
    answer = asof.entity_facts(principal=principal, entity_id=entity.asked_id, valid_at=at, predicate=asked.predicate)
    now = asof.entity_facts(principal=principal, entity_id=entity.id, predicate=asked.predicate).facts
    title = _("%(ref)s — what held on %(moment)s:") % {"ref": entity.ref, "moment": _told(at)}
    notes = {fact.id: _since_then(fact, now) for fact in answer.facts}
    return _at_a_moment(principal, entity, asked, answer, title, notes)


def state_as_known_at(principal: Principal, asked: arguments.StateAt) -> ToolAnswer:
    """What was believed at a moment; with what is no longer believed."""
    entity, at = naming.entity(principal, asked.ref), naming.moment(principal, asked.at)
    answer = asof.entity_facts(principal=principal, entity_id=entity.asked_id, known_at=at, predicate=asked.predicate)
    today = {fact.id: fact for fact in explain.get_facts(principal=principal, fact_ids=[f.id for f in answer.facts])}
    title = _("%(ref)s — what was known on %(moment)s:") % {"ref": entity.ref, "moment": _told(at)}
    notes = {fact.id: _believed_since(today.get(fact.id)) for fact in answer.facts}
    return _at_a_moment(principal, entity, asked, answer, title, notes)


def _at_a_moment(
    principal: Principal,
    entity: EntityView,
    asked: arguments.StateAt,
    answer: FactsAnswer,
    title: str,
    notes: Mapping[UUID, str],
) -> ToolAnswer:
    facts = [fact for fact in answer.facts if _is_told(fact, asked.predicate)]
    data = FactsAtData(
        items=FactData.all(facts[: asked.limit]),
        total=len(facts),
        valid_at=answer.valid_at,
        known_at=answer.known_at,
        basis=answer.basis,
    )
    if not facts:
        return ToolAnswer(text=text.joined(title, _nothing(entity, asked.predicate or "")), data=data)
    lines = [text.line(text.said(fact), fact, principal, notes[fact.id]) for fact in facts]
    return ToolAnswer(text=text.joined(title, text.capped(lines, asked.limit)), data=data)


def _is_told(fact: FactView, predicate: str | None) -> bool:
    """A name stands in every heading: told only where it is asked for."""
    return fact.predicate != text.NAME or predicate == text.NAME


def _nothing(entity: EntityView, predicate: str) -> str:
    about = f"{entity.ref}.{predicate}" if predicate else entity.ref
    nothing = _("No active facts about %(ref)s found.") % {"ref": about}
    return text.joined(nothing, naming.close_to(predicate) if predicate else "")


def _told(at: datetime) -> str:
    return moments.moment(at)


def _span(fact: FactView) -> str:
    """`19:00 · 1 May 2026 → today`: since when and until when a value held, as exactly as it is known."""
    start = moments.bound(fact.valid_from, fact.valid_from_precision) if fact.valid_from else _("unknown")
    if fact.valid_to is None:
        end = _("open")
    else:
        end = moments.bound(fact.valid_to, fact.valid_to_precision) if fact.valid_to_precision != "unknown" else "?"
    negation = "" if fact.polarity else "≠ "
    return f"{negation}{text.value(fact)} · {start} → {end}"


def _since_then(fact: FactView, now: Sequence[FactView]) -> str:
    """What became of what held: nothing to say while it still holds."""
    if fact.valid_to is None or fact.valid_to > clock.now():
        return ""
    following = [text.value(one) for one in now if one.predicate == fact.predicate and one.id != fact.id]
    return _("today: %(values)s") % {"values": ", ".join(following)} if following else _("today no longer")


def _believed_since(today: FactView | None) -> str:
    if today is None or today.superseded_at is None:
        return ""
    if today.closed_reason in {"retracted", "corrected"}:
        return _("taken back on %(day)s") % {"day": text.day(today.superseded_at)}
    return _("changed on %(day)s") % {"day": text.day(today.superseded_at)}
