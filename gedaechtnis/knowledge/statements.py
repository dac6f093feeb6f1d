"""What a person looks through: sentences that stand under domains, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.schemas import Source
from gedaechtnis.memory.selectors import moments, views
from gedaechtnis.scoping import rows
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact

PAGE = 50
MAX_WORDS = 300
"""Characters of what is looked for."""


class Whose(StrEnum):
    """On whose word a sentence stands."""

    MINE = "mine"
    OTHERS = "others"
    AGENTS = "agents"
    SOURCES = "sources"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A domain of a workspace, with the number of sentences in it that hold."""

    scope_ref: str
    domain: str
    count: int

    @property
    def key(self) -> domains.DomainKey:
        return domains.parse(self.domain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """One page of `pages`, by domain, topic and age; `total` is the number of all that were asked for."""

    items: tuple[FactView, ...]
    total: int
    page: int
    pages: int


def list_shelves(*, principal: Principal) -> tuple[Shelf, ...]:
    """The domains that hold sentences now, by key; those of repositories last."""
    with scope(principal), connection.cursor() as cursor:
        cursor.execute(
            f"SELECT scope_ref, domain, count(*) FROM facts WHERE {_HOLDING} GROUP BY scope_ref, domain",  # noqa: S608 (ours)
            _holding(principal),
        )
        found = [Shelf(scope_ref=ref, domain=domain, count=count) for ref, domain, count in cursor.fetchall()]
    return tuple(sorted(found, key=lambda one: (one.key.repo or "", one.key.name, one.scope_ref)))


def list_statements(
    *,
    principal: Principal,
    domain: str | None = None,
    repo: str | None = None,
    whose: Whose | None = None,
    words: str = "",
    page: int = 1,
) -> Statements:
    """Sentences that are believed and hold now. `words` all stand in the sentence or its topic, whole or in part.

    A page beyond the last is the last.

    Raises:
        Problem: `invalid_domain`, `invalid_repo`; `invalid_text`, `too_long` of the words; `invalid_page`.
    """
    check_text(words, field="words", limit=MAX_WORDS)
    if page < 1:
        raise Problem("invalid_page", _("Pages are counted from one."), field="page")
    where, parameters = [_HOLDING], _holding(principal)
    if domain:
        where.append("domain = %s")
        parameters.append(str(domains.parse(domain)))
    if repo:
        where.append("starts_with(domain, %s)")
        parameters.append(domains.prefix(repo))
    if whose is not None:
        condition, values = _whose(whose, principal)
        where.append(condition)
        parameters += values
    for word in words.split():
        where.append("(object_value #>> '{}' ILIKE %s OR topic ILIKE %s)")
        parameters += [_like(word)] * 2
    asked = " AND ".join(where)
    with scope(principal):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM facts WHERE {asked}", parameters)  # noqa: S608 (all parts are ours)
            total: int = cursor.fetchone()[0]
        pages = max(1, -(-total // PAGE))
        shown = min(page, pages)
        ordered = f"{asked} ORDER BY domain, topic, valid_from, id LIMIT %s OFFSET %s"
        found = rows.select(Fact, ordered, [*parameters, PAGE, (shown - 1) * PAGE])
        items = views.fact_views(found, moments.settle(principal=principal))
    return Statements(items=items, total=total, page=shown, pages=pages)


_HOLDING = (
    "scope_ref = ANY(%s) AND superseded_at IS NULL AND predicate = 'statement' AND domain <> '' "
    "AND valid_from <= %s AND (valid_to IS NULL OR valid_to > %s)"
)


def _holding(principal: Principal) -> list[Any]:
    now = clock.now()
    return [list(principal.read_scopes), now, now]


def _whose(whose: Whose, principal: Principal) -> tuple[str, Sequence[Any]]:
    own = [principal.acted_by, f"%@{_escaped(principal.acted_by)}"]
    match whose:
        case Whose.MINE:
            return "source = %s AND (acted_by = %s OR acted_by LIKE %s)", [Source.USER_ASSERTION, *own]
        case Whose.OTHERS:
            return "source = %s AND acted_by <> %s AND acted_by NOT LIKE %s", [Source.USER_ASSERTION, *own]
        case Whose.SOURCES:
            return "source = ANY(%s)", [[Source.TOOL_RESULT, Source.OBSERVATION]]
        case Whose.AGENTS:
            return "NOT source = ANY(%s)", [[Source.USER_ASSERTION, Source.TOOL_RESULT, Source.OBSERVATION]]


def _like(word: str) -> str:
    return f"%{_escaped(word)}%"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
