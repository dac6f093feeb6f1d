"""Tags and filters of the pages: icons, moments, values, provenance signs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from django import template
from django.conf import settings
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from gedaechtnis.chat import phrasing
from gedaechtnis.common import clock, moments
from gedaechtnis.identity.models import User
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors.recall.hits import Hit
from gedaechtnis.web import marking, values
from gedaechtnis.web.forms import TOKEN_CLEARANCES
from gedaechtnis.web.scopes import Scopes, chip_key, entity_key, is_private, object_key, subject_key

register = template.Library()

_NAME = re.compile(r"[a-z0-9-]+")
_UNSURE_BELOW = 3
"""From this many dots down a belief is shown as a guess."""


@cache
def _drawing(name: str) -> str:
    """The inside of a drawing; a plain dot for a name (of a kind in the registry) that has none."""
    folder = Path(settings.NODE_MODULES, "lucide-static", "icons")
    file = folder / f"{name}.svg"
    source = (file if _NAME.fullmatch(name) and file.is_file() else folder / "dot.svg").read_text()
    inner = source[source.index(">", source.index("<svg")) + 1 : source.rindex("</svg>")]
    return " ".join(inner.split())


@register.simple_tag
def icon(name: str) -> SafeString:
    """A Lucide drawing, inline; hidden from screen readers, so the words stand beside it."""
    return mark_safe(  # noqa: S308 - the drawing comes from a locked package, the name from a template
        '<svg class="icon" viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" '
        'stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">'
        f"{_drawing(name)}</svg>"
    )


register.filter("full_day", moments.full_day)
register.filter("long_day", moments.long_day)
register.filter("short_day", moments.short_day)
register.filter("clock", moments.clock)
register.filter("day_and_clock", moments.day_and_clock)
register.filter("moment", moments.moment)


register.filter("key", entity_key)
register.filter("subject_key", subject_key)
register.filter("object_key", object_key)
register.filter("chip_key", chip_key)
register.filter("is_private_scope", is_private)


@register.simple_tag(takes_context=True)
def scope_chip(context: Context, scope_ref: str) -> SafeString:
    """Who else sees this; nothing where nobody does."""
    if is_private(scope_ref):
        return SafeString("")
    who = context["request"].scopes.words(scope_ref)
    return format_html(
        '<span class="chip scope"><span class="visually-hidden">{} </span>{}</span>', _("shared with"), who
    )


@register.filter
def is_open_to(scope_ref: str, scopes: Scopes) -> bool:
    """Whether the person may write there."""
    return scopes.writes(scope_ref)


@register.filter
def in_words(scope_ref: str, scopes: Scopes) -> str:
    """Who sees what is in a scope."""
    return scopes.words(scope_ref)


@register.filter
def speaker(acted_by: str, scopes: Scopes) -> str:
    """Who spoke, in words."""
    return scopes.speaker(acted_by)


@register.filter
def role_words(role: str) -> str:
    """What a role in a group or an organisation lets one do."""
    words = {"owner": _("owns it"), "editor": _("writes"), "viewer": _("reads along")}
    return (words | {"admin": _("administers it"), "member": _("is a member")})[role]


@register.filter
def clearance_words(clearance: int) -> str:
    """What a token sees, in the words it was chosen by."""
    return str(dict(TOKEN_CLEARANCES)[clearance])


@register.filter
def source_words(source: str) -> str:
    """Where an imported chat is from."""
    return values.SOURCES.get(source) or _("from a file")


@register.filter
def part_words(kind: str) -> str:
    """What a piece of a message is; the vendor's own word for one that is not known here."""
    return str(values.PARTS.get(kind, kind))


@register.filter
def ago(instant: datetime) -> str:
    """`2 min ago`, seen from now."""
    return moments.ago(instant, clock.now())


@register.filter
def period(fact: FactView) -> str:
    """When a fact holds, in words."""
    return moments.period(fact.valid_from, fact.valid_from_precision, fact.valid_to, fact.valid_to_precision)


@register.filter
def told(fact: FactView) -> str:
    """What a fact says of its subject: the value, or that it is not this value."""
    value = values.told(fact.object)
    return value if fact.polarity else _("not %(value)s") % {"value": value}


@register.filter
def in_a_sentence(fact: FactView) -> str:
    """A fact by itself, with its subject."""
    return phrasing.sentence(fact)


@register.filter
def over(fact: FactView) -> str:
    """Until when it held, or since when it is believed no longer."""
    if fact.valid_to is None and fact.superseded_at is not None:
        return _("believed until %(day)s") % {"day": moments.long_day(fact.superseded_at)}
    return period(fact) or _("over")


register.filter("marked", marking.marked)


@register.filter
def speaker_words(hit: Hit, reader: User) -> str:
    """Who said what was found; the reader is spoken to."""
    return _("you") if hit.speaker in {reader.get_full_name(), reader.get_username()} else hit.speaker


@register.filter
def quoted(names: Iterable[str]) -> str:
    """Names in the quotation marks of the language, in a row."""
    return ", ".join(_("“%(name)s”") % {"name": name} for name in names)


@register.filter
def initials(name: str) -> str:
    """One or two letters for a portrait: the first of the first and of the last word."""
    letters = [word[0] for word in name.split() if word[0].isalnum()]
    return "".join([*letters[:1], *letters[1:][-1:]]).upper() or "·"


@dataclass(frozen=True, slots=True)
class Sign:
    """Where a belief comes from: a drawing and the word for it."""

    icon: str
    words: str


@register.simple_tag(takes_context=True)
def sign_of(context: Context, fact: FactView) -> Sign:
    """Person, agent, rule or connected source."""
    match fact.source:
        case "user_assertion":
            return Sign("user-round", context["request"].scopes.somebody_else(fact.acted_by) or _("you"))
        case "tool_result" | "observation":
            return Sign("plug", _("connected source"))
        case "system_rule":
            return Sign("shield", _("rule"))
        case _:
            return Sign("bot", _("the agent’s conclusion"))


@dataclass(frozen=True, slots=True)
class Certainty:
    """Confidence as dots, always with its words."""

    filled: range
    hollow: range
    words: str
    is_guess: bool


@register.filter
def certainty(fact: FactView) -> Certainty:
    """Five dots and their meaning."""
    filled = min(5, max(1, round(fact.confidence * 5)))
    words = [_("vague"), _("unsure"), _("fairly sure"), _("sure"), _("very sure")][filled - 1]
    is_guess = filled < _UNSURE_BELOW or fact.memory_type == "hypothesis"
    return Certainty(range(filled), range(5 - filled), words, is_guess)
