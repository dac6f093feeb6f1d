"""The agent that answers without a model: its answers are the facts themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import EntityView, FactView
from gedaechtnis.memory.selectors import asof, entities

_QUESTION = re.compile(r"\?\s*$|^\s*(was|wer|wo|wann|wie|warum|welche\w*|what|who|where|when|how|why|which)\b", re.I)
_NAME = re.compile(r"[\w'’-]+")
_MAX_FACTS = 8
_MAX_NAMES = 12


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    fact_ids: tuple[UUID, ...] = ()


def answer(*, principal: Principal, text: str) -> Reply | None:
    """Answer a question about something known; None for a statement, which the curator reads."""
    if not _QUESTION.search(text):
        return None
    with translation.override(principal.language):
        named = _entity_in(principal, text)
        if named is None:
            return Reply(_("I know nothing about that yet. Tell me, and I will remember."))
        facts = [
            fact
            for fact in asof.entity_facts(principal=principal, entity_id=named.id).facts
            if fact.predicate != "name"
        ][:_MAX_FACTS]
        if not facts:
            return Reply(_("I know %(name)s, but nothing more yet.") % {"name": named.name})
        intro = ngettext("About %(name)s I know one thing:", "About %(name)s I know %(count)s things:", len(facts)) % {
            "name": named.name,
            "count": len(facts),
        }
        return Reply(f"{intro} {_listed(facts)}", tuple(fact.id for fact in facts))


def _listed(facts: list[FactView]) -> str:
    return "; ".join(fact.statement for fact in facts) + "."


def _entity_in(principal: Principal, text: str) -> EntityView | None:
    """The first word of the question that names exactly one entity."""
    for word in [match.group() for match in _NAME.finditer(text) if match.group()[0].isupper()][:_MAX_NAMES]:
        try:
            found = entities.search_entities(principal=principal, q=word, limit=2).items
        except Problem:
            continue
        exact = [entity for entity in found if word.casefold() in entity.name.casefold().split()]
        if len(exact) == 1:
            return exact[0]
    return None
