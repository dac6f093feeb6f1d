"""Where a belief comes from, in one line behind it: `👤 8 Jun 26 · Flat share · for work · ●●●●○ · ended 1 Jul 26`.

The same behind every fact that an agent reads. In the reader's language (the active one), their zone, and inert: what
others named cannot break the line.
"""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from typing import Protocol

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from gedaechtnis.common import moments
from gedaechtnis.common.text import one_line
from gedaechtnis.identity.principals import GLOBAL_SCOPE, Principal
from gedaechtnis.memory.schemas import Source


class Provenance(Protocol):
    """What of a belief its suffix tells."""

    @property
    def source(self) -> str: ...
    @property
    def acted_by(self) -> str: ...
    @property
    def learned_at(self) -> datetime: ...
    @property
    def scope_ref(self) -> str: ...
    @property
    def applies_to_ref(self) -> str | None: ...
    @property
    def confidence(self) -> float: ...
    @property
    def status(self) -> str: ...
    @property
    def valid_to(self) -> datetime | None: ...
    @property
    def superseded_at(self) -> datetime | None: ...


DOTS = 5
_VENDOR_LENGTH = 30


def provenance_suffix(fact: Provenance, *, principal: Principal) -> str:
    """`SOURCE DATE · scope? · context? · CONFIDENCE [· lifecycle]`, as `principal` reads it.

    The date is when it was learned; the scope is told where it is not the reader's own, the context where the fact
    holds in one only, the lifecycle where the fact is not active.
    """
    parts = [
        f"{sign(source=fact.source, acted_by=fact.acted_by)} {_day(fact.learned_at, principal)}",
        scope_words(fact.scope_ref, principal),
        _("for %(context)s") % {"context": one_line(fact.applies_to_ref)} if fact.applies_to_ref else "",
        dots(fact.confidence),
        _lifecycle(fact, principal),
    ]
    return " · ".join(part for part in parts if part)


def sign(*, source: str, acted_by: str) -> str:
    """👤 a person's word, 🔌 a connected source by its name, 🤖 what an agent or the server concluded."""
    match source:
        case Source.USER_ASSERTION:
            return "👤"
        case Source.TOOL_RESULT | Source.OBSERVATION:
            return f"🔌 {_vendor(acted_by)}".rstrip()
        case _:
            return "🤖"


def dots(confidence: float) -> str:
    """Five dots, at least one of them full."""
    full = min(DOTS, max(1, round(confidence * DOTS)))
    return "●" * full + "○" * (DOTS - full)


def scope_words(scope_ref: str, principal: Principal) -> str:
    """Who shares a row: a group's or an organisation's name, or everyone; "" for the reader's own."""
    if scope_ref == GLOBAL_SCOPE:
        return _("everyone")
    if scope_ref in principal.scope_names:
        return one_line(principal.scope_names[scope_ref])
    kind = scope_ref.partition(":")[0]
    return {"group": _("a group"), "org": _("an organisation")}.get(kind, "")


def _vendor(acted_by: str) -> str:
    """`github` of `integration:github`, `ci` of `agent:ci@user:…`; "" for whoever speaks for themselves."""
    kind, _colon, name = acted_by.partition("@")[0].partition(":")
    return one_line(name)[:_VENDOR_LENGTH] if kind in {"agent", "integration"} else ""


def _lifecycle(fact: Provenance, principal: Principal) -> str:
    """What became of a fact that holds no longer, and since when."""
    match fact.status:
        case "active":
            return ""
        case "expired":
            words, at = _("ended"), fact.valid_to
        case "superseded":
            words, at = _("superseded"), fact.superseded_at or fact.valid_to
        case _:
            words, at = _("withdrawn"), fact.superseded_at
    return f"{words} {_day(at, principal)}" if at else words


def _day(instant: datetime, principal: Principal) -> str:
    return _in_words(instant.astimezone(principal.zone).date(), get_language())


@lru_cache(maxsize=1024)
def _in_words(day: date, language: str | None) -> str:
    """Kept, by `language` (the active one): putting a date into words takes longer than all the rest of a line."""
    return moments.short_day(day)
