"""The agent that answers without a model: its answers are the facts themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone, translation
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gedaechtnis.chat import phrasing, questions
from gedaechtnis.chat.questions import Ask
from gedaechtnis.common import clock, moments
from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import finding_keys, name_key, one_line
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import EntityView, FactView
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import Hit, SearchQuery, SourceKind
from gedaechtnis.memory.suffix import provenance_suffix
from gedaechtnis.registry.roles import Role

_NAME = re.compile(r"[\w'’-]+")
_MAX_FACTS = 12
_MAX_NAMES = 12
_MAX_NAMESAKES = 3
_MAX_FOUND = 3
_MAX_READ = 10
_MAX_QUOTED = 240
_GOOD_SCORE = 0.6


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, the facts it tells, and whether it repeats messages, which may turn out as sensitive as can be."""

    text: str
    facts: tuple[FactView, ...] = ()
    quotes: bool = False

    @property
    def fact_ids(self) -> tuple[UUID, ...]:
        return tuple(fact.id for fact in self.facts)


def answer(*, principal: Principal, text: str) -> Reply | None:
    """Answer a question about something known; None for a statement, which the curator reads."""
    if not questions.is_question(text):
        return None
    with translation.override(principal.language), timezone.override(principal.zone):
        question = questions.read(text)
        if question is not None:
            role = questions.role_of(question.about)
            if role is not None and question.identifies and (ties := _ties(principal, role)):
                return _told(ties)
            if found := _meant(principal, question.about, role):
                return _about(principal, found, question.ask)
        elif (named := _mentioned(principal, text)) is not None:
            return _about(principal, [named], None)
        if question is None and (searched := _searched(principal, text)):
            return searched
        if questions.is_about_the_agent(text):
            return Reply(_("I am only the memory here: ask me about what you have told me."))
        return Reply(_("I know nothing about that yet. Tell me, and I will remember."))


def _about(principal: Principal, things: Sequence[EntityView], ask: Ask | None) -> Reply:
    """What is known of these things; of several that share a name, only those something is known of."""
    facts = [fact for thing in things for fact in _facts(principal, thing, ask)]
    names = ", ".join(thing.name for thing in things)
    if not facts and ask is not None:
        return Reply(_("I do not know that about %(name)s yet.") % {"name": names})
    if not facts:
        return Reply(_("I know %(name)s, but nothing more yet.") % {"name": names})
    if ask is not None:
        return _told(facts, dated=True)
    intro = ngettext("About %(name)s I know one thing:", "About %(name)s I know %(count)s things:", len(facts))
    return _told(facts, intro=intro % {"name": names, "count": len(facts)})


def _told(facts: Sequence[FactView], *, dated: bool = False, intro: str = "") -> Reply:
    """The facts as sentences: one alone, several as lines."""
    told, more = facts[:_MAX_FACTS], len(facts) - _MAX_FACTS
    lines = [phrasing.sentence(fact, dated=dated) for fact in told]
    if more > 0:
        lines.append(ngettext("and %(count)s thing more", "and %(count)s things more", more) % {"count": more})
    items = f"{lines[0]}." if len(lines) == 1 else "\n".join(f"– {line}" for line in lines)
    separator = " " if len(lines) == 1 else "\n"
    return Reply(f"{intro}{separator}{items}" if intro else items, tuple(told))


def _searched(principal: Principal, text: str) -> Reply | None:
    """What its words find, for a question that cannot be read: dated and sourced, as it may not be meant."""
    facts = [fact for fact in _found_facts(principal, text) if fact.predicate != "name"]
    said = _found_messages(principal, text)[: _MAX_FOUND - len(facts)]
    if not facts and not said:
        return None
    lines = [f"{phrasing.sentence(one, dated=True)} · {provenance_suffix(one, principal=principal)}" for one in facts]
    lines += [f"{_quoted(hit)} · {_said_by(hit)}" for hit in said]
    told = "\n".join([_("This may be what you mean:"), *(f"– {line}" for line in lines)])
    return Reply(told, tuple(facts), quotes=bool(said))


def _found_facts(principal: Principal, text: str) -> list[FactView]:
    hits = _hits(principal, text, "fact", _MAX_FOUND)
    return [hit.fact for hit in hits if hit.fact and hit.score >= _GOOD_SCORE]


def _found_messages(principal: Principal, text: str) -> list[Hit]:
    """What was said with all words that the question asks by, else the best with half of them; no other question."""
    asked = frozenset(lexemes(text))
    said = [
        (hit, len(asked.intersection(lexemes(hit.text))))
        for hit in _hits(principal, text, "episode", _MAX_READ)
        if hit.score >= _GOOD_SCORE and not hit.is_superseded and not questions.is_question(hit.text)
    ]
    whole = [hit for hit, words in said if words == len(asked)]
    return whole or [hit for hit, words in said if 2 * words >= len(asked)][:1]


def _hits(principal: Principal, text: str, kind: SourceKind, limit: int) -> Sequence[Hit]:
    asked = SearchQuery(text=text, mode="keyword", source_kinds=(kind,), limit=limit)
    try:
        return search.search(principal=principal, query=asked).hits
    except Problem:
        return ()  # nothing in it to look for


def _quoted(hit: Hit) -> str:
    return _("“%(text)s”") % {"text": Truncator(one_line(hit.text)).chars(_MAX_QUOTED)}


def _said_by(hit: Hit) -> str:
    day = moments.short_day(hit.occurred_at) if hit.occurred_at else ""
    return ", ".join(part for part in (one_line(hit.speaker), day) if part)


def _facts(principal: Principal, thing: EntityView, ask: Ask | None) -> list[FactView]:
    if ask is not None and ask.former:
        now = clock.now()
        history = asof.history(principal=principal, entity_id=thing.id)
        return [row for row in history if row.predicate in ask.predicates and row.valid_to and row.valid_to <= now]
    inward = list(asof.inbound_facts(principal=principal, entity_id=thing.id).facts)
    if ask is not None and ask.inward:
        return [fact for fact in inward if fact.predicate in ask.predicates]
    outward = asof.entity_facts(principal=principal, entity_id=thing.id).facts
    # A symmetric tie ("married to") is stored from both ends and said once.
    said = {(fact.predicate, fact.object.entity_id) for fact in outward}
    both = [*outward, *(fact for fact in inward if (fact.predicate, fact.subject_id) not in said)]
    if ask is None:
        return [fact for fact in both if fact.predicate != "name"]
    is_tie = set(ask.predicates) <= set(questions.TIES)
    answering = [fact for fact in (both if is_tie else outward) if fact.predicate in ask.predicates]
    return sorted(answering, key=lambda fact: ask.predicates.index(fact.predicate))


def _meant(principal: Principal, about: str, role: Role | None) -> list[EntityView]:
    """The things a name, a role ("my wife") or a pronoun means; several may share a name."""
    if questions.SELF.fullmatch(about):
        return [entities.get_entity(principal=principal, ref="me")]
    if role is None:
        return _named(principal, about)
    ties = _ties(principal, role)
    refs = dict.fromkeys(ref for tie in ties for ref in (tie.subject_ref, tie.object.ref) if ref is not None)
    found = [entities.get_entity(principal=principal, ref=ref) for ref in refs]
    return [thing for thing in found if not thing.is_self]


def _ties(principal: Principal, role: Role) -> list[FactView]:
    """The relations that put somebody in a role to whoever asks."""
    me = entities.get_entity(principal=principal, ref="me")
    # What holds both ways is known from the other's end too, and reads better from there.
    asks = asof.entity_facts if role.owner_first else asof.inbound_facts
    facts = asks(principal=principal, entity_id=me.id).facts
    return [
        fact
        for fact in facts
        if fact.predicate in role.predicates
        and fact.polarity
        and (fact.subject_ref if fact.subject_id != me.id else fact.object.ref or "").startswith(
            f"{role.kind}:" if role.kind else ""
        )
    ]


def _named(principal: Principal, name: str) -> list[EntityView]:
    """Things of this name, the exact ones first, else those whose name holds all its words."""
    keys = finding_keys(name)
    try:
        found = entities.search_entities(principal=principal, q=name, limit=50).items
    except Problem:
        return []  # a text no name can be, so nothing has it
    exact = [thing for thing in found if keys & _keys([thing.name, *thing.aliases])]
    wider = [
        thing
        for thing in found
        if thing not in exact and any(set(key.split()) <= set(name_key(thing.name).split()) for key in keys)
    ]
    return [*exact, *wider][:_MAX_NAMESAKES]


def _mentioned(principal: Principal, text: str) -> EntityView | None:
    """The first word of the question that names exactly one thing."""
    words = [match.group() for match in _NAME.finditer(text) if match.group()[0].isupper()][:_MAX_NAMES]
    return next((found[0] for word in words if len(found := _named(principal, word)) == 1), None)


def _keys(names: Iterable[str]) -> set[str]:
    return {key for name in names for key in finding_keys(name)}
