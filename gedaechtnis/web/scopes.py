"""Scopes in words: who else sees a row, and where one may write."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.chat.answers import FactChip
from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity.models import Group, Org, User
from gedaechtnis.identity.ownership import owns
from gedaechtnis.identity.principals import GLOBAL_SCOPE, Principal
from gedaechtnis.memory.answers import EntityView, FactView

Choice = tuple[str, str]
"""A scope and the words for it."""


def is_private(scope_ref: str) -> bool:
    return scope_ref.startswith("user:")


def entity_key(entity: EntityView) -> str:
    """What names an entity in an address: `kind:slug` among one's own things, its id among shared ones.

    A group may hold a thing of the same kind and name as one's own, which `kind:slug` would lead to.
    """
    return _key(entity.ref, entity.id, entity.scope_ref)


def subject_key(fact: FactView) -> str:
    """As `entity_key`, for what a fact is about."""
    return _key(fact.subject_ref, fact.subject_id, fact.subject_scope)


def object_key(fact: FactView) -> str:
    """As `entity_key`, for what a relation leads to."""
    return _key(fact.object.ref, fact.object.entity_id, fact.object.entity_scope)


def chip_key(chip: FactChip) -> str:
    """As `entity_key`, for what an answer rests on."""
    return _key(chip.entity_ref, chip.entity_id, chip.entity_scope)


def _key(ref: str | None, id: UUID | None, scope_ref: str | None) -> str:
    return ref if ref and scope_ref and is_private(scope_ref) else str(id)


class Scopes:
    """The scopes a person meets on one page; names are looked up once, and only where they are shown."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._people: dict[str, str] = {}

    def words(self, scope_ref: str) -> str:
        """`private`, a group's or an org's name, or `everyone`."""
        kind = scope_ref.partition(":")[0]
        match kind:
            case "user":
                return _("private")
            case "group":
                return self._names.get(scope_ref) or _("a former group")
            case "org":
                return self._names.get(scope_ref) or _("a former organisation")
            case _:
                return _("everyone")

    def only(self, scope_ref: str) -> Principal:
        """The person, reading this scope alone.

        Raises:
            NotFound: unreadable and missing alike.
        """
        if scope_ref not in self._principal.read_scopes:
            raise NotFound(_("There is no such group."), field="scope")
        return replace(self._principal, read_scopes=(scope_ref,))

    def somebody_else(self, acted_by: str) -> str | None:
        """The name of who acted, unless it was the person of this page or no person at all."""
        scope_ref = acted_by.rpartition("@")[2]
        if not is_private(scope_ref) or scope_ref == self._principal.acted_by:
            return None
        if scope_ref not in self._people:
            named = User.objects.filter(sub=UUID(scope_ref.removeprefix("user:")))
            self._people[scope_ref] = named.values_list("username", flat=True).first() or _("a former member")
        return self._people[scope_ref]

    def speaker(self, acted_by: str) -> str:
        """Who spoke: the reader, somebody else, or an agent with whose it is."""
        who, at, _owner = acted_by.rpartition("@")
        whose = self.somebody_else(acted_by)
        if not at:
            return whose or (_("you") if acted_by == self._principal.acted_by else _("the server"))
        role = who.removeprefix("agent:")
        if who == "curator":
            return _("the curator")
        if whose is None:
            return _("your agent “%(role)s”") % {"role": role}
        return _("“%(role)s”, an agent of %(name)s’s") % {"role": role, "name": whose}

    def leads(self, scope_ref: str) -> bool:
        """Whether the person decides about the place, beyond writing in it."""
        return owns(self._principal, scope_ref)

    def writes(self, scope_ref: str) -> bool:
        return scope_ref in self._principal.write_scopes

    @cached_property
    def orgs(self) -> list[tuple[UUID, str]]:
        """The organisations among which the person may choose one to act in; empty if there is no choice."""
        if self._principal.org_id is None:
            return []
        found = list(Org.objects.filter(memberships__user__sub=str(self._principal.sub)).order_by("name", "id"))
        return [(org.pk, org.name) for org in found] if len(found) > 1 else []

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
        """Of all groups and organisations the person is in: the security log and tokens tell of others than the one
        organisation they act in.
        """
        mine = {"memberships__user__sub": str(self._principal.sub)}
        groups = Group.objects.filter(**mine, closed_at=None).values_list("id", "name")
        orgs = Org.objects.filter(**mine).values_list("id", "name")
        return {f"group:{id}": name for id, name in groups} | {f"org:{id}": name for id, name in orgs}
