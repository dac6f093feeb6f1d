"""Domains: under which key knowledge of a workspace stands, for all of it or for one repository."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from django.db import connection
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.scoping.context import scope

MAX_NAME, MAX_REPO = 100, 80
"""Characters."""
_PART = re.compile(r"[^\W_][\w.-]*")
_REPO = "repo:"
GENERAL = "general"
"""Where policies stand that nobody gave a domain."""
DECISIONS = "decisions"
"""Where it stands what several people decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainKey:
    """`name` in the whole workspace, or in one repository only: the same name in both is two stores."""

    name: str
    repo: str | None = None

    def __str__(self) -> str:
        return f"{_REPO}{self.repo}/{self.name}" if self.repo else self.name


def parse(text: str, *, repo: str | None = None, field: str = "domain") -> DomainKey:
    """The key that a text means: `architecture`, or `repo:<slug>/architecture`; `repo` binds one that is bare.

    Raises:
        Problem: `invalid_domain`, `invalid_repo`, or `conflicting_fields` where both name different repositories.
    """
    said = _folded(text)
    bound, name = None, said
    if said.startswith(_REPO):
        bound, _slash, name = said.removeprefix(_REPO).partition("/")
        bound = parse_repo(bound, field=field)
    if not _PART.fullmatch(name) or len(name) > MAX_NAME:
        raise _invalid(field)
    asked = parse_repo(repo) if repo else None
    if bound and asked and bound != asked:
        raise Problem("conflicting_fields", _("The domain already names another repository than `repo`."), field="repo")
    return DomainKey(name=name, repo=bound or asked)


def check_key(text: str, *, field: str = "domain") -> str:
    """Raises Problem `invalid_domain`, `invalid_repo` for what is no key, or one in another spelling."""
    if str(parse(text, field=field)) != text:
        raise _invalid(field)
    return text


def _invalid(field: str) -> Problem:
    return Problem(
        "invalid_domain",
        _("A domain is named like “architecture” or “repo:my-repo/architecture”: letters, digits, . _ -"),
        field=field,
    )


def parse_repo(slug: str, *, field: str = "repo") -> str:
    """Raises Problem `invalid_repo`."""
    said = _folded(slug)
    if not _PART.fullmatch(said) or len(said) > MAX_REPO:
        raise Problem(
            "invalid_repo", _("A repository is named by a slug like “my-repo”: letters, digits, . _ -"), field=field
        )
    return said


def prefix(repo: str | None) -> str:
    """What the keys of a repository's domains begin with, and no others; "" without one. Raises as `parse_repo`."""
    return f"{_REPO}{parse_repo(repo)}/" if repo else ""


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip().lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainView:
    """A domain of a workspace, with how many facts and policies of it hold now."""

    key: str
    name: str
    repo: str | None
    scope_ref: str
    facts: int
    policies: int


def list_domains(*, principal: Principal, scope_ref: str | None = None) -> tuple[DomainView, ...]:
    """The domains of one scope, or of all that the principal reads; by scope and key, those of repositories last.

    One of which nothing holds now is listed as long as its entity is there.
    """
    with scope(principal) as opened, connection.cursor() as cursor:
        scopes = [ref for ref in opened.read if scope_ref in (None, ref)]
        now = clock.now()
        cursor.execute(_DOMAINS, {"scopes": scopes, "now": now, "general": GENERAL})
        rows = cursor.fetchall()
    found = [_view(*row) for row in rows]
    return tuple(sorted(found, key=lambda one: (scopes.index(one.scope_ref), one.repo or "", one.name)))


def _view(scope_ref: str, key: str, facts: int, policies: int) -> DomainView:
    bound, slash, name = key.removeprefix(_REPO).partition("/") if key.startswith(_REPO) else (None, "", key)
    if not slash:
        bound, name = None, key
    return DomainView(key=key, name=name, repo=bound, scope_ref=scope_ref, facts=facts, policies=policies)


_DOMAINS = """
SELECT scope_ref, key, sum(facts)::int, sum(policies)::int FROM (
  SELECT scope_ref, CASE WHEN domain = '' THEN %(general)s ELSE domain END AS key,
         count(*) FILTER (WHERE predicate <> 'policy_rule') AS facts,
         count(*) FILTER (WHERE predicate = 'policy_rule') AS policies
  FROM facts
  WHERE scope_ref = ANY (%(scopes)s) AND superseded_at IS NULL AND polarity AND mirror_of IS NULL
    AND valid_from <= %(now)s AND (valid_to IS NULL OR valid_to > %(now)s)
    AND (predicate = 'policy_rule' OR (domain <> '' AND predicate <> 'required_role'))
  GROUP BY 1, 2
  UNION ALL
  SELECT scope_ref, canonical_name, 0, 0 FROM entities
  WHERE scope_ref = ANY (%(scopes)s) AND kind = 'domain' AND status <> 'merged'
) AS counted GROUP BY 1, 2
"""
