"""Finding by words and meaning what no name leads to: facts, things, and what was said."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils.translation import gettext as _

from gedaechtnis.common.instants import parse_bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains, grants
from gedaechtnis.memory import usage
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import Hit, SearchQuery
from gedaechtnis.tools import arguments, naming, text
from gedaechtnis.tools.data import HitData, SearchData, ToolAnswer

_EARLIEST, _LATEST = datetime(1, 1, 3, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)


def search_world_memory(principal: Principal, asked: arguments.SearchMemory) -> ToolAnswer:
    """The best hits of all that search reads. It finds; what holds now is told by the fact itself."""
    answer = search.search(
        principal=principal,
        query=SearchQuery(
            text=asked.query,
            mode=asked.mode,
            kinds=(asked.kind,) if asked.kind else (),
            predicate=asked.predicate,
            repo=domains.parse_repo(asked.repo) if asked.repo else None,
            time_range=_range(principal, asked.since, asked.until),
            valid_at=naming.moment(principal, asked.at) if asked.at else None,
            limit=asked.limit,
            cursor=asked.cursor,
        ),
    )
    usage.told((hit.scope_ref, hit.fact_id) for hit in answer.hits if hit.fact_id)
    data = SearchData(
        items=[HitData.of(hit) for hit in answer.hits], missing=list(answer.missing), cursor=answer.cursor
    )
    lines = [_told(hit, principal) for hit in answer.hits]
    nothing = "" if lines else _("Nothing found about “%(query)s”.") % {"query": text.inert(asked.query)}
    more = _("… and more: ask again with cursor=%(cursor)s") % {"cursor": answer.cursor} if answer.cursor else ""
    filed = ((hit.scope_ref, hit.fact.domain) for hit in answer.hits if hit.fact and hit.fact.domain)
    mind = grants.hint(principal, filed, writing=False)
    return ToolAnswer(text=text.joined(lines, nothing, mind, more, [f"({one})" for one in answer.missing]), data=data)


def _told(hit: Hit, principal: Principal) -> str:
    score = f"{hit.score:.2f}"
    if hit.fact is not None:
        return f"{text.line(text.full(hit.fact), hit.fact, principal, score)} (fact:{hit.fact.id})"
    said = [hit.speaker and text.inert(hit.speaker), text.day(hit.occurred_at) if hit.occurred_at else ""]
    about = ", ".join(part for part in (score, *said) if part)
    over = ""
    if hit.is_superseded and hit.valid_to:
        over = " · " + _("no longer so since %(day)s") % {"day": text.day(hit.valid_to)}
    lines = hit.text if hit.message_id else hit.text.replace("\n", " · ")
    return f"- {hit.ref} ({about}) — {text.quoted(lines)}{over}"


def _range(principal: Principal, since: str | None, until: str | None) -> tuple[datetime, datetime] | None:
    """`[since, until)`; either may be open. Raises Problem `empty_range`, or a problem of the times."""
    if since is None and until is None:
        return None
    start = parse_bound(since, zone=principal.zone, field="since") if since else None
    end = parse_bound(until, zone=principal.zone, field="until") if until else None
    first, last = start.at if start else _EARLIEST, end.at if end else _LATEST
    if first >= last:
        raise Problem("empty_range", _("A range must end after it begins."), field="until")
    return first, last
