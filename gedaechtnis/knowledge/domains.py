"""Domains: under which key knowledge of a workspace stands, for all of it or for one repository."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem

MAX_NAME, MAX_REPO = 100, 80
"""Characters."""
_PART = re.compile(r"[^\W_][\w.-]*")
_REPO = "repo:"


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
        raise Problem(
            "invalid_domain",
            _("A domain is named like “architecture” or “repo:my-repo/architecture”: letters, digits, . _ -"),
            field=field,
        )
    asked = parse_repo(repo) if repo else None
    if bound and asked and bound != asked:
        raise Problem("conflicting_fields", _("The domain already names another repository than `repo`."), field="repo")
    return DomainKey(name=name, repo=bound or asked)


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
