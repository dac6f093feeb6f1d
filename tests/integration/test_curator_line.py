"""From a message to the memory: stored, debounced, read, committed; and what was known when."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.db import connections

from curator.control import CURATE, curate_now, curator_status
from curator.curate import lock_state
from curator.models import CuratorRun
from gedaechtnis.chat import selectors, services
from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity import principals
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.selectors import asof, entities
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import Work

NOW = datetime(2030, 3, 4, 17, 0, tzinfo=UTC)  # a Monday, 18:00 in Berlin


class Talk:
    """Anna talking to her agent, at chosen times."""

    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        with clock.frozen(NOW):
            self.chat_id = services.main_chat(principal=principal).id

    def say(self, text: str, at: datetime = NOW, **more: Any) -> services.Posted:
        with clock.frozen(at):
            return services.post_message(principal=self.principal, chat_id=self.chat_id, text=text, **more)

    def learn(self, text: str, at: datetime = NOW) -> None:
        self.say(text, at)
        with clock.frozen(at + timedelta(seconds=1)):
            curate_now(principal=self.principal, chat_id=self.chat_id)

    def values(self, ref: str, predicate: str, at: datetime, known: datetime | None = None) -> list[str]:
        with clock.frozen(NOW + timedelta(days=30)):
            entity = entities.get_entity(principal=self.principal, ref=ref)
            answer = asof.entity_facts(
                principal=self.principal, entity_id=entity.id, predicate=predicate, valid_at=at, known_at=known
            )
        return [fact.object.label for fact in answer.facts]


@pytest.fixture
def talk(as_anna: Principal) -> Talk:
    return Talk(as_anna)


@pytest.mark.parametrize(
    ("told", "corrected", "changed", "species"),
    [
        (
            "Luna ist meine Katze und bekommt abends um 19 Uhr Futter",
            "nein, um 18 Uhr",
            "ab morgen um 20 Uhr",
            "Katze",
        ),
        ("Luna is my cat and gets food at 7 pm in the evening", "no, at 6 pm", "from tomorrow at 8 pm", "cat"),
    ],
    ids=["de", "en"],
)
def test_a_correction_was_never_true_and_a_change_is(
    talk: Talk, told: str, corrected: str, changed: str, species: str
) -> None:
    minute = timedelta(minutes=1)
    talk.learn(told, NOW)
    assert talk.values("pet:luna", "species", NOW) == [species]
    assert talk.values("pet:luna", "owned_by", NOW + minute) == ["Anna"]
    assert talk.values("pet:luna", "feeding_time_evening", NOW + minute) == ["19:00"]
    talk.learn(corrected, NOW + 10 * minute)
    before, after = NOW + 5 * minute, NOW + 15 * minute
    assert talk.values("pet:luna", "feeding_time_evening", before) == ["18:00"]
    assert talk.values("pet:luna", "feeding_time_evening", before, known=before) == ["19:00"]
    talk.learn(changed, NOW + 20 * minute)
    midnight = datetime(2030, 3, 4, 23, 0, tzinfo=UTC)
    for known in (None, NOW + 30 * minute):
        assert talk.values("pet:luna", "feeding_time_evening", midnight - minute, known) == ["18:00"]
        assert talk.values("pet:luna", "feeding_time_evening", midnight, known) == ["20:00"]
    assert talk.values("pet:luna", "feeding_time_evening", after) == ["18:00"]


def test_every_fact_shows_the_words_it_rests_on(talk: Talk) -> None:
    talk.learn("Luna ist meine Katze")
    luna = entities.get_entity(principal=talk.principal, ref="pet:luna")
    for fact in asof.entity_facts(principal=talk.principal, entity_id=luna.id).facts:
        assert fact.rank == 3
        assert fact.source == "user_assertion"
        assert [piece.text for piece in fact.evidence] == ["Luna ist meine Katze"]
        assert fact.evidence[0].ref is not None
        assert UUID(fact.evidence[0].ref.removeprefix("msg:"))


def test_a_pause_a_request_or_enough_turns_bring_the_curator(talk: Talk, settings: LazySettings) -> None:
    settings.GEDAECHTNIS_CURATOR_IDLE_SECONDS = 30
    settings.GEDAECHTNIS_CURATOR_MAX_TURNS = 3

    def due() -> datetime:
        waiting = work.pending(kind=CURATE, scope_ref=talk.principal.default_scope, dedupe_key=str(talk.chat_id))
        assert waiting is not None
        return waiting.due_at

    talk.say("Anna wohnt in Ulm", NOW)
    assert due() == NOW + timedelta(seconds=30)
    talk.say("Es regnet", NOW + timedelta(seconds=20))
    assert due() == NOW + timedelta(seconds=50)
    talk.say("Noch etwas", NOW + timedelta(seconds=40))
    assert due() == NOW + timedelta(seconds=40)
    with clock.frozen(NOW + timedelta(seconds=41)):
        work.run_due()
    talk.say("Merk dir: Ben mag Tee", NOW + timedelta(seconds=60))
    assert due() == NOW + timedelta(seconds=60)


def test_what_is_skipped_says_why(talk: Talk) -> None:
    talk.learn("ok danke")
    status = curator_status(principal=talk.principal, chat_id=talk.chat_id)
    assert status.last_outcome == "skipped"
    assert status.last_skipped_because
    assert status.pending_turns == 0
    assert status.watermark == 1


def test_a_worker_dying_before_the_commit_loses_nothing(talk: Talk) -> None:
    talk.say("Luna ist meine Katze")
    later = NOW + timedelta(minutes=1)
    with clock.frozen(later):
        claimed = [item for item in work.claim() if item.kind == CURATE]
        assert len(claimed) == 1  # … and the worker dies here
    with clock.frozen(later + work.lease() + timedelta(seconds=1)):
        work.run_due()
    assert talk.values("pet:luna", "species", later) == ["Katze"]


def test_a_worker_dying_after_the_commit_doubles_nothing(talk: Talk) -> None:
    talk.say("Luna ist meine Katze")
    later = NOW + timedelta(minutes=1)
    with clock.frozen(later):
        (item,) = [item for item in work.claim() if item.kind == CURATE]
        work._handlers[CURATE](item)  # … and the worker dies before it can say so
    with clock.frozen(later + work.lease() + timedelta(seconds=1)):
        work.run_due()
        luna = entities.get_entity(principal=talk.principal, ref="pet:luna")
        rows = asof.history(principal=talk.principal, entity_id=luna.id, beliefs="all")
    assert sorted(fact.predicate for fact in rows) == ["name", "owned_by", "species"]
    assert all(fact.mentions == 1 for fact in rows)
    assert not Work.objects.filter(kind=CURATE).exists()


def test_a_turn_during_the_run_is_read_afterwards(talk: Talk) -> None:
    talk.say("Luna ist meine Katze")
    later = NOW + timedelta(minutes=1)
    with clock.frozen(later):
        (item,) = [item for item in work.claim() if item.kind == CURATE]
    talk.say("Minka ist meine Katze", later)
    with clock.frozen(later + timedelta(minutes=2)):
        work.run(item)
        work.run_due()
        names = {e.name for e in entities.search_entities(principal=talk.principal, kind="pet").items}
    assert names == {"Luna", "Minka"}


def test_sending_twice_makes_one_message(talk: Talk) -> None:
    first = talk.say("Luna ist meine Katze", client_id="c-1")
    second = talk.say("Luna ist meine Katze", client_id="c-1")
    assert first.message_id == second.message_id
    assert len(selectors.messages(principal=talk.principal, chat_id=talk.chat_id)) == 1


def test_another_persons_chat_does_not_exist(talk: Talk, clara: User) -> None:
    with pytest.raises(NotFound):
        selectors.messages(principal=person(clara), chat_id=talk.chat_id)
    with pytest.raises(NotFound):
        services.post_message(principal=person(clara), chat_id=talk.chat_id, text="hallo")


def test_a_message_and_the_curator_do_not_lock_each_other_out(talk: Talk, anna: User) -> None:
    """The curator holds its state and refers to the chat; a message holds the chat and waits for the state."""
    talk.say("Luna ist meine Katze")

    def say_more() -> services.Posted:
        try:
            return talk.say("Bello ist mein Hund")
        finally:
            connections.close_all()

    own = talk.principal.default_scope
    with ThreadPoolExecutor(1) as pool:
        with scope(principals.curator(anna), write=own):
            lock_state(own, talk.chat_id)
            posting = pool.submit(say_more)
            with pytest.raises(TimeoutError):
                posting.result(timeout=0.5)
            CuratorRun.objects.create(
                id=uuid7(), scope_ref=own, chat_id=talk.chat_id, run_id="r", first_seq=1, last_seq=1,
                outcome=CuratorRun.Outcome.SKIPPED, ran_at=NOW,
            )  # fmt: skip
        assert posting.result(timeout=10).message_id
