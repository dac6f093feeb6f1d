"""Scopes in words: who else sees a row, and where one may write."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.identity.models import Group, Org
from gedaechtnis.identity.principals import GLOBAL_SCOPE, Principal

Choice = tuple[str, str]
"""A scope and the words for it."""


class Scopes:
    """The scopes a person meets on one page; names are looked up once, and only where they are shown."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal

    def words(self, scope_ref: str) -> str:
        """`private`, a group's or an org's name, or `everyone`."""
        kind = scope_ref.partition(":")[0]
        match kind:
            case "user":
                return _("private")
            case "group" | "org":
                return self._names.get(scope_ref) or _("a former group")
            case _:
                return _("everyone")

    def writes(self, scope_ref: str) -> bool:
        return scope_ref in self._principal.write_scopes

    @cached_property
    def readable(self) -> list[Choice]:
        """What a person may want to look at by itself: their own, their groups, their org; empty if that is one."""
        refs = [ref for ref in self._principal.read_scopes if ref != GLOBAL_SCOPE]
        return [(ref, self.words(ref)) for ref in refs] if len(refs) > 1 else []

    @cached_property
    def writable(self) -> list[Choice]:
        """Where the person may write, their own scope first."""
        refs = [ref for ref in self._principal.read_scopes if self.writes(ref)]
        return [(ref, self.words(ref)) for ref in refs]

    def writable_about(self, scope_ref: str) -> list[Choice]:
        """Where the person may write about an entity of a scope: only where every reader reads the entity too."""
        orgs = self._principal.group_orgs
        return [
            (ref, words)
            for ref, words in self.writable
            if ref == self._principal.acted_by
            or scope_ref in (ref, GLOBAL_SCOPE)
            or (scope_ref.startswith("org:") and scope_ref == f"org:{orgs.get(ref)}")
        ]

    @cached_property
    def _names(self) -> dict[str, str]:
        named: dict[str, str] = {}
        for kind, model in (("group", Group), ("org", Org)):
            prefix = f"{kind}:"
            ids = [UUID(ref.removeprefix(prefix)) for ref in self._principal.read_scopes if ref.startswith(prefix)]
            if ids:
                rows = model._default_manager.filter(id__in=ids).values_list("id", "name")
                named.update((f"{prefix}{id}", name) for id, name in rows)
        return named
