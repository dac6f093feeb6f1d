"""What agents may do in a domain: everything, until somebody who leads the workspace says otherwise."""

from __future__ import annotations

from functools import partial

import pytest
from django.utils import translation

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import AuditEntry, User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import grants
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.knowledge.grants import Permission
from gedaechtnis.memory.projecting import index
from gedaechtnis.scoping.context import scope
from gedaechtnis.tools import registry
from gedaechtnis.world.models import WorldEvent
from tests.integration.knowledge.conftest import agent_of
from tests.integration.knowledge.test_pads import refused
from tests.integration.test_concurrent_writers import together


def may(principal: Principal, scope_ref: str, domain: str) -> bool:
    """Whether rules may be proposed there; if not, the refusal names domain and role."""
    try:
        grants.require_write(principal, scope_ref, domain)
    except Problem as problem:
        told = (problem.code, problem.status, problem.extra["domain"], problem.extra["agent_role"])
        if told != ("grant_denied", 403, domain, principal.agent_role) or domain not in problem.detail:
            raise
        return False
    return True


def test_a_new_domain_is_open_to_every_role(reviewer: Principal, planner: Principal) -> None:
    for agent in (reviewer, planner):
        assert may(agent, agent.default_scope, "architecture")
    with scope(reviewer):
        assert grants.permission(reviewer.default_scope, "architecture", "reviewer") == Permission.WRITE


@pytest.mark.parametrize(
    ("for_all", "for_reviewer", "reviewer_may", "planner_may"),
    [
        (None, "none", False, True),
        (None, "read", False, True),
        (None, "write", True, True),
        ("none", None, False, False),
        ("read", None, False, False),
        ("none", "write", True, False),
        ("write", "none", False, True),
        ("write", "read", False, True),
        ("write", None, True, True),
    ],
)
def test_a_grant_of_the_role_goes_before_that_of_all(
    as_anna: Principal,
    reviewer: Principal,
    planner: Principal,
    for_all: str | None,
    for_reviewer: str | None,
    reviewer_may: bool,
    planner_may: bool,
) -> None:
    own = as_anna.default_scope
    for role, permission in (("", for_all), ("reviewer", for_reviewer)):
        grants.set_grant(principal=as_anna, domain="architecture", agent_role=role, permission=permission)
    assert may(reviewer, own, "architecture") is reviewer_may
    assert may(planner, own, "architecture") is planner_may
    assert may(as_anna, own, "architecture")
    assert may(reviewer, own, "style")


@pytest.mark.parametrize(
    ("permission", "found", "proposed"),
    [
        (None, False, False),
        ("write", False, False),
        ("read", False, "asked only to read in: style"),
        ("none", "asked to keep out of: style", "asked to keep out of: style"),
    ],
)
def test_reading_and_facts_are_never_refused_but_a_hint_is_told(
    as_anna: Principal,
    reviewer: Principal,
    planner: Principal,
    permission: str | None,
    found: str | bool,
    proposed: str | bool,
) -> None:
    sentence = "Lines are 120 characters long."
    propose_statement(principal=as_anna, content=sentence, domain="style")
    index.run(scope_ref=as_anna.default_scope)
    grants.set_grant(principal=as_anna, domain="style", agent_role="reviewer", permission=permission)

    def told(principal: Principal, tool: str, **arguments: str) -> str:
        with translation.override("en"):
            return registry.run(tool, principal=principal, arguments=arguments).text

    for who in (reviewer, planner, as_anna):
        said = told(who, "search_world_memory", query="How long are lines?")
        assert sentence in said
        assert ("asked to" in said) is (who is reviewer and bool(found))
        assert not (who is reviewer and found) or str(found) in said
    said = told(reviewer, "propose_fact", domain="style", object="Tabs are four wide.")
    assert said.startswith("Proposed.")
    assert ("asked" in said) is bool(proposed)
    assert not proposed or str(proposed) in said


def test_the_same_name_in_a_repository_is_another_domain(as_anna: Principal, reviewer: Principal) -> None:
    own = as_anna.default_scope
    set_one = partial(grants.set_grant, principal=as_anna, agent_role="", permission="read")
    set_one(domain="repo:Haus/Architecture")
    assert not may(reviewer, own, "repo:haus/architecture")
    assert may(reviewer, own, "architecture")
    assert may(reviewer, own, "repo:garten/architecture")


def test_only_who_leads_the_workspace_changes_them(
    anna: User, as_ben: Principal, reviewer: Principal, as_clara: Principal, shared: str
) -> None:
    trusted = agent_of(anna, "reviewer", scope_ref=shared)
    for principal in (as_ben, trusted, as_clara):
        act = partial(grants.set_grant, principal=principal, scope_ref=shared, domain="style")
        assert refused("not_owner", partial(act, agent_role="", permission="none")).status == 403
    refused("not_owner", lambda: grants.set_grant(principal=reviewer, domain="a", agent_role="", permission="none"))
    assert grants.list_grants(principal=as_ben, scope_ref=shared) == ()
    made = grants.set_grant(
        principal=person(anna), scope_ref=shared, domain="style", agent_role="planner", permission="read"
    )
    assert grants.list_grants(principal=as_ben, scope_ref=shared) == (made,)
    refused("scope_denied", lambda: grants.list_grants(principal=as_clara, scope_ref=shared))
    assert not may(agent_of(anna, "planner", scope_ref=shared, clearance=0), shared, "style")


def test_each_change_is_on_record_once(as_anna: Principal) -> None:
    permissions = ("read", "read", "none", None, None)
    for permission in permissions:
        grants.set_grant(principal=as_anna, domain="style", agent_role="planner", permission=permission)
    with scope(as_anna):
        told = WorldEvent.objects.filter(event_type=grants.GRANT_CHANGED).order_by("recorded_at")
        assert [event.payload["change"] for event in told] == ["default-read", "read-none", "none-default"]
        assert {(event.payload["domain"], event.payload["agent_role"]) for event in told} == {("style", "planner")}
    entries = AuditEntry.objects.filter(kind="grant_changed").order_by("at", "id")
    assert [entry.details["change"] for entry in entries] == ["default-read", "read-none", "none-default"]
    assert all("style" not in str(entry.details) for entry in entries)
    assert grants.list_grants(principal=as_anna) == ()


@pytest.mark.parametrize(
    ("domain", "role", "permission", "code"),
    [
        ("", "", "none", "invalid_domain"),
        ("a b", "", "none", "invalid_domain"),
        ("a\x00", "", "none", "invalid_domain"),
        ("style", "Rev iew", "none", "invalid_agent_role"),
        ("style", "r\x00", "none", "invalid_agent_role"),
        ("style", "", "all", "invalid_permission"),
        ("style", "", "", "invalid_permission"),
    ],
)
def test_what_makes_no_sense_is_refused(as_anna: Principal, domain: str, role: str, permission: str, code: str) -> None:
    act = partial(grants.set_grant, principal=as_anna, domain=domain, agent_role=role, permission=permission)
    refused(code, act)


def test_of_many_at_once_none_breaks(as_anna: Principal) -> None:
    act = partial(grants.set_grant, principal=as_anna, domain="style", agent_role="")
    done = together([partial(act, permission=("none", "read", None)[number % 3]) for number in range(9)])
    assert not [one for one in done if isinstance(one, Exception)]
    assert len(grants.list_grants(principal=as_anna)) <= 1
