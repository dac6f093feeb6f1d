"""Answers as lines that a model reads: short, composable, inert. In the reader's language and zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gedaechtnis.common import moments
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import wording
from gedaechtnis.memory.answers import EntityView, FactView
from gedaechtnis.memory.suffix import provenance_suffix

_LONGEST = 400
NAME = "name"
"""The predicate that says what an entity is called: its heading says so already."""


def inert(text: str) -> str:
    """What others wrote, inert, on one line and with an end in sight; the data has it whole."""
    line = wording.inert(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def whole(text: str) -> str:
    """What others wrote, inert and on one line, and all of it: for what is kept short where it comes in."""
    return wording.inert(text)


def quoted(text: str) -> str:
    return _("“%(text)s”") % {"text": inert(text)}


def value(fact: FactView) -> str:
    """The object: a literal as people read it, an entity by its reference."""
    return inert(fact.object.ref or fact.object.label)


def said(fact: FactView) -> str:
    """`species = cat`, `eats ≠ meat`, `→ lives_in place:ulm`; what does not hold is marked as such."""
    if fact.object.kind == "literal":
        return f"{fact.predicate} {'=' if fact.polarity else '≠'} {value(fact)}"
    arrow = "→" if fact.polarity else "↛"
    return f"{arrow} {fact.predicate} {value(fact)}"


def said_from_the_object(fact: FactView) -> str:
    """`← cares_for person:basti`, a relationship as the thing it leads to sees it."""
    return f"{'←' if fact.polarity else '↚'} {fact.predicate} {fact.subject_ref}"


def full(fact: FactView) -> str:
    """`pet:luna.species = cat`, `person:basti → cares_for pet:luna`."""
    return f"{fact.subject_ref}{'.' if fact.object.kind == 'literal' else ' '}{said(fact)}"


def line(words: str, fact: FactView, principal: Principal, *notes: str) -> str:
    """One belief: what it says, since when, what else is to be noted, where it comes from."""
    when = wording.period(fact)
    told = ", ".join(part for part in (when, *notes) if part)
    return f"- {words}{f' ({told})' if told else ''} · {provenance_suffix(fact, principal=principal)}"


def heading(entity: EntityView) -> str:
    """`pet:luna (pet) — “Luna” · also called: Lunchen`."""
    also = [inert(alias) for alias in entity.aliases if alias != entity.name]
    parts = [
        f"{entity.ref} ({entity.kind}) — {quoted(entity.name)}",
        "" if entity.status == "active" else _status(entity.status),
        _("also called: %(names)s") % {"names": ", ".join(also)} if also else "",
    ]
    return " · ".join(part for part in parts if part)


def _status(status: str) -> str:
    return {"archived": _("archived"), "merged": _("merged"), "deprecated": _("no longer used")}.get(status, status)


def day(instant: datetime) -> str:
    return moments.short_day(instant)


def capped(lines: Sequence[str], limit: int, *, how: str = "") -> list[str]:
    """The first lines, and how many more there are with how to get them."""
    more = len(lines) - limit
    if more <= 0:
        return list(lines)
    rest = ngettext("… and %(count)d more", "… and %(count)d more", more) % {"count": more}
    return [*lines[:limit], f"{rest}: {how or _ask_for(len(lines))}"]


def _ask_for(all: int) -> str:
    return _("ask again with limit=%(limit)d") % {"limit": all} if all <= _MOST else _("ask for one predicate")


_MOST = 200


def joined(*parts: str | Iterable[str]) -> str:
    """Sections as one text; empty ones fall away."""
    lines = [line for part in parts for line in ([part] if isinstance(part, str) else part)]
    return "\n".join(line for line in lines if line)


def section(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *lines] if lines else []
