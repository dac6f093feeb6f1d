"""Why something is believed, what came of a run or an event, and what contradicts what."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common import moments
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import ConflictView, EventView, EvidenceView, FactView
from gedaechtnis.memory.selectors import changes, conflicts, explain
from gedaechtnis.tools import arguments, naming, text
from gedaechtnis.tools.data import (
    ConflictData,
    ConflictsData,
    EventData,
    EventsData,
    EvidenceData,
    ExplanationData,
    FactData,
    ToolAnswer,
    WaitingConflictData,
)

_OF_PROPOSALS = "proposal."
"""Events about what waits: they tell of nothing that is believed."""


def explain_change(principal: Principal, asked: arguments.ExplainChange) -> ToolAnswer:
    """Backwards: what a belief rests on, what stood there before, what closed it."""
    found = explain.explain_fact(principal=principal, fact_id=naming.fact(principal, asked.fact).id)
    fact = found.fact
    earlier = [one for one in found.chain if one.recorded_at < fact.recorded_at and one.id != fact.id]
    lines = [_because(piece) for piece in fact.evidence]
    if not lines:
        lines = [_("← stated on %(day)s") % {"day": text.day(fact.learned_at)}]
    if fact.run_id:
        lines.append(_("← in run:%(run)s") % {"run": text.inert(fact.run_id)})
    if fact.reason:
        lines.append(_("← reason given: %(reason)s") % {"reason": text.inert(fact.reason)})
    before = [text.line(text.said(one), one, principal) for one in earlier]
    after = [text.line(text.full(found.closed_by), found.closed_by, principal)] if found.closed_by else []
    return ToolAnswer(
        text=text.joined(
            text.line(text.full(fact), fact, principal).removeprefix("- "),
            _("because:"),
            text.capped(lines, asked.limit),
            text.section(_("Stood there before:"), text.capped(before, asked.limit)),
            text.section(_("Followed by:"), after),
        ),
        data=ExplanationData(
            fact=FactData.of(fact),
            evidence=[
                EvidenceData(kind=piece.kind, text=piece.text, ref=piece.ref, recorded_at=piece.recorded_at)
                for piece in fact.evidence
            ],
            run_id=fact.run_id,
            earlier=FactData.all(earlier),
            closed_by=FactData.of(found.closed_by) if found.closed_by else None,
        ),
    )


def _because(piece: EvidenceView) -> str:
    if not piece.text:
        return _("← stated on %(day)s") % {"day": text.day(piece.recorded_at)}
    said = {
        "conversation_quote": _("← said on %(day)s: “%(text)s”"),
        "tool_result": _("← result of a tool on %(day)s: “%(text)s”"),
        "observation": _("← observed on %(day)s: “%(text)s”"),
        "import": _("← imported on %(day)s: “%(text)s”"),
    }.get(piece.kind, _("← noted on %(day)s: “%(text)s”"))
    line = said % {"day": text.day(piece.recorded_at), "text": text.inert(piece.text)}
    return f"{line} ({text.inert(piece.ref)})" if piece.ref else line


def effects_of(principal: Principal, asked: arguments.EffectsOf) -> ToolAnswer:
    """Forwards: what happened in a run or because of an event, and what it wrote and closed."""
    run_id, event_id = naming.run_or_event(asked.of)
    if event_id is not None:
        found = changes.effects_of_event(principal=principal, event_id=event_id)
    else:
        found = changes.effects_of_run(principal=principal, run_id=run_id or "")
    events = [event for event in found if not event.event_type.startswith(_OF_PROPOSALS)]
    ids = [id for event in events for id in (*event.fact_ids, *event.closed_fact_ids)]
    facts = {fact.id: fact for fact in explain.get_facts(principal=principal, fact_ids=ids)} if ids else {}
    data = EventsData(items=[EventData.of(event, facts) for event in events[: asked.limit]], total=len(events))
    if not events:
        return ToolAnswer(text=_("Nothing is known to have come of %(of)s.") % {"of": text.inert(asked.of)}, data=data)
    told = [line for event in events for line in _effect(event, facts, principal)]
    return ToolAnswer(
        text=text.joined(_("What came of %(of)s:") % {"of": text.inert(asked.of)}, text.capped(told, asked.limit)),
        data=data,
    )


def _effect(event: EventView, facts: Mapping[UUID, FactView], principal: Principal) -> list[str]:
    about = f": {text.inert(event.summary)}" if event.summary else ""
    lines = [f"→ {event.event_type} · {moments.day_and_clock(event.occurred_at)}{about} (event:{event.id})"]
    for sign, ids in (("+", event.fact_ids), ("−", event.closed_fact_ids)):
        for fact in (facts[id] for id in ids if id in facts):
            lines.append(f"  {sign} {text.line(text.full(fact), fact, principal).removeprefix('- ')}")
    return lines


def list_memory_conflicts(principal: Principal, asked: arguments.Conflicts) -> ToolAnswer:
    """What contradicts: what was written although another statement says otherwise, and what waits because of that."""
    page = conflicts.list_conflicts(
        principal=principal, cursor=asked.cursor, limit=asked.limit, only_open=asked.state == "open"
    )
    data = ConflictsData(
        items=[ConflictData.of(one) for one in page.items],
        waiting=[WaitingConflictData.of(one) for one in page.waiting],
        cursor=page.cursor,
    )
    lines = [*(_waiting(one) for one in data.waiting), *(_contradiction(one) for one in page.items)]
    more = _("… and more: ask again with cursor=%(cursor)s") % {"cursor": page.cursor} if page.cursor else ""
    nothing = "" if lines or more else _("Nothing contradicts.")
    return ToolAnswer(text=text.joined(lines, more, nothing), data=data)


def _waiting(one: WaitingConflictData) -> str:
    parts = [
        f"- {text.quoted(one.statement)} ↔ {text.quoted(one.present)}",
        _filed(one.domain, one.topic),
        _("waits for the person since %(day)s") % {"day": text.day(one.created_at)},
        _agent(one.proposed_by),
        f"proposal:{one.proposal_id}",
    ]
    return " · ".join(part for part in parts if part)


def _contradiction(one: ConflictView) -> str:
    parts = [
        f"- {_side(one.fact_statement, one.fact_acted_by, one.fact_recorded_at)} ↔ "
        f"{_side(one.other_statement, one.other_acted_by, one.other_recorded_at)}",
        _filed(one.domain, one.topic),
        "" if one.is_open else _("settled"),
        f"fact:{one.fact_id} ↔ fact:{one.other_fact_id}",
    ]
    return " · ".join(part for part in parts if part)


def _side(statement: str, acted_by: str, recorded_at: datetime) -> str:
    who = ", ".join(part for part in (_agent(acted_by), text.day(recorded_at)) if part)
    return f"{text.quoted(statement)} ({who})"


def _agent(acted_by: str) -> str:
    """`agent:builder`; nothing for a person, whose word it is where nobody else is named."""
    who, at, _for = acted_by.partition("@")
    return text.inert(who) if at else ""


def _filed(domain: str, topic: str) -> str:
    return text.inert(f"[{domain}{': ' if topic else ''}{topic}]") if domain else ""
