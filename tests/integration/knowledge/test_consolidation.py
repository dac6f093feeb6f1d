"""What an agent remembered becomes proposals: each sentence once, nothing lost, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from gedaechtnis.chat import services
from gedaechtnis.chat.models import Message
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import hot
from gedaechtnis.knowledge.consolidation import Consolidated, consolidate
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.knowledge.models import HotEntry
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.selectors import proposals
from gedaechtnis.memory.services import governance
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.tools import registry
from gedaechtnis.world.models import Fact, FactEvidence, Proposal
from tests.integration.knowledge.conftest import agent_of

PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."
RATE, RATE_TOO = (
    "The API rate limit is 100 requests per minute.",
    "The rate limit of the API is 100 requests per minute.",
)


def keep(principal: Principal, *texts: str, topic: str = "", domain: str = "build") -> list[hot.HotEntry]:
    return [hot.remember(principal=principal, text=text, domain=domain, topic=topic) for text in texts]


def say(principal: Principal, text: str, *, topic: str = "", domain: str = "build") -> None:
    propose_statement(principal=principal, content=text, domain=domain, topic=topic)


def waiting(principal: Principal) -> tuple[ProposalView, ...]:
    return proposals.list_proposals(principal=principal)


def states(principal: Principal) -> dict[str, hot.HotEntry]:
    return {entry.text: entry for entry in hot.list_hot(principal=principal, states=list(hot.State), limit=5_000)}


def believed(principal: Principal) -> set[str]:
    with scope(principal):
        return set(Fact.objects.believed().filter(predicate="statement").values_list("statement", flat=True))


def test_what_says_the_same_becomes_one_proposal_that_names_all_of_it(anna: User, reviewer: Principal) -> None:
    same = keep(reviewer, RATE, f"  {RATE.upper()}", RATE_TOO, RATE)
    other = keep(reviewer, OTHER_PORT)[0]
    done = consolidate(principal=reviewer)
    assert (done.promoted, done.merged, done.known, done.dropped, done.left) == (2, 3, 0, 0, 0)
    first, second = waiting(person(anna))
    assert done.proposals == (first.id, second.id)
    assert first.statement == RATE_TOO, "the longest stands for all"
    assert sorted(first.operation["sources"]) == sorted(f"hot:{entry.id}" for entry in same)
    assert RATE in first.why or RATE.upper() in first.why, "the person sees how else it was said"
    told = {entry.id: entry for entry in hot.list_hot(principal=reviewer, states=list(hot.State))}
    leads = [told[entry.id] for entry in same if told[entry.id].state == "promoted"]
    assert [entry.text for entry in leads] == [RATE_TOO]
    for entry in same:
        assert told[entry.id].proposal_id == first.id
        assert told[entry.id].into_id == (None if entry.id == leads[0].id else leads[0].id)
        assert told[entry.id].decided_at is not None
    assert (told[other.id].state, told[other.id].proposal_id) == ("promoted", second.id)
    assert believed(person(anna)) == set()


def test_accepted_it_is_a_fact_whose_evidence_names_the_entries(anna: User, reviewer: Principal) -> None:
    kept = keep(reviewer, RATE, RATE_TOO)
    consolidate(principal=reviewer)
    result = governance.accept_proposal(principal=person(anna), proposal_id=waiting(person(anna))[0].id)
    with scope(person(anna)):
        refs = set(
            FactEvidence.objects.filter(fact_id=result.fact_id, kind="observation").values_list("ref", flat=True)
        )
    assert refs == {f"hot:{entry.id}" for entry in kept}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PORT, OTHER_PORT),
        (
            "Der Zahlungsdienst unterstützt Teilrückzahlungen.",
            "Der Zahlungsdienst unterstützt keine Teilrückzahlungen.",
        ),
        ("Clara owns the billing service.", "Ben owns the billing service."),
        ("Releases gehen am Dienstag raus.", "Releases gehen am Mittwoch raus."),
    ],
)
def test_what_differs_in_a_detail_stays_apart(anna: User, reviewer: Principal, one: str, other: str) -> None:
    keep(reviewer, one, other)
    assert consolidate(principal=reviewer).promoted == 2
    assert {view.statement for view in waiting(person(anna))} == {one, other}


def test_the_same_words_elsewhere_are_another_matter(anna: User, reviewer: Principal) -> None:
    keep(reviewer, PORT)
    keep(reviewer, PORT, topic="ports")
    keep(reviewer, PORT, topic=" PORTS ")
    keep(reviewer, PORT, domain="repo:shop/build")
    done = consolidate(principal=reviewer)
    assert (done.promoted, done.merged) == (3, 1)


def test_what_is_believed_is_known_and_nothing_is_written_to_it(anna: User, reviewer: Principal) -> None:
    say(person(anna), PORT)
    with scope(person(anna)):
        before = FactEvidence.objects.count()
    keep(reviewer, f" {PORT.upper()}!")
    done = consolidate(principal=reviewer)
    assert (done.known, done.proposals) == (1, ())
    (entry,) = states(reviewer).values()
    with scope(person(anna)):
        assert entry.into_id == Fact.objects.believed().get(predicate="statement").pk
        assert FactEvidence.objects.count() == before
    assert waiting(person(anna)) == ()


def test_what_contradicts_waits_with_both_sides(anna: User, reviewer: Principal) -> None:
    say(person(anna), PORT)
    keep(reviewer, OTHER_PORT)
    assert consolidate(principal=reviewer).promoted == 1
    (view,) = waiting(person(anna))
    assert (view.kind, view.present, len(view.against)) == ("conflict", PORT, 1)
    governance.accept_proposal(principal=person(anna), proposal_id=view.id, keep="new")
    assert believed(person(anna)) >= {OTHER_PORT}


def test_what_waits_already_is_not_proposed_again(anna: User, reviewer: Principal, planner: Principal) -> None:
    (first,) = keep(reviewer, PORT)
    consolidate(principal=reviewer)
    (again,) = keep(reviewer, PORT)
    (hers,) = keep(planner, PORT)
    done = [consolidate(principal=who) for who in (reviewer, planner)]
    assert [(one.merged, one.promoted) for one in done] == [(1, 0), (1, 0)]
    (view,) = waiting(person(anna))
    assert view.operation["sources"] == [f"hot:{entry.id}" for entry in (first, again, hers)]
    told = {entry.id: entry for entry in hot.list_hot(principal=reviewer, states=list(hot.State))}
    assert (told[again.id].proposal_id, told[again.id].into_id) == (view.id, first.id)
    (only,) = hot.list_hot(principal=planner, states=["merged"])
    assert (only.proposal_id, only.into_id) == (view.id, None), "another agent's entries are not named to it"
    governance.accept_proposal(principal=person(anna), proposal_id=view.id)


def test_what_was_declined_is_dropped_the_next_time(anna: User, reviewer: Principal) -> None:
    keep(reviewer, PORT)
    consolidate(principal=reviewer)
    governance.reject_proposal(principal=person(anna), proposal_id=waiting(person(anna))[0].id)
    assert consolidate(principal=reviewer) == Consolidated(
        promoted=0, merged=0, known=0, dropped=0, left=0, proposals=()
    )
    keep(reviewer, PORT.upper(), "...")
    done = consolidate(principal=reviewer)
    assert (done.dropped, done.left, waiting(person(anna))) == (2, 0, ())


def test_a_persons_own_words_count_at_once(anna: User) -> None:
    keep(person(anna), PORT, PORT.upper())
    done = consolidate(principal=person(anna))
    assert (done.promoted, done.merged, done.proposals) == (1, 1, ())
    (fact,) = believed(person(anna))
    with scope(person(anna)):
        id = Fact.objects.believed().get(predicate="statement").pk
    lead = next(entry for entry in states(person(anna)).values() if entry.state == "promoted")
    assert (lead.into_id, lead.text) == (id, fact)


def test_each_agent_and_session_for_itself(
    anna: User, ben: User, reviewer: Principal, planner: Principal, as_ben: Principal, shared: str
) -> None:
    keep(reviewer, PORT)
    keep(planner, OTHER_PORT)
    hot.remember(principal=reviewer, text=RATE, session_id="s-1")
    assert consolidate(principal=reviewer, session_id="s-1").left == 0
    assert [view.statement for view in waiting(person(anna))] == [RATE]
    assert consolidate(principal=person(anna)).left == 0
    assert [entry.text for entry in hot.list_hot(principal=planner)] == [OTHER_PORT]
    hers = agent_of(anna, "reviewer", scope_ref=shared)
    keep(hers, PORT)
    for other in (as_ben, agent_of(ben, "reviewer", scope_ref=shared)):
        assert consolidate(principal=other, scope_ref=shared).promoted == 0
    assert hot.list_hot(principal=hers, scope_ref=shared)[0].state == "hot"


def test_what_lies_above_ones_clearance_is_left_and_tells_nothing(anna: User, reviewer: Principal) -> None:
    keep(reviewer, PORT)
    low = agent_of(anna, "reviewer", clearance=1)
    done = consolidate(principal=low)
    assert (done.promoted, done.left) == (0, 0)
    assert hot.list_hot(principal=reviewer)[0].state == "hot"


def test_the_person_is_asked_in_one_message(anna: User, reviewer: Principal) -> None:
    keep(reviewer, *(f"Der Dienst {number} hört auf Port {number + 8_000}." for number in range(60)))
    done = consolidate(principal=reviewer)
    work.run_due()
    chat = services.main_chat(principal=person(anna))
    with scope(person(anna)):
        (message,) = Message.objects.filter(chat_id=chat.id, role=Message.Role.REVIEW)
    assert set(message.proposal_ids) == {str(id) for id in done.proposals}
    assert len(done.proposals) == 60


def test_what_an_import_brought_and_cannot_be_proposed_is_not_in_the_way(anna: User, reviewer: Principal) -> None:
    keep(reviewer, PORT, OTHER_PORT)
    with scope(reviewer, write=reviewer.default_scope):
        HotEntry.objects.filter(text=PORT).update(domain="no domain")
    done = consolidate(principal=reviewer)
    assert (done.promoted, done.dropped, done.left) == (1, 1, 0)
    assert [view.statement for view in waiting(person(anna))] == [OTHER_PORT]


def test_a_member_who_only_reads_keeps_what_is_theirs(anna: User, reviewer: Principal) -> None:
    keep(reviewer, PORT)
    with pytest.raises(Problem) as refused:
        consolidate(principal=agent_of(anna, "reviewer", read_only=True))
    assert refused.value.status == 403
    assert hot.list_hot(principal=reviewer)[0].state == "hot"


def test_the_tool_says_what_became_of_it(reviewer: Principal) -> None:
    keep(reviewer, RATE, RATE.upper(), PORT)
    with translation.override("en"):
        told = [registry.run("consolidate_memory", principal=reviewer, arguments={"limit": 2}).text for _time in "123"]
    assert told == [
        "1 became a proposal. 1 says the same as another. 1 is left: call it again.",
        "1 became a proposal.",
        "There is nothing to consolidate.",
    ]


# Many, and broken off


def plant(anna: User, reviewer: Principal, count: int = 500) -> dict[str, str]:
    """Entries of every sort, and what must become of each text."""
    known = [f"Der Dienst Nummer {number} schreibt seine Logs nach Pfad {number}." for number in range(40)]
    against = [f"Kunde {number} zahlt {number + 10} Euro im Monat für den Zugang." for number in range(20)]
    for text in (*known, *(line.replace(" Euro", "0 Euro") for line in against)):
        say(person(anna), text)
    fates: dict[str, str] = {text.upper(): "known" for text in known}
    fates |= dict.fromkeys(against, "conflict")
    for number in range(60):
        text = f"Modul {number} wird von Team {number} betreut und nachts um {number % 24}:30 Uhr geprüft."
        fates |= {text: "fact", f"  {text[:-1]} ": "fact", text.replace("betreut", "betreut,"): "fact"}
    number = 0
    while len(fates) < count:
        number += 1
        fates[f"Notiz {number}: Vorgang {number * 7} gehört zu Ablage {number * 3}."] = "fact"
    for text in fates:
        keep(reviewer, text)
    return fates


def accounted(anna: User, reviewer: Principal, fates: dict[str, str]) -> None:
    """Every entry went where it must, once; nothing is believed that was not before."""
    told = states(reviewer)
    assert set(told) == set(fates)
    assert Counter(entry.state for entry in told.values())["hot"] == 0
    with scope(person(anna)):
        opened = {row.pk: row for row in Proposal.objects.filter(state="open")}
        assert not Fact.objects.filter(acted_by=reviewer.acted_by).exists()
    assert len({row.statement for row in opened.values()}) == len(opened), "no sentence waits twice"
    assert {entry.proposal_id for entry in told.values() if entry.proposal_id} == set(opened)
    sources = {ref for row in opened.values() for ref in row.operation["sources"]}
    for text, fate in fates.items():
        entry = told[text]
        if fate == "known":
            assert (entry.state, entry.proposal_id) == ("known", None), text
        else:
            assert entry.proposal_id is not None
            assert (entry.state in {"promoted", "merged"}, opened[entry.proposal_id].kind) == (True, fate), text
            assert f"hot:{entry.id}" in sources


def test_five_hundred_entries_become_proposals_only(anna: User, reviewer: Principal) -> None:
    fates = plant(anna, reviewer)
    begun = time.process_time()
    with CaptureQueriesContext(connection) as asked:
        done = consolidate(principal=reviewer)
    took = time.process_time() - begun
    assert (done.left, done.known, done.dropped) == (0, 40, 0)
    assert done.promoted == len(done.proposals) == 500 - 40 - 120
    assert done.merged == 120
    assert len(asked) < 10 * len(done.proposals)
    assert took < 20, "seconds of the processor: measured 2.6"
    accounted(anna, reviewer, fates)


def test_killed_at_any_point_it_goes_on(anna: User, reviewer: Principal) -> None:
    fates = plant(anna, reviewer, 300)
    for how in ("batches=2", 'statement=INSERT INTO "proposals"', 'statement=UPDATE "hot_entries"'):
        killed = subprocess.run(
            [sys.executable, "-m", "tests.killed_consolidation", "anna", "reviewer", how],
            env=os.environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    with scope(reviewer):
        done = HotEntry.objects.exclude(state="hot").count()
        assert 0 < done < 300
    assert consolidate(principal=reviewer).left == 0
    accounted(anna, reviewer, fates)


def test_two_at_once_do_not_double(anna: User, reviewer: Principal) -> None:
    fates = plant(anna, reviewer, 300)

    def run() -> Consolidated:
        try:
            return consolidate(principal=reviewer)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _number: run(), range(3)))
    assert sum(one.promoted + one.merged + one.known for one in done) == 300
    accounted(anna, reviewer, fates)
