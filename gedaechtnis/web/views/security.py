"""Settings, security log: who signed in, who was given or lost what, which agent read what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import starmap
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from gedaechtnis.identity import audit, tokens
from gedaechtnis.identity.models import AuditEntry
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.web.forms import SENSITIVITIES
from gedaechtnis.web.http import PersonRequest, private, show
from gedaechtnis.web.templatetags.gedaechtnis import clearance_words, role_words

_PAGE = 50
_SHARED = ("group:", "org:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry in words. `who` is empty for the person themself; `entity` and `fact` are ids to follow.

    `words` are the details a person understands, `codes` the others.
    """

    id: UUID
    at: datetime
    act: str
    who: str
    token: str
    where: str
    entity: str
    fact: str
    words: list[str]
    codes: str


@require_safe
@private
def log(request: PersonRequest) -> HttpResponse:
    """What concerns the person, the newest first."""
    found = audit.entries_of(request.user.sub, before=as_uuid(request.GET.get("before", "")), limit=_PAGE + 1)
    context = {
        "nav": "settings",
        "section": "security",
        "lines": list(_lines(request, found[:_PAGE])),
        "more": found[_PAGE - 1].pk if len(found) > _PAGE else None,
    }
    return show(request, "settings/security.html", "security-log", context)


def _lines(request: PersonRequest, entries: Iterable[AuditEntry]) -> Iterator[Line]:
    names = {token.pk: token.name for token in tokens.list_tokens(user=request.user)}
    for entry in entries:
        details = dict(entry.details)
        scope_ref, entity, fact = details.pop("scope", ""), details.pop("entity", ""), details.pop("fact", "")
        yield Line(
            id=entry.pk,
            at=entry.at,
            act=_act(entry.kind),
            who=_who(request, entry.acted_by),
            token=names.get(entry.token_id, "") if entry.token_id else "",
            where=request.scopes.words(scope_ref) if scope_ref.startswith(_SHARED) else "",
            entity=entity,
            fact=fact,
            words=list(filter(None, starmap(_told, details.items()))),
            codes=" ".join(code for name, code in details.items() if not _told(name, code)),
        )


def _act(kind: str) -> str:
    """What happened; the bare code of a kind that came with a later version."""
    return str(audit.Kind(kind).label) if kind in audit.Kind.values else kind


def _told(name: str, code: str) -> str:
    """A detail in words; empty for what has none, or came with a later version."""
    try:
        match name:
            case "role":
                return role_words(code)
            case "clearance":
                return f"{_('sees')} {clearance_words(int(code))}"
            case "change":
                before, after = (str(SENSITIVITIES[int(level)]) for level in code.split("-"))
                return _("from “%(before)s” to “%(after)s”") % {"before": before, "after": after}
            case "rows" | "lines":
                return ngettext("%(count)s line", "%(count)s lines", int(code)) % {"count": code}
    except (LookupError, ValueError):
        return ""
    return ""


def _who(request: PersonRequest, acted_by: str) -> str:
    if not acted_by:
        return _("somebody unknown")
    role, at, _scope = acted_by.partition("@")
    if at:
        return _("agent: %(role)s") % {"role": role.removeprefix("agent:")}
    return request.scopes.somebody_else(acted_by) or ("" if acted_by == request.principal.acted_by else _("the server"))
