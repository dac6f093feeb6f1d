"""How facts are used: restating makes surer and younger, telling is counted, and neither changes what is true."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any
from uuid import UUID

import psycopg
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gedaechtnis.chat import services
from gedaechtnis.common import clock
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person, system
from gedaechtnis.memory import usage
from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.projecting import index
from gedaechtnis.memory.schemas import AssertFact, Evidence, MemoryMutationProposal, UpsertEntity
from gedaechtnis.memory.selectors import asof, explain
from gedaechtnis.memory.selectors.context import facts as context_facts
from gedaechtnis.memory.selectors.context.linker import LinkedEntity
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchQuery
from gedaechtnis.memory.services import sensitivity
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import tallies, work
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, FactEvidence, FactUsage, Projection

Admin = psycopg.Connection[Any]
MAY = datetime(2041, 5, 4, 9, tzinfo=UTC)
"""Ahead of the clocks of the scopes, which never go back."""


def say(principal: Principal, value: str, predicate: str = "likes", **more: Any) -> UUID:
    operations = [
        UpsertEntity(id_hint="pet:luna", kind="pet", canonical_name="Luna"),
        AssertFact(subject_ref="pet:luna", predicate=predicate, object_value=value, **more),
    ]
    result = commit_proposal(principal=principal, proposal=MemoryMutationProposal(operations=operations)).results[1]
    assert result.fact_id is not None, result
    return result.fact_id


def fact(principal: Principal, id: UUID) -> FactView:
    return explain.get_fact(principal=principal, fact_id=id)


def counted() -> None:
    """What was noted is taken and written, as the tick does it."""
    tallies.flush()
    with clock.frozen(MAY + timedelta(days=1000)):
        tallies.collect()
        work.run_due()


def server(principal: Principal) -> Principal:
    return system(principal.default_scope, "import")


@pytest.mark.parametrize(
    ("again", "more", "weight"),
    [
        (lambda anna: person(anna), {}, 1.0),
        (lambda anna: server(person(anna)), {}, 0.7),
        (lambda anna: server(person(anna)), {"memory_type": "imported"}, 0.6),
        (lambda anna: server(person(anna)), {"evidence": Evidence(kind="import", text="x")}, 0.6),
        (lambda anna: server(person(anna)), {"source": "observation"}, 0.5),
        (lambda anna: server(person(anna)), {"evidence": Evidence(kind="tool_result", text="x")}, 0.5),
        (lambda anna: server(person(anna)), {"confidence": 0.5}, 0.35),
    ],
)
def test_restating_makes_surer_by_whose_word_it_is(anna: User, again: Any, more: dict[str, Any], weight: float) -> None:
    as_anna = person(anna)
    id = say(as_anna, "Milch", confidence=0.5)
    assert fact(as_anna, id).confidence == 0.5
    say(again(anna), "Milch", **more)
    told = fact(as_anna, id)
    assert told.confidence == pytest.approx(0.5 + 0.5 * 0.3 * weight)
    assert told.mentions == 2


def test_what_a_person_says_outright_is_certain_whoever_guessed_before(as_anna: Principal) -> None:
    with clock.frozen(MAY):
        guess = say(server(as_anna), "Milch", confidence=0.4)
    before = asof.entity_facts(principal=as_anna, entity_id=fact(as_anna, guess).subject_id, predicate="likes")
    say(as_anna, "Milch")
    entity_id = before.facts[0].subject_id
    now = asof.entity_facts(principal=as_anna, entity_id=entity_id, predicate="likes").facts[0]
    assert (before.facts[0].confidence, now.confidence) == (0.4, 1.0)
    then = asof.entity_facts(principal=as_anna, entity_id=entity_id, predicate="likes", known_at=before.known_at)
    assert then.facts[0].confidence == 0.4


def test_asked_at_an_earlier_tick_the_confidence_is_the_earlier_one(as_anna: Principal) -> None:
    moments = []
    for day in range(5):
        with clock.frozen(MAY + timedelta(days=day)):
            id = say(as_anna, "Milch", confidence=0.5)
            moments.append(MAY + timedelta(days=day, hours=1))
    entity_id = fact(as_anna, id).subject_id
    confidence = [
        asof.entity_facts(principal=as_anna, entity_id=entity_id, predicate="likes", known_at=at).facts[0].confidence
        for at in moments
    ]
    assert confidence == sorted(set(confidence))
    assert confidence[-1] < 1
    assert confidence == pytest.approx([1 - 0.5 * 0.7**n for n in range(5)])


def test_what_is_said_again_is_young_again_everywhere(as_anna: Principal) -> None:
    with clock.frozen(MAY):
        id = say(as_anna, "Milch")
        say(as_anna, "Fisch")
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna):
        assert not FactUsage.objects.exists()  # nothing but what was learned
    june = MAY + timedelta(days=30)
    with clock.frozen(june):
        say(as_anna, "Milch")
    index.run(scope_ref=as_anna.default_scope)
    told = fact(as_anna, id)
    with scope(as_anna):
        last = FactEvidence.objects.filter(fact_id=id).latest("recorded_at").recorded_at
        found = Projection.objects.get(source_kind="fact", source_id=id)
        used = FactUsage.objects.get()
        around = context_facts.believed_now(
            [_linked(told)], None, related=[], scopes=as_anna.read_scopes, at=clock.now()
        )
        (linked,) = (one for one in around.facts if one.id == id)
    assert last >= june
    assert (used.fact_id, used.mentions, used.recalls, used.last_touched_at) == (id, 2, 0, last)
    assert told.last_touched_at == found.touched_at == linked.touched_at == last
    assert told.learned_at < june


def _linked(told: FactView) -> LinkedEntity:
    return LinkedEntity(
        id=told.subject_id,
        kind="pet",
        ref=told.subject_ref,
        name="Luna",
        scope_ref=told.subject_scope,
        is_self=False,
        said="Luna",
        ids=(told.subject_id,),
    )


def test_a_piece_that_is_written_again_is_not_younger(as_anna: Principal) -> None:
    """Another time cuts the old one, and says nothing new about it. It keeps how often it was told, too."""
    with clock.frozen(MAY):
        id = say(as_anna, "07:00", "feeding_time_morning", valid_from="2019")
    usage.told([(as_anna.default_scope, id)])
    index.run(scope_ref=as_anna.default_scope)
    counted()
    with clock.frozen(MAY + timedelta(days=60)):
        say(as_anna, "08:00", "feeding_time_morning", valid_from="2041-06")
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna):
        piece = Fact.objects.get(origin_fact_id=id, superseded_at=None)
        found = Projection.objects.get(source_kind="fact", source_id=piece.pk)
    assert piece.pk != id
    assert (found.touched_at.date(), found.recall_count) == (MAY.date(), 1)
    assert fact(as_anna, piece.pk).recalls == 1


def test_what_is_told_is_counted_later_and_touches_nothing(as_anna: Principal) -> None:
    with clock.frozen(MAY):
        id, other = say(as_anna, "Milch"), say(as_anna, "Fisch")
    index.run(scope_ref=as_anna.default_scope)
    june = MAY + timedelta(days=30)
    with clock.frozen(june):
        usage.told([(as_anna.default_scope, id), (as_anna.default_scope, id)])  # one answer tells it once
        usage.told([(as_anna.default_scope, id), (as_anna.default_scope, other)])
        assert fact(as_anna, id).recalls == 0
    counted()
    told = fact(as_anna, id)
    assert (told.recalls, told.last_recalled_at, told.mentions) == (2, june, 1)
    assert told.last_touched_at.date() == MAY.date()
    assert explain.explain_fact(principal=as_anna, fact_id=other).fact.recalls == 1
    with scope(as_anna):
        found = Projection.objects.get(source_kind="fact", source_id=id)
        assert (found.recall_count, found.touched_at.date()) == (2, MAY.date())
    counted()
    assert fact(as_anna, id).recalls == 2


def test_whoever_may_only_read_counts_too(anna: User, ben: User) -> None:
    group = groups.create_group(user=anna, name="Haus")
    groups.add_member(user=anna, group_id=group.pk, username=ben.username, role="viewer")
    as_anna = person(anna)
    proposal = MemoryMutationProposal(
        operations=[
            UpsertEntity(id_hint="place:haus", kind="place", canonical_name="Haus"),
            AssertFact(subject_ref="place:haus", predicate="description", object_value="hellblau"),
        ]
    )
    id = commit_proposal(principal=as_anna, proposal=proposal, scope_ref=f"group:{group.pk}").results[1].fact_id
    assert id is not None
    index.run(scope_ref=f"group:{group.pk}")
    as_ben = person(ben)
    assert f"group:{group.pk}" not in as_ben.write_scopes
    usage.told([(hit.scope_ref, hit.fact_id) for hit in _hits(as_ben, "hellblau") if hit.fact_id])
    counted()
    assert fact(as_anna, id).recalls == fact(as_ben, id).recalls == 1


def _hits(principal: Principal, text: str) -> Any:
    return search.search(principal=principal, query=SearchQuery(text=text, mode="keyword")).hits


def test_ids_of_other_scopes_count_for_nothing(as_anna: Principal, as_clara: Principal) -> None:
    id = say(as_anna, "Milch")
    usage.told([(as_clara.default_scope, id)])
    counted()
    assert fact(as_anna, id).recalls == 0
    with scope(as_clara):
        assert not FactUsage.objects.exists()


def test_usage_is_as_sensitive_as_its_fact_and_goes_with_its_scope(anna: User, admin_connection: Admin) -> None:
    as_anna = person(anna)
    id = say(as_anna, "Milch")
    usage.told([(as_anna.default_scope, id)])
    counted()
    sensitivity.classify_fact(principal=as_anna, fact_id=id, level=3)
    assert admin_connection.execute("SELECT classification FROM fact_usage").fetchall() == [(3,)]
    usage.told([(as_anna.default_scope, id)])
    tallies.flush()
    anna.delete()
    assert admin_connection.execute("SELECT count(*) FROM fact_usage").fetchone() == (0,)
    counted()  # what was still noted goes nowhere, and stays nowhere
    assert admin_connection.execute("SELECT count(*) FROM fact_usage").fetchone() == (0,)
    assert not tallies.take(kind=usage.RECALLED, scope_ref=as_anna.default_scope)


def test_a_read_neither_waits_nor_fails_without_redis(as_anna: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens at the address: the thread tries and gives up when all reads have long gone on."""
    id = say(as_anna, "Milch")
    tallies.flush()
    have_gone_on = Event()

    def nowhere() -> redis.Redis:
        assert have_gone_on.wait(20), "a read waits for its count"
        return redis.Redis.from_url("redis://127.0.0.1:1", socket_connect_timeout=1)

    monkeypatch.setattr(tallies, "_client", nowhere)
    for _ in range(200):
        usage.told([(as_anna.default_scope, id)] * 20)
    have_gone_on.set()
    tallies.flush()
    monkeypatch.undo()
    counted()
    assert fact(as_anna, id).recalls == 0


def test_every_door_that_answers_counts_what_it_told(anna: User, client_for: Any, page_for: Any) -> None:
    """Search and context by REST, tools, the chat's answer, the page of results; not reading the fact itself."""
    as_anna = person(anna)
    id = say(as_anna, "Milch")
    index.run(scope_ref=as_anna.default_scope)
    agent = client_for(anna, "assistant", read_only=True)
    asked = [
        lambda: agent.post("/api/world/search", {"query": "Milch", "mode": "keyword"}),
        lambda: agent.post("/api/world/context", {"text": "Was mag Luna?"}),
        lambda: agent.post("/api/tools/recall_facts_about", {"ref": "pet:luna"}),
        lambda: agent.post("/api/tools/search_world_memory", {"query": "Milch", "mode": "keyword"}),
        lambda: services.post_message(
            principal=as_anna, chat_id=services.main_chat(principal=as_anna).id, text="Was mag Luna?"
        ),
        lambda: page_for(anna).get("/suche/", {"q": "Milch", "mode": "keyword"}),
    ]
    for times, ask in enumerate(asked, start=1):
        answer = ask()
        assert getattr(answer, "status_code", 200) == 200, answer.content
        counted()
        told = client_for(anna).get(f"/api/world/facts/{id}").json()
        assert (told["recalls"], told["mentions"]) == (times, 1)
        assert told["last_touched_at"] == told["learned_at"] < told["last_recalled_at"]
    explained = client_for(anna).get(f"/api/world/facts/{id}/explain").json()
    assert explained["fact"]["recalls"] == len(asked)
    page = page_for(anna).get(f"/tatsachen/{id}/").content.decode()
    assert f"Das habe ich {len(asked)} Mal gesagt, zuletzt am" in page


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_decay_orders_and_never_decides(seen: Any, data: Any, admin_connection: Admin) -> None:
    """However long ago things were touched, the same facts are found and believed."""
    as_anna, ids, facts = seen
    for id in ids:
        days = data.draw(st.integers(-1, 200_000))
        admin_connection.execute(
            "UPDATE memory_projections SET touched_at = %s::timestamptz - %s * interval '1 day', recall_count = %s "
            "WHERE source_id = %s",
            [MAY, days, data.draw(st.integers(0, 1000)), id],
        )
    assert {hit.fact_id for hit in _hits(as_anna, "Sache") if hit.fact_id} == set(ids)
    assert asof.entity_facts(principal=as_anna, entity_id=facts[0].subject_id).facts == facts


@pytest.fixture
def seen(as_anna: Principal) -> Any:
    kinds = ("user_assertion", "commitment", "note", "observed_state")
    ids = [say(as_anna, f"Sache {kind}", memory_type=kind) for kind in kinds]
    index.run(scope_ref=as_anna.default_scope)
    return as_anna, ids, asof.entity_facts(principal=as_anna, entity_id=fact(as_anna, ids[0]).subject_id).facts
