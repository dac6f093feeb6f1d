"""Sentences about a domain: confirmed where they are known, held against what they contradict, settled by a person."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, agent, person
from gedaechtnis.knowledge import pads
from gedaechtnis.knowledge.domains import list_domains
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.projecting import index, vectors
from gedaechtnis.memory.schemas import Evidence, MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import conflicts, explain, proposals
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.services.conflicts import settle
from gedaechtnis.memory.services.facts import retract_fact
from gedaechtnis.scoping.context import current_scope, scope
from gedaechtnis.tools import registry
from gedaechtnis.world.models import Entity, Fact, FactEvidence, WorldEvent
from tests.embedding_endpoint import vector_of
from tests.projected import use

PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."


class Workspace:
    """Anna's own scope, and an agent of hers."""

    def __init__(self, anna: User) -> None:
        self.user = anna
        self.anna = person(anna)
        self.agent = agent(anna, "builder")
        self.scope_ref = self.anna.default_scope

    def say(self, content: str, *, who: Principal | None = None, **more: Any) -> OperationResult:
        said = {"domain": "architecture", "topic": "ports", **more}
        return propose_statement(principal=who or self.anna, content=content, **said).results[-1]

    def fact(self, id: UUID | None) -> FactView:
        assert id is not None
        return explain.get_facts(principal=self.anna, fact_ids=[id])[0]

    def believed(self) -> set[str]:
        with scope(self.anna):
            rows = Fact.objects.believed().filter(predicate="statement", valid_to=None)
            return {row.statement for row in rows}

    def ever(self) -> set[str]:
        with scope(self.anna):
            return set(Fact.objects.filter(predicate="statement").values_list("statement", flat=True))

    def conflict(self) -> Any:
        (only,) = conflicts.list_conflicts(principal=self.anna).items
        return only

    def waiting(self) -> Any:
        (only,) = conflicts.list_conflicts(principal=self.anna).waiting
        return only


@pytest.fixture
def work(anna: User) -> Workspace:
    return Workspace(anna)


# Filing


def test_a_sentence_makes_its_domain_and_is_filed_under_it(work: Workspace) -> None:
    result = work.say(PORT, domain="Architecture", topic=" Ports ")
    assert result.outcome is Outcome.COMMITTED
    fact = work.fact(result.fact_id)
    assert (fact.subject_ref, fact.predicate, fact.domain, fact.topic) == (
        "domain:architecture", "statement", "architecture", "ports",
    )  # fmt: skip
    assert (fact.statement, fact.object.value, fact.confidence) == (PORT, PORT, 1.0)


def test_the_same_name_in_a_workspace_and_in_a_repository_are_two_stores(work: Workspace) -> None:
    wide = work.say(PORT)
    bound = work.say(PORT, repo="shop")
    assert {wide.outcome, bound.outcome} == {Outcome.COMMITTED}
    assert work.say(OTHER_PORT, repo="blog").conflict_id is None, "another store is never compared"
    keys = {one.key: one.facts for one in list_domains(principal=work.anna)}
    assert keys == {"architecture": 1, "repo:shop/architecture": 1, "repo:blog/architecture": 1}
    assert work.fact(bound.fact_id).domain == "repo:shop/architecture"


@pytest.mark.parametrize(
    ("one", "other"),
    [("repo:a-b/c", "repo:a/b-c"), ("code.style", "code-style"), ("a_b", "a-b"), ("straße", "strasse")],
)
def test_keys_whose_names_fold_alike_never_become_one_store(work: Workspace, one: str, other: str) -> None:
    for who in (work.anna, work.agent):
        results = [work.say(f"Gilt für {key}.", who=who, domain=key) for key in (one, other)]
        assert results[0].entity_ref != results[1].entity_ref or who is work.agent
    for waiting in proposals.list_proposals(principal=work.anna):
        governance.accept_proposal(principal=work.anna, proposal_id=waiting.id)
    with scope(work.anna):
        stored = dict(Entity.objects.filter(kind="domain").values_list("canonical_name", "pk"))
        filed = {(row.domain, row.subject_id) for row in Fact.objects.filter(predicate="statement")}
    assert set(stored) == {one, other}
    assert filed == set(stored.items())


def test_waiting_sentences_of_a_new_domain_become_one_store(work: Workspace) -> None:
    for text in ("Erstens ist es so.", "Zweitens gilt jenes."):
        assert work.say(text, who=work.agent, domain="fresh").outcome is Outcome.PENDING
    for waiting in proposals.list_proposals(principal=work.anna):
        governance.accept_proposal(principal=work.anna, proposal_id=waiting.id)
    assert [(one.key, one.facts) for one in list_domains(principal=work.anna)] == [("fresh", 2)]


def test_a_statement_cannot_be_filed_under_another_domain_than_its_subject(work: Workspace) -> None:
    work.say(PORT)
    op = {"op": "assert_fact", "subject_ref": "domain:architecture", "predicate": "statement", "object_value": "x y"}
    proposal = MemoryMutationProposal.model_validate({"operations": [op | {"domain": "security"}]})
    assert commit_proposal(principal=work.anna, proposal=proposal).results[0].code == "domain_misfit"


def test_strangers_have_domains_of_their_own(work: Workspace, clara: User) -> None:
    work.say(PORT)
    other = person(clara)
    assert list_domains(principal=other) == ()
    assert list_domains(principal=other, scope_ref=work.scope_ref) == ()
    assert propose_statement(principal=other, content=OTHER_PORT, domain="architecture").results[-1].conflict_id is None


# Confidence and sources


def test_confidence_starts_by_whose_word_it_is(work: Workspace) -> None:
    trusted = replace(work.agent, trusted_writer=True)

    def confidence(text: str, **more: Any) -> float:
        return work.fact(work.say(text, **more).fact_id).confidence

    assert confidence("Eins ist wahr.") == 1.0
    assert confidence("Das zweite gilt.", who=trusted) == 0.7
    assert confidence("Ein drittes.", who=trusted, evidence=Evidence(kind="import", text="x")) == 0.6
    assert confidence("Etwas viertes.", who=trusted, evidence=Evidence(kind="tool_result", text="x")) == 0.5
    assert confidence("Vielleicht ein fünftes.", confidence=0.4) == 0.4
    assert confidence("Wohl das sechste.", who=trusted, confidence=0.9) == 0.7


def test_the_same_in_other_letters_is_restated_and_surer(work: Workspace) -> None:
    trusted = replace(work.agent, trusted_writer=True)
    first = work.say("The API is stable.", who=trusted)
    again = work.say("  the api is  “stable”! ", who=trusted)
    assert (again.outcome, again.fact_id) == (Outcome.RESTATED, first.fact_id)
    fact = work.fact(first.fact_id)
    assert fact.mentions == 2
    assert fact.confidence == pytest.approx(0.7 + 0.3 * 0.3 * 0.7)
    assert work.ever() == {"The API is stable."}


def test_an_agent_confirms_what_is_believed_once(work: Workspace) -> None:
    first = work.say("Die Schnittstelle ist stabil.", confidence=0.5)
    for _ in range(3):
        assert work.say("die Schnittstelle ist stabil", who=work.agent).outcome is Outcome.RESTATED
    fact = work.fact(first.fact_id)
    assert (fact.mentions, fact.confidence) == (2, pytest.approx(0.5 + 0.5 * 0.3 * 0.7))
    other = agent(work.user, "tester")
    work.say("Die Schnittstelle ist stabil!", who=other)
    seen = pads.record_observation(principal=work.agent, text="Sie ist stabil.")
    work.say("Die Schnittstelle ist stabil!", who=work.agent, sources=[seen.ref])
    assert work.fact(first.fact_id).mentions == 4
    assert proposals.list_proposals(principal=work.anna) == ()


def test_sources_are_evidence_and_confirm_nothing(work: Workspace) -> None:
    one, two, three = (pads.record_observation(principal=work.anna, text=f"Gesehen: {n}").ref for n in range(3))
    fact = work.fact(work.say(PORT, sources=[one, two, one], confidence=0.5).fact_id)
    assert [(piece.kind, piece.ref) for piece in fact.evidence if piece.ref] == [
        ("observation", one), ("observation", two),
    ]  # fmt: skip
    assert (fact.mentions, fact.confidence) == (1, 0.5)
    work.say(PORT, sources=[two, three])
    with scope(work.anna):
        refs = FactEvidence.objects.filter(fact_id=fact.origin_fact_id, kind="observation").values_list(
            "ref", flat=True
        )
        assert sorted(refs) == sorted([one, two, three])


def test_what_nobody_observed_is_no_source_and_neither_is_what_others_did(work: Workspace, clara: User) -> None:
    own = pads.record_observation(principal=work.agent, text="Gesehen.").ref
    missing = f"obs:{uuid7()}"
    other_role = agent(work.user, "tester")
    refused: list[tuple[Principal, str]] = [
        (work.agent, pads.record_observation(principal=person(clara), text="Gesehen.").ref),
        (work.agent, pads.record_observation(principal=work.anna, text="Gesehen.").ref),
        (person(clara), own),
        (other_role, own),
        *[
            (work.agent, ref)
            for ref in (missing, "obs:7", "7", "", own.upper(), own.replace("-", ""), f"hot:{own[4:]}", "obs:\0")
        ],
    ]
    for who, ref in refused:
        with pytest.raises(Problem) as problem:
            work.say(PORT, who=who, sources=[own if who == work.agent else ref, ref])
        told = (problem.value.status, problem.value.code, problem.value.field)
        assert told[:2] == (422, "unknown_source"), ref
        assert told[2] == f"operations.1.sources.{1 if who == work.agent else 0}"
        assert problem.value.detail == f"Du hast in diesem Arbeitsbereich keine Beobachtung „{ref[:80]}“."
    assert proposals.list_proposals(principal=work.anna) == ()
    assert work.say(PORT, who=work.agent, sources=[own]).outcome is Outcome.PENDING
    assert work.say(OTHER_PORT, sources=[own]).outcome is Outcome.COMMITTED, "people rest on what their agents saw"


def test_sources_are_checked_at_every_door(work: Workspace, client_for: Callable[..., Any]) -> None:
    foreign = f"obs:{uuid7()}"
    asked = {"domain": "architecture", "object": PORT, "sources": [foreign]}
    with pytest.raises(Problem, match="unknown_source"):
        registry.run("propose_fact", principal=work.agent, arguments=asked)
    fact = {
        "op": "assert_fact",
        "subject_ref": "person:me",
        "predicate": "note",
        "object_value": "x",
        "sources": [foreign],
    }
    for client in (client_for(work.user), client_for(work.user, agent_role="builder")):
        answer = client.post("/api/world/proposals", {"operations": [fact]})
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_source"), answer.content


# Contradiction


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PORT, OTHER_PORT),
        ("Migrations may run during office hours.", "Migrations may not run during office hours."),
        ("Releases gehen immer am Dienstag raus.", "Releases gehen immer am Donnerstag raus."),
        ("Clara owns the billing service.", "Marco owns the billing service."),
    ],
)
def test_a_persons_word_is_written_and_both_sides_are_kept_for_review(work: Workspace, one: str, other: str) -> None:
    first, second = work.say(one), work.say(other)
    assert second.outcome is Outcome.COMMITTED
    conflict = work.conflict()
    assert (conflict.id, conflict.kind, conflict.is_open) == (second.conflict_id, "contradiction", True)
    assert (conflict.fact_statement, conflict.other_statement) == (other, one)
    assert (conflict.domain, conflict.topic) == ("architecture", "ports")
    assert conflict.fact_acted_by == conflict.other_acted_by == work.anna.acted_by
    assert work.believed() == {one, other}, "nothing is superseded by likeness"
    assert work.fact(first.fact_id).status == "active"


@pytest.mark.parametrize("trusted", [False, True])
def test_an_agents_contradiction_waits_with_both_sides(work: Workspace, trusted: bool) -> None:
    first = work.say(PORT)
    result = work.say(OTHER_PORT, who=replace(work.agent, trusted_writer=trusted))
    assert (result.outcome, result.reason) == (Outcome.PENDING, "contradiction")
    waiting = work.waiting()
    assert (waiting.kind, waiting.statement, waiting.present) == ("conflict", OTHER_PORT, PORT)
    assert waiting.against == (first.fact_id,)
    assert work.believed() == {PORT}
    assert conflicts.list_conflicts(principal=work.anna).items == ()


def test_no_door_goes_round_it(work: Workspace) -> None:
    work.say(PORT)
    op = {"op": "assert_fact", "subject_ref": "domain:architecture", "predicate": "statement", "topic": "Ports"}
    proposal = MemoryMutationProposal.model_validate({"operations": [op | {"object_value": OTHER_PORT}]})
    assert commit_proposal(principal=work.agent, proposal=proposal).results[0].reason == "contradiction"
    assert commit_proposal(principal=work.anna, proposal=proposal).results[0].conflict_id is not None


def test_sentences_of_one_proposal_see_each_other(work: Workspace) -> None:
    op = {"op": "assert_fact", "subject_ref": "d", "predicate": "statement", "topic": "ports"}
    upsert = {"op": "upsert_entity", "id_hint": "d", "kind": "domain", "canonical_name": "architecture"}
    texts = (PORT, OTHER_PORT, PORT.upper())
    proposal = MemoryMutationProposal.model_validate(
        {"operations": [upsert, *(op | {"object_value": t} for t in texts)]}
    )
    _made, first, second, third = commit_proposal(principal=work.anna, proposal=proposal).results
    assert (first.conflict_id, third.outcome, third.fact_id) == (None, Outcome.RESTATED, first.fact_id)
    assert second.conflict_id == work.conflict().id


@pytest.mark.parametrize(
    "more",
    [{"topic": "hosts"}, {"domain": "security"}, {"repo": "shop"}, {"valid_to": "2020-01-01", "valid_from": "2019"}],
)
def test_another_topic_store_or_time_does_not_contradict(work: Workspace, more: dict[str, Any]) -> None:
    work.say(PORT, valid_from="2021-01-01")
    assert work.say(OTHER_PORT, **more).conflict_id is None


def test_meaning_finds_what_letters_do_not(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = "The standup starts at 9:15.", "Das tägliche Treffen beginnt um 9:45 Uhr."

    class Model:
        address = name = "test-meaning"
        dimensions, clearance, looks_back = 64, 3, False

        def embed(self, texts: Any, *, as_query: bool = False) -> Any:
            assert current_scope() is None, "no model is asked while a scope is open"
            return [vector_of("standup") for _text in texts]

        def warm_up(self) -> None: ...

    use(monkeypatch, Model())
    work.say(one)
    assert work.say("Etwas ganz anderes steht hier.").conflict_id is None
    index.run(scope_ref=work.scope_ref)
    while vectors.embed_pending(scope_ref=work.scope_ref).left:
        pass
    assert work.say(other).conflict_id is not None
    assert work.conflict().other_statement == one

    # What was believed only after it was proposed is found just so when it is accepted.
    waiting = work.say(other, who=work.agent, domain="office")
    assert waiting.reason != "contradiction"
    work.say(one, domain="office")
    index.run(scope_ref=work.scope_ref)
    while vectors.embed_pending(scope_ref=work.scope_ref).left:
        pass
    assert waiting.proposal_id
    accepted = governance.accept_proposal(principal=work.anna, proposal_id=waiting.proposal_id)
    assert accepted.conflict_id is not None


# Settling


@pytest.mark.parametrize(("keep", "believed"), [("new", {OTHER_PORT}), ("old", {PORT}), ("both", {PORT, OTHER_PORT})])
def test_a_person_settles_what_was_written(work: Workspace, keep: Any, believed: set[str]) -> None:
    first = work.say(PORT)
    second = work.say(OTHER_PORT)
    settled = settle(principal=work.anna, conflict_id=work.conflict().id, keep=keep)
    assert (settled.is_open, settled.settled_as, settled.settled_by) == (False, keep, work.anna.acted_by)
    assert work.believed() == believed
    assert work.ever() == {PORT, OTHER_PORT}, "nothing is lost"
    if keep == "new":
        old = work.fact(first.fact_id)
        assert (old.closed_by_fact_id, old.status) == (second.fact_id, "superseded")
    with scope(work.anna):
        event = WorldEvent.objects.get(event_type="conflict.settled")
        assert (event.payload["keep"], event.target_entity_id) == (keep, second.entity_id)
    with pytest.raises(Problem) as again:
        settle(principal=work.anna, conflict_id=settled.id, keep="new")
    assert again.value.code == "already_settled"


@pytest.mark.parametrize(
    ("keep", "believed"),
    [("new", {OTHER_PORT}), ("old", {PORT}), ("both", {PORT, OTHER_PORT}), (None, {PORT, OTHER_PORT})],
)
def test_a_person_settles_what_waits(work: Workspace, keep: Any, believed: set[str]) -> None:
    work.say(PORT)
    work.say(OTHER_PORT, who=work.agent)
    governance.accept_proposal(principal=work.anna, proposal_id=work.waiting().id, keep=keep)
    assert work.believed() == believed
    page = conflicts.list_conflicts(principal=work.anna)
    assert page.waiting == ()
    assert len(page.items) == (keep is None), "who says nothing about the other side leaves it open"


@pytest.mark.parametrize("by_proposal", [True, False])
def test_a_pair_that_may_stand_is_not_raised_again(work: Workspace, by_proposal: bool) -> None:
    work.say(PORT)
    second = work.say(OTHER_PORT, who=work.agent if by_proposal else work.anna)
    if by_proposal:
        second = governance.accept_proposal(principal=work.anna, proposal_id=work.waiting().id, keep="both")
    else:
        settle(principal=work.anna, conflict_id=work.conflict().id, keep="both")
    assert second.fact_id is not None
    retract_fact(principal=work.anna, fact_id=second.fact_id)
    assert work.say(OTHER_PORT.upper()).conflict_id is None


def test_what_changed_meanwhile_is_looked_at_again(work: Workspace) -> None:
    first = work.say(PORT)
    work.say(OTHER_PORT, who=work.agent)
    waiting = work.waiting()
    assert first.fact_id is not None
    retract_fact(principal=work.anna, fact_id=first.fact_id)
    with pytest.raises(Problem) as stale:
        governance.accept_proposal(principal=work.anna, proposal_id=waiting.id, keep="new")
    assert stale.value.code == "stale"
    (renewed,) = proposals.list_proposals(principal=work.anna)
    assert (renewed.against, renewed.present) == ((), None)
    governance.accept_proposal(principal=work.anna, proposal_id=waiting.id)
    assert work.believed() == {OTHER_PORT}

    third = work.say(PORT)
    conflict = work.conflict()
    assert third.fact_id is not None
    retract_fact(principal=work.anna, fact_id=third.fact_id)
    assert not work.conflict().is_open
    with pytest.raises(Problem) as gone:
        settle(principal=work.anna, conflict_id=conflict.id, keep="old")
    assert gone.value.code == "stale"


def test_a_conflict_outlives_a_weightier_restatement(work: Workspace) -> None:
    trusted = replace(work.agent, trusted_writer=True)
    work.say(PORT, who=trusted)
    work.say(OTHER_PORT)
    work.say(PORT)  # the same row by a weightier word: written again
    settle(principal=work.anna, conflict_id=work.conflict().id, keep="new")
    assert work.believed() == {OTHER_PORT}


def test_only_people_who_may_write_settle(work: Workspace, clara: User) -> None:
    work.say(PORT)
    id = UUID(str(work.say(OTHER_PORT).conflict_id))
    read_only = replace(work.anna, write_scopes=())
    for who, code in ((work.agent, "person_required"), (read_only, "scope_denied"), (person(clara), "not_found")):
        with pytest.raises(Problem) as refused:
            settle(principal=who, conflict_id=id, keep="new")
        assert refused.value.code == code
    with pytest.raises(NotFound):
        settle(principal=work.anna, conflict_id=UUID(int=7), keep="new")
    assert work.believed() == {PORT, OTHER_PORT}


def test_of_two_answers_the_first_counts(work: Workspace) -> None:
    work.say(PORT)
    id = UUID(str(work.say(OTHER_PORT).conflict_id))

    def answer(keep: Any) -> str:
        try:
            settle(principal=work.anna, conflict_id=id, keep=keep)
        except Problem as problem:
            return problem.code
        finally:
            connections.close_all()
        return "settled"

    with ThreadPoolExecutor(2) as pool:
        told = sorted(pool.map(answer, ["new", "old"]))
    assert told == ["already_settled", "settled"]
    assert len(work.believed()) == 1


def _try(*allowed: str, do: Callable[[], object]) -> None:
    """Two answers may meet: the later one is refused, and says why."""
    try:
        do()
    except Problem as problem:
        if problem.code not in allowed:
            raise


@pytest.mark.parametrize("seed", range(3))
def test_settling_never_loses_a_statement(work: Workspace, seed: int) -> None:
    """Whatever is said and settled in whatever order: each sentence is kept somewhere, and something is believed."""
    chance = random.Random(seed)  # noqa: S311 (the same each time)
    said = {PORT}
    work.say(PORT)
    for _ in range(25):
        text = f"Der Dienst lauscht auf Port 808{chance.randint(1, 6)}."
        work.say(text, who=chance.choice([work.anna, work.agent]))
        said.add(text)
        page = conflicts.list_conflicts(principal=work.anna)
        for waiting in page.waiting:
            keep: Any = chance.choice(["new", "old", "both", None])
            accept = partial(governance.accept_proposal, principal=work.anna, proposal_id=waiting.id, keep=keep)
            _try("stale", do=accept)
        for open_one in [one for one in page.items if one.is_open][:1]:
            kept: Any = chance.choice(["new", "old", "both"])
            _try("stale", do=partial(settle, principal=work.anna, conflict_id=open_one.id, keep=kept))
        kept_as_proposals = {one.statement for one in proposals.list_proposals(principal=work.anna, state=None)}
        assert said <= work.ever() | kept_as_proposals
        assert work.believed()


def test_superseding_names_its_loser(work: Workspace) -> None:
    first = work.say(PORT)
    asked = {"fact": f"fact:{first.fact_id}", "object": OTHER_PORT}
    answer = registry.run("supersede_fact", principal=work.anna, arguments=asked)
    assert (answer.data.outcome, answer.data.conflict_id) == (Outcome.COMMITTED, None)
    assert work.believed() == {OTHER_PORT}
    old, new = work.fact(first.fact_id), work.fact(answer.data.fact_id)
    assert (old.closed_by_fact_id, new.domain, new.topic) == (new.id, "architecture", "ports")
    back = registry.run(
        "supersede_fact", principal=work.agent, arguments={"fact": f"fact:{new.id}", "object": PORT, "how": "was_wrong"}
    )
    assert back.data.outcome is Outcome.PENDING
    (waiting,) = proposals.list_proposals(principal=work.anna)
    assert (waiting.kind, waiting.present, waiting.against) == ("conflict", OTHER_PORT, ())
    governance.accept_proposal(principal=work.anna, proposal_id=waiting.id)
    assert work.believed() == {PORT}


def test_other_conflicts_can_only_be_agreed_with(work: Workspace) -> None:
    person_ = {"op": "upsert_entity", "id_hint": "p", "kind": "person", "canonical_name": "Elin"}
    lives = {"op": "assert_fact", "subject_ref": "p", "predicate": "born_on"}
    for value, more in (("1990-04-03", {}), ("1991-04-03", {"correction": True})):
        ops = [person_, lives | {"object_value": value} | more]
        commit_proposal(principal=work.anna, proposal=MemoryMutationProposal.model_validate({"operations": ops}))
    found = conflicts.list_conflicts(principal=work.anna).items
    for one in found:
        with pytest.raises(Problem) as refused:
            settle(principal=work.anna, conflict_id=one.id, keep="both")
        assert refused.value.code == "cannot_keep"
        assert not settle(principal=work.anna, conflict_id=one.id, keep="new").is_open


@pytest.mark.parametrize("text", ["", "   ", "a\x00b", "x" * 8001, "\ud800"])
def test_odd_texts_are_refused(work: Workspace, text: str) -> None:
    try:
        code = work.say(text).code
    except Problem as problem:
        code = problem.code
    assert code in {"empty_text", "invalid_text", "too_long"}
    assert work.believed() == set()


def test_what_is_known_of_the_repository_at_hand_comes_first_and_nothing_is_hidden(work: Workspace) -> None:
    texts = {
        "": "Deployments laufen über die Pipeline im Hauptzweig.",
        "shop": "Deployments laufen über die Pipeline von Hand.",
    }
    for repo, text in texts.items():
        work.say(text, domain="deployment", topic="", repo=repo or None)
    index.run(scope_ref=work.scope_ref)

    def found(**more: Any) -> list[str]:
        hits = registry.run(
            "search_world_memory", principal=work.anna, arguments={"query": "Deployments Pipeline", **more}
        )
        return [hit.text for hit in hits.data.items if hit.source_kind == "fact"]

    for repo, first in (("shop", texts["shop"]), ("blog", found()[0])):
        told = found(repo=repo)
        assert (told[0], set(told)) == (first, set(texts.values()))
    with pytest.raises(Problem):
        found(repo="a b")
