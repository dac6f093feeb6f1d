"""What agents of a role may do in a domain. Hard where rules are proposed; elsewhere a hint that hides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models.functions import Length
from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import audit
from gedaechtnis.identity.ownership import owns
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.knowledge import domains
from gedaechtnis.knowledge.agents import check_role, workspace
from gedaechtnis.knowledge.models import DomainGrant
from gedaechtnis.knowledge.policies import GENERAL, RULE
from gedaechtnis.memory import events
from gedaechtnis.memory.schemas import Source
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import PUBLIC

Permission = DomainGrant.Permission
GRANT_CHANGED = "grant.changed"
"""Type of the event, and of the live notice."""
_DEFAULT = Permission.WRITE
"""Of a domain about which nothing was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """`agent_role` "" stands for every role that no other grant of the domain names."""

    id: UUID
    scope_ref: str
    domain: str
    agent_role: str
    permission: Permission


def permission(scope_ref: str, domain: str, role: str) -> Permission:
    """What a role may do in a domain, inside an open scope: its own grant, else that of all roles, else everything."""
    found = (
        DomainGrant.objects.filter(scope_ref=scope_ref, domain=domain, agent_role__in=("", role))
        .order_by(Length("agent_role").desc())
        .first()
    )
    return Permission(found.permission) if found else _DEFAULT


def require_write(principal: Principal, scope_ref: str, domain: str) -> None:
    """Nothing where the principal may propose rules in a domain; people always may.

    Raises:
        Problem: `grant_denied` (403) naming domain and role.
    """
    if principal.is_person:
        return
    role = principal.agent_role
    with scope(principal):
        granted = permission(scope_ref, domain, role)
    if granted != Permission.WRITE:
        detail = _("Agents of the role “%(role)s” may not propose rules in the domain “%(domain)s”.")
        extra = {"domain": domain, "agent_role": role, "permission": str(granted)}
        raise Problem("grant_denied", detail % {"role": role, "domain": domain}, 403, "domain", extra)


def hint(principal: Principal, places: Iterable[tuple[str, str]], *, writing: bool) -> str:
    """What an agent is asked to mind of domains (`(scope_ref, domain)`), where nothing is refused; "" if nothing.

    Of reading (`writing` false) only those it is to keep out of.
    """
    asked = sorted(set(places)) if not principal.is_person else []
    if not asked:
        return ""
    role, told = principal.agent_role, []
    with scope(principal):
        granted = [(domain, permission(scope_ref, domain, role)) for scope_ref, domain in asked]
    for least, sentence in (
        (Permission.NONE, _("Agents of the role “%(role)s” are asked to keep out of: %(domains)s.")),
        (Permission.READ, _("Agents of the role “%(role)s” are asked only to read in: %(domains)s.")),
    ):
        named = ", ".join(domain for domain, may in granted if may == least and (writing or may == Permission.NONE))
        told += [sentence % {"role": role, "domains": named}] if named else []
    return " ".join(told)


def check_domain(principal: Principal, scope_ref: str, predicate: str, domain: str) -> None:
    """Of what comes by any door: whether it names a domain by its key, and a rule one where it may be proposed.

    The curator proposes what the person said, and is no agent of a role.

    Raises:
        Problem: `invalid_domain`, `invalid_repo`; `grant_denied` (403).
    """
    key = domains.check_key(domain or GENERAL)
    if predicate == RULE and principal.kind is not PrincipalKind.CURATOR:
        require_write(principal, scope_ref, key)


def list_grants(*, principal: Principal, scope_ref: str | None = None) -> tuple[Grant, ...]:
    """The grants of a workspace, by domain and role.

    Raises:
        Problem: `scope_denied` (403).
    """
    chosen = workspace(principal, scope_ref)
    with scope(principal):
        rows = DomainGrant.objects.filter(scope_ref=chosen).order_by("domain", "agent_role")
        return tuple(_view(row) for row in rows)


def set_grant(
    *, principal: Principal, domain: str, agent_role: str, permission: str | None, scope_ref: str | None = None
) -> Grant | None:
    """Say what a role may do in a domain; None takes the grant back. Set as it is already, nothing is recorded.

    Raises:
        Problem: `not_owner` (403) unless a person leads the workspace; `invalid_domain`, `invalid_repo`,
            `invalid_agent_role`, `invalid_permission`.
    """
    chosen = scope_ref or principal.default_scope
    if not owns(principal, chosen):
        raise Problem("not_owner", _("Only who owns this place may decide what agents may do in it."), 403)
    if permission is not None and permission not in Permission.values:
        raise Problem("invalid_permission", _("A role may do none, read or write."), field="permission")
    key, role = str(domains.parse(domain)), check_role(agent_role, field="agent_role")
    with scope(principal, write=chosen) as opened:
        session = WriteSession.begin(opened)
        row = DomainGrant.objects.filter(scope_ref=chosen, domain=key, agent_role=role).first()
        before = row.permission if row else None
        if before == permission:
            return _view(row) if row else None
        row = row or DomainGrant(**session.ownership, classification=PUBLIC, domain=key, agent_role=role)
        grant_id = row.pk
        if permission is None:
            row.delete()
        else:
            row.permission = permission
            row.save()
        change = f"{before or 'default'}-{permission or 'default'}"
        session.add_event(
            id=uuid7(),
            event_type=GRANT_CHANGED,
            tick=session.ticks[0],
            source=Source.USER_ASSERTION,
            payload={"grant_id": str(grant_id), "domain": key, "agent_role": role, "change": change},
        )
        session.finish()
        audit.record(
            audit.Kind.GRANT_CHANGED,
            acted_by=principal.acted_by,
            sub=principal.sub,
            token_id=principal.token_id,
            scope=chosen,
            grant=str(grant_id),
            change=change,
        )
        events.publish_on_commit(chosen, GRANT_CHANGED, [grant_id])
        return _view(row) if permission is not None else None


def _view(row: DomainGrant) -> Grant:
    return Grant(
        id=row.pk,
        scope_ref=row.scope_ref,
        domain=row.domain,
        agent_role=row.agent_role,
        permission=Permission(row.permission),
    )
