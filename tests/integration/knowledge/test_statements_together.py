"""Sentences of two members of a group, at once and broken off: both sides are kept, and nothing half is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.knowledge import pads
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.memory.schemas import ProposalResult
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, Fact

PORT, OTHER_PORT = "Die Testdatenbank läuft auf Port 5432.", "Die Testdatenbank läuft auf Port 5433."


def say(who: Principal, text: str, scope_ref: str, sources: tuple[str, ...] = ()) -> ProposalResult:
    return propose_statement(
        principal=who, content=text, domain="ports", scope_ref=scope_ref, sources=sources, run_id=f"r-{text}"
    )


def believed(who: Principal) -> list[str]:
    with scope(who):
        return sorted(Fact.objects.believed().filter(domain="ports").values_list("statement", flat=True))


def test_two_members_who_contradict_each_other_at_once_make_one_conflict(
    as_anna: Principal, anna: User, ben: User, shared: str
) -> None:
    def at_once(user: User, text: str) -> ProposalResult:
        try:
            return say(person(user), text, shared)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        said = [pool.submit(at_once, user, text) for user, text in ((anna, PORT), (ben, OTHER_PORT))]
        results = [one.result().results[-1] for one in said]
    assert believed(person(anna)) == [PORT, OTHER_PORT]
    assert sum(result.conflict_id is not None for result in results) == 1
    assert len(conflicts.list_conflicts(principal=person(anna)).items) == 1
    with scope(person(ben)):
        assert Entity.objects.filter(kind="domain", scope_ref=shared).count() == 1


def test_broken_off_nothing_is_kept_and_said_again_it_is_whole(
    anna: User, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = person(anna)
    say(who, PORT, shared)
    with monkeypatch.context() as broken:
        finish = WriteSession.finish

        def killed(session: WriteSession) -> None:
            finish(session)
            raise KeyboardInterrupt

        broken.setattr(WriteSession, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            say(who, OTHER_PORT, shared)
    assert believed(who) == [PORT]
    assert conflicts.list_conflicts(principal=who).items == ()
    assert say(who, OTHER_PORT, shared).results[-1].conflict_id is not None
    assert believed(who) == [PORT, OTHER_PORT]


def test_what_one_member_observed_is_no_source_of_another(anna: User, ben: User, shared: str) -> None:
    hers = pads.record_observation(principal=person(anna), text="Gesehen.", scope_ref=shared).ref
    elsewhere = pads.record_observation(principal=person(ben), text="Gesehen.").ref
    for ref in (hers, elsewhere):
        with pytest.raises(Problem, match="unknown_source"):
            say(person(ben), PORT, shared, (ref,))
    assert say(person(anna), PORT, shared, (hers,)).results[-1].fact_id
