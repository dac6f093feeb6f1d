"""An agent's notes: its own in each workspace, nobody else's, and never half written."""

from __future__ import annotations

from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import Group, User
from gedaechtnis.identity.principals import Principal, from_token, person, system
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.knowledge import grants, hot, pads
from gedaechtnis.knowledge.models import Observation, WorkingMemory
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import WorldEvent
from tests.integration.knowledge.conftest import agent_of
from tests.integration.test_concurrent_writers import together

Admin = psycopg.Connection[Any]


def refused(code: str, act: Any) -> Problem:
    with pytest.raises(Problem) as raised:
        act()
    assert raised.value.code == code
    return raised.value


def test_notes_are_kept_as_they_were_written(reviewer: Principal) -> None:
    assert pads.read(principal=reviewer) == pads.Pad(agent="reviewer")
    text = "  # Was ich weiß\n\n- Tests: `make test`\t🐈\n"
    written = pads.update(principal=reviewer, text=text)
    assert (written.text, written.version) == (text, 1)
    assert pads.read(principal=reviewer) == written
    changed = pads.update(principal=reviewer, text="neu", based_on_version=1)
    assert (changed.text, changed.version) == ("neu", 2)
    assert pads.update(principal=reviewer, text="", based_on_version=2).text == ""
    assert pads.update(principal=reviewer, text="von vorn").version == 4


def test_each_agent_has_its_own_in_each_workspace(
    anna: User, shared: str, reviewer: Principal, planner: Principal
) -> None:
    at_work = agent_of(anna, "reviewer", scope_ref=shared)
    for principal, text in ((reviewer, "zu Hause"), (at_work, "in der Gruppe"), (planner, "Plan")):
        pads.update(principal=principal, text=text)
    pads.update(principal=person(anna), text="von mir")
    assert pads.read(principal=reviewer).text == "zu Hause"
    assert pads.read(principal=at_work).text == "in der Gruppe"
    assert pads.read(principal=reviewer, scope_ref=shared).text == "in der Gruppe"
    assert [pad.text for pad in pads.list_pads(principal=person(anna))] == ["von mir", "Plan", "zu Hause"]
    assert [pad.text for pad in pads.list_pads(principal=person(anna), scope_ref=shared)] == ["in der Gruppe"]


def test_a_person_puts_right_what_their_agent_noted_and_no_agent_another_ones(
    anna: User, reviewer: Principal, planner: Principal
) -> None:
    pads.update(principal=reviewer, text="Falsch")
    me = person(anna)
    assert pads.read(principal=me, agent="reviewer").text == "Falsch"
    pads.update(principal=me, agent="reviewer", text="Richtig", based_on_version=1)
    assert pads.read(principal=reviewer).text == "Richtig"
    for other in ("reviewer", ""):
        refused("not_your_notes", partial(pads.read, principal=planner, agent=other))
        refused("not_your_notes", partial(pads.update, principal=planner, agent=other, text="x"))
        refused("not_your_notes", partial(pads.list_observations, principal=planner, agent=other))
    refused("person_required", lambda: pads.list_pads(principal=planner))
    refused("invalid_agent_role", lambda: pads.read(principal=me, agent="x@user:y\x00"))


def test_too_long_a_text_is_refused_whole(reviewer: Principal) -> None:
    pads.update(principal=reviewer, text="ä" * pads.MAX_NOTES)
    problem = refused("notes_too_long", lambda: pads.update(principal=reviewer, text="ä" * 8_001, based_on_version=1))
    assert problem.extra == {"length": 8_001, "limit": 8_000}
    assert "8001" in problem.detail
    assert "8000" in problem.detail
    refused("notes_too_long", lambda: pads.record_observation(principal=reviewer, text="noch etwas"))
    assert pads.read(principal=reviewer).text == "ä" * pads.MAX_NOTES
    assert pads.list_observations(principal=reviewer) == ()


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_what_cannot_be_stored_is_refused(reviewer: Principal, text: str) -> None:
    refused("invalid_text", lambda: pads.update(principal=reviewer, text=text))
    refused("invalid_text", lambda: pads.record_observation(principal=reviewer, text=text))


def test_who_wrote_on_an_older_text_is_shown_the_present_one(reviewer: Principal) -> None:
    pads.update(principal=reviewer, text="eins")
    for version in (None, 0, 2):
        late = partial(pads.update, principal=reviewer, text="zwei", based_on_version=version)
        problem = refused("version_conflict", late)
        assert (problem.status, problem.extra) == (409, {"version": 1, "text": "eins"})
    assert pads.update(principal=reviewer, text="eins", based_on_version=0).version == 1  # sent again


def test_of_many_at_once_one_writes_and_the_others_are_told(reviewer: Principal) -> None:
    for version in (None, 1):
        done = together(
            [
                partial(pads.update, principal=reviewer, text=f"{version} {number}", based_on_version=version)
                for number in range(8)
            ]
        )
        written = [pad for pad in done if isinstance(pad, pads.Pad)]
        assert [pad.version for pad in written] == [(version or 0) + 1]
        assert [one.code for one in done if isinstance(one, Problem)] == ["version_conflict"] * 7
        assert pads.read(principal=reviewer).text == written[0].text


def test_of_many_observations_at_once_none_is_lost(reviewer: Principal) -> None:
    acts = [partial(pads.record_observation, principal=reviewer, text=f"Fund {number}") for number in range(8)]
    assert not [one for one in together(acts) if isinstance(one, Exception)]
    lines = pads.read(principal=reviewer).text.splitlines()
    assert sorted(line.split()[3] for line in lines) == list("01234567")
    assert pads.read(principal=reviewer).version == len(pads.list_observations(principal=reviewer)) == 8


def test_an_observation_is_kept_and_noted_with_its_day(reviewer: Principal) -> None:
    pads.update(principal=reviewer, text="Anfang\n\n")
    seen = pads.record_observation(principal=reviewer, text="Der Build\n\nbricht  ab")
    assert seen.text == "Der Build\n\nbricht  ab"
    day = f"{seen.recorded_at.astimezone(reviewer.zone):%Y-%m-%d}"
    assert pads.read(principal=reviewer).text == f"Anfang\n- {day} Der Build bricht ab (obs:{seen.id})"
    assert pads.list_observations(principal=reviewer) == (seen,)
    refused("missing", lambda: pads.record_observation(principal=reviewer, text=" \n "))
    refused("too_long", lambda: pads.record_observation(principal=reviewer, text="x" * 2_001))


# ── Who reads it ─────────────────────────────────────────────────────────────


def test_another_member_of_the_group_finds_nothing(
    anna: User, ben: User, as_ben: Principal, shared: str, admin_connection: Admin
) -> None:
    hers, his = (agent_of(user, "reviewer", scope_ref=shared) for user in (anna, ben))
    pads.update(principal=hers, text="Annas")
    pads.record_observation(principal=hers, text="Gesehen")
    assert pads.read(principal=his) == pads.Pad(agent="reviewer")
    assert pads.read(principal=as_ben, scope_ref=shared, agent="reviewer").text == ""
    assert pads.list_pads(principal=as_ben, scope_ref=shared) == ()
    pads.update(principal=his, text="Bens")
    assert pads.read(principal=hers).text.startswith("Annas")
    seen: tuple[tuple[Principal, int], ...] = (
        (as_ben, 1),
        (system(shared, "test"), 0),
        (system(as_ben.default_scope, "test"), 0),
    )
    for principal, count in seen:
        with scope(principal, write=shared if shared in principal.write_scopes else None):
            assert (WorkingMemory.objects.count(), Observation.objects.count()) == (count, 0)
            assert WorkingMemory.objects.filter(text__contains="Annas").update(text="weg") == 0
    assert (WorkingMemory.objects.count(), Observation.objects.count()) == (0, 0)
    stored = admin_connection.execute("SELECT count(*) FROM working_memories WHERE scope_ref = %s", [shared]).fetchone()
    assert stored == (2,)


def test_nobody_writes_in_anothers_name_or_for_a_whole_group(anna: User, as_ben: Principal, shared: str) -> None:
    for owner_ref in (person(anna).default_scope, shared, "global"):
        with (
            pytest.raises(DatabaseError),
            scope(as_ben, write=shared),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(
                "INSERT INTO working_memories (id, scope_ref, classification, owner_ref, agent, text, version, "
                "updated_at) VALUES (gen_random_uuid(), %s, 1, %s, '', 'x', 1, now())",
                [shared, owner_ref],
            )


def test_a_workspace_that_is_not_theirs_is_refused_like_one_that_does_not_exist(
    as_clara: Principal, shared: str
) -> None:
    for scope_ref in (shared, "group:00000000-0000-4000-8000-000000000000", "nonsense\x00"):
        refused("scope_denied", partial(pads.read, principal=as_clara, scope_ref=scope_ref))
        refused("scope_denied", partial(pads.update, principal=as_clara, scope_ref=scope_ref, text="x"))


def test_a_token_that_only_reads_writes_no_notes(anna: User) -> None:
    reading = agent_of(anna, "reviewer", read_only=True)
    assert pads.read(principal=reading).text == ""
    refused("scope_denied", lambda: pads.update(principal=reading, text="x"))
    refused("scope_denied", lambda: pads.record_observation(principal=reading, text="x"))


def test_what_a_higher_clearance_noted_is_hidden_and_not_written_over(anna: User, reviewer: Principal) -> None:
    pads.update(principal=reviewer, text="Befund")
    low = agent_of(anna, "reviewer", clearance=1)
    assert pads.read(principal=low).text == ""
    problem = refused("notes_withheld", lambda: pads.update(principal=low, text="x"))
    assert "Befund" not in str(problem.extra)
    refused("notes_withheld", lambda: pads.record_observation(principal=low, text="x"))
    assert pads.read(principal=reviewer).text == "Befund"


def test_a_job_of_the_server_has_no_notes(shared: str) -> None:
    refused("person_required", lambda: pads.read(principal=system(shared, "test")))


def test_no_event_tells_the_others_of_it(anna: User, shared: str) -> None:
    before = _events(anna)
    pads.record_observation(principal=agent_of(anna, "reviewer", scope_ref=shared), text="Gesehen")
    assert _events(anna) == before


def _events(user: User) -> int:
    with scope(person(user)):
        return WorldEvent.objects.count()


def test_a_token_of_a_group_that_was_closed_is_told_so(anna: User, ben: User, family: Group, shared: str) -> None:
    token, _secret = create_token(user=ben, name="reviewer", agent_role="reviewer", write_scope=shared)
    groups.close_group(user=anna, group_id=family.pk)
    late = from_token(token)
    for act in (pads.read, pads.list_observations, hot.list_hot, grants.list_grants):
        refused("scope_denied", partial(act, principal=late))


def test_a_former_member_reaches_the_notes_no_more(ben: User, family: Group, shared: str) -> None:
    his = agent_of(ben, "reviewer", scope_ref=shared)
    pads.update(principal=his, text="Bens")
    family.memberships.filter(user=ben).delete()
    after = agent_of(ben, "reviewer")
    refused("scope_denied", lambda: pads.read(principal=after, scope_ref=shared))
    with scope(after):
        assert WorkingMemory.objects.count() == 0
