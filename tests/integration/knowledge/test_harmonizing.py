"""Where the beliefs of agents have drifted apart a person is asked, once for each pair, and what they say holds."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections
from django.utils import translation

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import harmonizing
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.knowledge.harmonizing import Harmonized, harmonize
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.selectors import conflicts, proposals
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.services.conflicts import settle
from gedaechtnis.memory.services.contradictions import Side
from gedaechtnis.memory.writing import freetext
from gedaechtnis.scoping.context import scope
from gedaechtnis.tools import registry
from gedaechtnis.world.models import Fact
from tests.integration.knowledge.conftest import agent_of

PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."
NOTHING: tuple[object, ...] = ()


def propose(principal: Principal, content: str, **more: Any) -> None:
    propose_statement(principal=principal, content=content, **{"domain": "build", "topic": "ports", **more})


def waiting(principal: Principal) -> tuple[ProposalView, ...]:
    return proposals.list_proposals(principal=principal)


def accept_all(principal: Principal) -> None:
    for view in waiting(principal):
        governance.accept_proposal(principal=principal, proposal_id=view.id)


def believed(principal: Principal) -> set[str]:
    with scope(principal):
        rows = Fact.objects.believed().filter(predicate="statement", valid_to=None)
        return set(rows.values_list("statement", flat=True))


@pytest.fixture
def drifted(anna: User, reviewer: Principal, planner: Principal, monkeypatch: pytest.MonkeyPatch) -> Principal:
    """Two agents' statements that contradict each other, both believed before anybody compared them."""
    with monkeypatch.context() as unseen:
        unseen.setattr(freetext, "rivals", lambda *_args: [])
        propose(reviewer, PORT)
        propose(planner, OTHER_PORT)
        accept_all(person(anna))
    assert believed(person(anna)) == {PORT, OTHER_PORT}
    return reviewer


# Both believed


@pytest.mark.parametrize(("keep", "rest"), [("new", {OTHER_PORT}), ("old", {PORT}), ("both", {PORT, OTHER_PORT})])
def test_a_person_settles_what_drifted_apart(anna: User, drifted: Principal, keep: Any, rest: set[str]) -> None:
    (raised,) = harmonize(principal=drifted).raised
    pair = raised.pair
    assert (pair.old.text, pair.new.text) == (PORT, OTHER_PORT)
    assert [side.voice.partition("@")[0] for side in (pair.old, pair.new)] == ["agent:reviewer", "agent:planner"]
    assert believed(person(anna)) == {PORT, OTHER_PORT}, "nothing changes before somebody says so"
    (conflict,) = conflicts.list_conflicts(principal=person(anna), only_open=True).items
    assert (conflict.id, conflict.kind) == (raised.conflict_id, "contradiction")
    assert [conflict.fact_acted_by, conflict.other_acted_by] == [pair.new.voice, pair.old.voice]
    settle(principal=person(anna), conflict_id=conflict.id, keep=keep)
    assert believed(person(anna)) == rest
    assert harmonize(principal=drifted).raised == NOTHING
    assert waiting(person(anna)) == NOTHING


@pytest.mark.parametrize(("language", "of"), [("de", "1 Paar"), ("en", "1 pair")])
def test_the_tool_tells_both_sides_with_their_agents(drifted: Principal, language: str, of: str) -> None:
    with translation.override(language):
        answer = registry.run("harmonize_memory", principal=drifted, arguments={})
    assert of in answer.text
    assert answer.text.index(OTHER_PORT) < answer.text.index("(planner, ") < answer.text.index(PORT)
    assert "(reviewer, " in answer.text


def test_a_pair_is_put_before_a_person_once(anna: User, drifted: Principal, planner: Principal) -> None:
    assert len(harmonize(principal=drifted).raised) == 1
    assert harmonize(principal=drifted).raised == harmonize(principal=planner).raised == NOTHING
    assert len(conflicts.list_conflicts(principal=person(anna)).items) == 1


def test_two_at_once_ask_once(anna: User, drifted: Principal) -> None:
    def run(_number: int) -> Harmonized:
        try:
            return harmonize(principal=drifted)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        assert sum(len(done.raised) for done in pool.map(run, range(3))) == 1
    assert len(conflicts.list_conflicts(principal=person(anna)).items) == 1


# One waits


@pytest.mark.parametrize(("keep", "rest"), [("new", {OTHER_PORT}), ("old", {PORT}), ("both", {PORT, OTHER_PORT})])
def test_what_waits_is_held_against_what_came_to_be_believed(
    anna: User, reviewer: Principal, planner: Principal, keep: Any, rest: set[str]
) -> None:
    propose(reviewer, PORT)
    propose(planner, OTHER_PORT)
    first, second = waiting(person(anna))
    governance.accept_proposal(principal=person(anna), proposal_id=first.id)
    (raised,) = harmonize(principal=planner).raised
    (view,) = waiting(person(anna))
    assert raised.proposal_id == view.id == second.id
    assert (view.kind, view.why_code, len(view.against)) == ("conflict", "contradiction", 1)
    assert view.present is not None
    assert view.present.startswith(f"{PORT} (reviewer, 20")
    assert harmonize(principal=planner).raised == NOTHING
    governance.accept_proposal(principal=person(anna), proposal_id=view.id, keep=keep)
    assert believed(person(anna)) == rest
    assert harmonize(principal=planner).raised == NOTHING
    assert not conflicts.list_conflicts(principal=person(anna), only_open=True).items


def test_two_that_wait_tell_of_each_other(anna: User, reviewer: Principal, planner: Principal) -> None:
    propose(reviewer, PORT)
    propose(planner, OTHER_PORT)
    (raised,) = harmonize(principal=planner).raised
    _first, second = waiting(person(anna))
    assert raised.proposal_id == second.id
    assert (second.kind, second.statement) == ("conflict", OTHER_PORT)
    assert PORT in second.why
    assert "reviewer" in second.why
    assert harmonize(principal=reviewer).raised == NOTHING
    accept_all(person(anna))
    assert len(conflicts.list_conflicts(principal=person(anna), only_open=True).items) == 1


# What is none of it


def test_only_voices_that_differ_in_one_place_and_contradict(
    anna: User, reviewer: Principal, planner: Principal
) -> None:
    propose(reviewer, PORT)
    propose(reviewer, OTHER_PORT)
    propose(planner, OTHER_PORT, topic="others")
    propose(planner, OTHER_PORT, repo="shop")
    propose(planner, "Die Suche läuft auf Rechner drei im Keller.")
    assert harmonize(principal=planner).raised == NOTHING


def test_one_domain_alone(drifted: Principal) -> None:
    assert harmonize(principal=drifted, domain="others").raised == NOTHING
    assert harmonize(principal=drifted, domain="build", repo="shop").raised == NOTHING
    assert len(harmonize(principal=drifted, domain="Build").raised) == 1
    with pytest.raises(Problem):
        harmonize(principal=drifted, domain="a b")


def test_a_repository_alone_names_no_domain(drifted: Principal) -> None:
    with pytest.raises(Problem) as refused:
        harmonize(principal=drifted, repo="my-repo")
    assert (refused.value.code, refused.value.field) == ("missing", "domain")


@pytest.mark.parametrize("spoken", ["de", "en"])
def test_the_person_reads_it_in_their_language(
    anna: User, reviewer: Principal, planner: Principal, spoken: str
) -> None:
    propose(reviewer, PORT)
    propose(planner, OTHER_PORT)
    with translation.override(spoken):
        harmonize(principal=planner)
    assert "Anders vorgeschlagen (reviewer, " in waiting(person(anna))[-1].why


def test_others_and_readers_are_refused(anna: User, as_ben: Principal, drifted: Principal, shared: str) -> None:
    for principal, ref in ((as_ben, drifted.default_scope), (agent_of(anna, "x", read_only=True), None)):
        with pytest.raises(Problem) as refused:
            harmonize(principal=principal, scope_ref=ref)
        assert refused.value.status == 403
    assert harmonize(principal=as_ben, scope_ref=shared).raised == NOTHING


def test_a_low_clearance_is_told_nothing(anna: User, drifted: Principal) -> None:
    with scope(drifted):
        level = Fact.objects.filter(predicate="statement").order_by("-classification")[0].classification
    if level == 0:
        pytest.skip("statements are public here")
    assert harmonize(principal=agent_of(anna, "reviewer", clearance=level - 1)).compared == 0


def test_nobody_poses_as_an_agent_by_the_name_of_a_run(anna: User, reviewer: Principal, planner: Principal) -> None:
    propose(reviewer, "Ein Köder.", topic="bait")
    (bait,) = waiting(person(anna))
    governance.accept_proposal(principal=person(anna), proposal_id=bait.id)
    propose(person(anna), PORT, run_id=f"proposal-{bait.id}")
    propose(planner, OTHER_PORT)
    (view,) = waiting(person(anna))
    assert view.kind == "conflict"
    governance.accept_proposal(principal=person(anna), proposal_id=view.id)
    (conflict,) = conflicts.list_conflicts(principal=person(anna)).items
    assert conflict.other_acted_by == person(anna).acted_by


def test_a_topic_of_ten_thousand_is_looked_through_in_seconds() -> None:
    now = datetime.now(UTC)
    said = [f"Dienst {n} von Team {n % 97} schreibt {n * 3} Zeilen nach Ablage {n}." for n in range(10_000)]
    said += [f"Dienst {n} von Team {n % 97} schreibt 7 Zeilen nach Ablage {n}." for n in range(1_000, 10_000, 1_000)]
    sides = [Side(text=text, voice=f"agent:{place // 10_000}@user:x", since=now) for place, text in enumerate(said)]
    begun = time.process_time()
    found = {(pair.old.text, pair.new.text) for pair in harmonizing._contradictions("build", "", sides)}
    assert time.process_time() - begun < 20, "seconds of the processor: measured 2"
    assert {(said[1_000 * place], text) for place, text in enumerate(said[10_000:], 1)} <= found
