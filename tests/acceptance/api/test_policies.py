"""The rules of a workspace at the REST door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.knowledge import grants
from tests.acceptance.api.support import assert_problem

POLICIES = "/api/knowledge/policies"
TABS = "Rücke mit Tabs ein"


def rules(client: Any, **asked: Any) -> list[str]:
    return [item["rule"] for item in client.get(POLICIES, asked).json()["items"]]


def test_a_rule_is_made_replaced_switched_and_taken_back(api: Any) -> None:
    asked = {"rule": TABS, "domain": "style", "repo": "api", "required_role": "coder"}
    made = api.post(POLICIES, asked).json()
    assert made["outcome"] == "committed"
    listed = api.get(POLICIES).json()
    (policy,) = listed["items"]
    assert (policy["id"], policy["domain"], policy["required_role"]) == (
        made["fact_id"],
        "repo:api/style",
        "coder",
    )
    assert listed["characters"] == len(f"- [repo:api/style] {TABS}")
    assert listed["tokens"] > 0
    one = f"{POLICIES}/{policy['id']}"
    assert api.post(f"{one}/deactivate").json()["outcome"] == "committed"
    assert (rules(api), rules(api, include_inactive=True)) == ([], [TABS])
    assert api.post(f"{one}/deactivate").json()["outcome"] == "restated"
    assert api.post(f"{one}/activate", {"reason": "Doch"}).json()["outcome"] == "committed"
    assert api.post(f"{POLICIES}/policy:ruecke-mit-tabs-ein/supersede", {"rule": "Leerzeichen"}).status_code == 200
    assert rules(api) == ["Leerzeichen"]
    (policy,) = api.get(POLICIES).json()["items"]
    assert api.delete(f"{POLICIES}/{policy['id']}").json()["outcome"] == "committed"
    assert rules(api, include_inactive=True) == [TABS]  # nothing stands in its place any more


def test_an_agents_rule_waits_and_is_accepted_as_one(api: Any, agent: Any) -> None:
    held = agent.post(POLICIES, {"rule": TABS, "required_role": "coder"}).json()
    assert held["outcome"] == "pending"
    (waiting,) = api.get(POLICIES).json()["waiting"]
    assert waiting["id"] == held["proposal_id"]
    assert rules(agent) == []
    api.post(f"/api/world/proposals/{held['proposal_id']}/accept")
    (policy,) = agent.get(POLICIES).json()["items"]
    assert (policy["rule"], policy["required_role"]) == (TABS, "coder")
    for path in ("activate", "deactivate"):
        assert_problem(agent.post(f"{POLICIES}/{policy['id']}/{path}"), 403, "person_required")
    assert_problem(agent.delete(f"{POLICIES}/{policy['id']}"), 403, "person_required")
    assert agent.post(f"{POLICIES}/{policy['id']}/supersede", {"rule": "Neu"}).json()["outcome"] == "pending"
    assert rules(api) == [TABS]


def test_asked_again_with_the_same_key_nothing_happens_twice(api: Any, agent: Any) -> None:
    for client, domain in ((agent, "style"), (api, "general")):
        asked = {"rule": TABS, "domain": domain}
        first, again = (client.post(POLICIES, asked, **{"Idempotency-Key": "k"}).json() for _ in range(2))
        assert again == {**first, "outcome": "duplicate"}
        other = client.post(POLICIES, {"rule": "Anders"}, **{"Idempotency-Key": "k"})
        assert_problem(other, 409, "run_id_reused")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"rule": ""}, "empty_text"),
        ({"rule": "a\nb"}, "not_one_line"),
        ({"rule": "x" * 1001}, "too_long"),
        ({"rule": TABS, "domain": "a b"}, "invalid_domain"),
        ({"rule": TABS, "repo": "a/b"}, "invalid_repo"),
        ({"rule": TABS, "required_role": "x" * 101}, "too_long"),
        ({"rule": TABS, "required_role": "a\nb"}, "not_one_line"),
    ],
)
def test_what_does_not_fit_is_refused(api: Any, asked: dict[str, Any], code: str) -> None:
    assert_problem(api.post(POLICIES, asked), 422, code)
    assert rules(api) == []


def test_strangers_and_read_only_tokens_get_nothing_done(
    api: Any, anna: User, stranger: Any, client_for: Callable[..., Any]
) -> None:
    id = api.post(POLICIES, {"rule": TABS}).json()["fact_id"]
    assert rules(stranger) == []
    assert_problem(stranger.get(POLICIES, {"scope_ref": person(anna).default_scope}), 404, "not_found")
    assert_problem(stranger.post(f"{POLICIES}/{id}/supersede", {"rule": "Neu"}), 404, "not_found")
    assert_problem(stranger.delete(f"{POLICIES}/{id}"), 404, "not_found")
    reader = client_for(anna, read_only=True)
    assert rules(reader) == [TABS]
    assert_problem(reader.post(POLICIES, {"rule": "Neu"}), 403, "read_only")
    assert_problem(reader.post("/api/tools/propose_policy", {"rule": "Neu"}), 403, "read_only")


def test_a_group_has_rules_of_its_own(api: Any, anna: User, ben: User, client_for: Callable[..., Any]) -> None:
    family = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=family.pk, username="ben")
    scope_ref = f"group:{family.pk}"
    api.post(POLICIES, {"rule": "Privat"})
    api.post(POLICIES, {"rule": "Gemeinsam"}, **{"Gedaechtnis-Scope": scope_ref})
    assert rules(api) == ["Privat", "Gemeinsam"]
    assert rules(api, scope_ref=scope_ref) == ["Gemeinsam"]
    assert rules(client_for(ben)) == ["Gemeinsam"]


def test_a_role_that_may_not_write_in_a_domain_proposes_no_rule_there(api: Any, anna: User, agent: Any) -> None:
    made = api.post(POLICIES, {"rule": TABS, "domain": "style"}).json()
    for permission in ("none", "read"):
        grants.set_grant(principal=person(anna), domain="style", agent_role="assistant", permission=permission)
        refused = agent.post(POLICIES, {"rule": "Neu", "domain": "Style"})
        assert_problem(refused, 403, "grant_denied")
        assert (refused.json()["domain"], refused.json()["agent_role"]) == ("style", "assistant")
        assert_problem(agent.post(f"{POLICIES}/{made['fact_id']}/supersede", {"rule": "Neu"}), 403, "grant_denied")
        assert_problem(agent.post("/api/tools/propose_policy", {"rule": "Neu", "domain": "style"}), 403, "grant_denied")
    assert rules(agent) == [TABS]
    assert agent.post(POLICIES, {"rule": "Neu", "domain": "style", "repo": "api"}).json()["outcome"] == "pending"
    assert api.post(POLICIES, {"rule": "Neu", "domain": "style"}).json()["outcome"] == "committed"


def test_the_tools_do_the_same(api: Any, agent: Any) -> None:
    made = agent.post("/api/tools/propose_policy", {"rule": TABS, "domain": "style"}).json()["data"]
    assert made["outcome"] == "pending"
    listed = agent.post("/api/tools/list_policies", {}).json()
    assert TABS in listed["text"]
    assert listed["data"]["waiting"][0]["proposal_id"] == made["proposal_id"]
    api.post(f"/api/world/proposals/{made['proposal_id']}/accept")
    (policy,) = agent.post("/api/tools/list_policies", {"repo": "x"}).json()["data"]["items"]
    other = {"policy": f"fact:{policy['id']}", "rule": "Leerzeichen"}
    assert agent.post("/api/tools/supersede_policy", other).json()["data"]["outcome"] == "pending"
    assert api.post("/api/tools/supersede_policy", other).json()["data"]["outcome"] == "committed"
    assert rules(api) == ["Leerzeichen"]
