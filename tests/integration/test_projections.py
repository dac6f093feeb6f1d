"""What search reads follows memory: whatever is written, closed, merged, hidden or erased."""

from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from gedaechtnis.chat.models import Chat, Message
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person, user_scope
from gedaechtnis.memory.projecting import episodes, index, marks
from gedaechtnis.memory.projecting.access import indexing
from gedaechtnis.memory.projecting.episodes import Episode
from gedaechtnis.memory.projecting.projections import MAX_PART, parts
from gedaechtnis.memory.schemas import (
    AssertFact,
    AssertRelationship,
    InvalidateFact,
    MemoryMutationProposal,
    UpsertEntity,
)
from gedaechtnis.memory.selectors import export
from gedaechtnis.memory.services import aliases, erasure, merges, sensitivity, splits, undo
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.transfer import archives
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import Work
from gedaechtnis.world.models import EntityAlias, Fact, Projection, ProjectionTerm

Admin = psycopg.Connection[Any]
MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
INDEXES = ("memory_projections", "projection_terms", "lexeme_counts", "projection_counts", "projection_vectors")


def commit(principal: Principal, *operations: Any) -> list[Any]:
    proposal = MemoryMutationProposal(operations=list(operations))
    return list(commit_proposal(principal=principal, proposal=proposal).results)


def luna(principal: Principal, name: str = "Luna") -> UUID:
    hint = f"pet:{name.lower()}"
    results = commit(
        principal,
        UpsertEntity(id_hint=hint, kind="pet", canonical_name=name, description="getigert"),
        AssertFact(subject_ref=hint, predicate="species", object_value="Katze"),
    )
    id = results[0].entity_id
    assert id is not None
    return id


def indexed(principal: Principal) -> dict[str, Projection]:
    """Everything of the person's own scope, indexed, by its text."""
    index.run(scope_ref=principal.default_scope)
    with scope(principal):
        rows = list(Projection.objects.filter(scope_ref=principal.default_scope))
    assert not any(row.terms_pending for row in rows)
    return {row.text: row for row in rows}


def current(principal: Principal, *, kind: str = "") -> set[str]:
    """The texts that the postings call believed."""
    found = indexed(principal)
    with scope(principal):
        posted = set(ProjectionTerm.objects.filter(is_current=True).values_list("id", flat=True))
    return {text for text, row in found.items() if row.pk in posted and kind in ("", row.source_kind)}


def check_counts(admin: Admin) -> None:
    """Counts and postings are those of what is indexed, counted anew."""
    words: Counter[Any] = Counter()
    texts: dict[Any, list[int]] = {}
    posted = set()
    rows = admin.execute(
        "SELECT id, scope_ref, indexed_classification, classification, source_kind, lexemes, length "
        "FROM memory_projections WHERE indexed_classification IS NOT NULL"
    ).fetchall()
    for id, scope_ref, level, classification, source_kind, lexemes, length in rows:
        assert level == classification
        words.update((scope_ref, level, lexeme) for lexeme in lexemes)
        both = texts.setdefault((scope_ref, level, source_kind), [0, 0])
        both[0] += 1
        both[1] += length
        posted |= {(id, scope_ref, level, lexeme) for lexeme in lexemes}
    counted = admin.execute("SELECT scope_ref, classification, lexeme, documents FROM lexeme_counts").fetchall()
    assert {tuple(row[:3]): row[3] for row in counted} == dict(words)
    sums = admin.execute(
        "SELECT scope_ref, classification, source_kind, projections, length FROM projection_counts "
        "WHERE projections > 0"
    ).fetchall()
    assert {tuple(row[:3]): [int(row[3]), int(row[4])] for row in sums} == texts
    stored = admin.execute("SELECT id, scope_ref, classification, lexeme FROM projection_terms").fetchall()
    assert {tuple(row) for row in stored} == posted


def dump(admin: Admin) -> str:
    return "\n".join(
        row for table in INDEXES for (row,) in admin.execute(f'SELECT t::text FROM "{table}" t').fetchall()
    )


# What is found


def test_facts_and_cards_are_made_of_what_is_committed(as_anna: Principal, admin_connection: Admin) -> None:
    id = luna(as_anna)
    assert Work.objects.filter(kind="index", scope_ref=as_anna.default_scope).count() == 1
    found = indexed(as_anna)
    card = next(row for row in found.values() if row.source_id == id)
    assert card.text == "Luna\nHaustier / Pet\ngetigert"
    assert (card.source_kind, card.ref, card.kind, card.entity_ids) == ("entity", "pet:luna", "pet", [id])
    (species,) = [row for row in found.values() if row.predicate == "species"]
    with scope(as_anna):
        fact = Fact.objects.get(predicate="species")
    assert (species.text, species.source_id, species.ref) == (fact.statement, fact.pk, f"fact:{fact.pk}")
    assert (species.recorded_at, species.valid_from, species.superseded_at) == (fact.recorded_at, fact.valid_from, None)
    assert (species.kind, species.memory_type, species.entity_ids) == ("pet", fact.memory_type, [id])
    assert "katz" in species.lexemes
    assert species.vector_pending
    check_counts(admin_connection)


def test_the_worker_does_it_and_again_changes_nothing(as_anna: Principal, admin_connection: Admin) -> None:
    luna(as_anna)
    work.run_due()
    assert not Work.objects.filter(kind="index", scope_ref=as_anna.default_scope).exists()
    first = dump(admin_connection)
    assert "katz" in first
    assert index.run(scope_ref=as_anna.default_scope).indexed == 0
    with indexing(as_anna.default_scope) as place:
        marks.clear(place)
    assert index.run(scope_ref=as_anna.default_scope).projected > 0
    assert sorted(dump(admin_connection).splitlines()) == sorted(first.splitlines())


def test_a_limit_leaves_the_rest_for_the_next_run(as_anna: Principal, admin_connection: Admin) -> None:
    for name in ("Luna", "Mikesch", "Findus"):
        luna(as_anna, name)
    while not index.run(scope_ref=as_anna.default_scope, limit=1).is_done:
        check_counts(admin_connection)
    assert {"Luna", "Mikesch", "Findus"} <= {text.split("\n")[0] for text in current(as_anna, kind="entity")}
    check_counts(admin_connection)


def test_what_the_registry_keeps_out_is_not_found(as_anna: Principal) -> None:
    Predicate.objects.filter(pk="species").update(embed=False)
    catalogue.forget()
    try:
        commit(
            as_anna,
            UpsertEntity(id_hint="file:a", kind="file", canonical_name="plan.txt"),
            AssertFact(subject_ref="file:a", predicate="note", object_value="geheimer Plan"),
        )
        luna(as_anna)
        found = indexed(as_anna)
    finally:
        Predicate.objects.filter(pk="species").update(embed=True)
        catalogue.forget()
    assert not any("Katze" in text or "Plan" in text or "plan.txt" in text for text in found)
    assert any(text.startswith("Luna\n") for text in found)


def test_a_pair_is_found_once(as_anna: Principal) -> None:
    commit(
        as_anna,
        UpsertEntity(id_hint="person:a", kind="person", canonical_name="Ada"),
        UpsertEntity(id_hint="person:b", kind="person", canonical_name="Ben"),
        AssertRelationship(subject_ref="person:a", predicate="married_to", object_ref="person:b"),
    )
    (row,) = [row for row in indexed(as_anna).values() if row.predicate == "married_to"]
    assert len(row.entity_ids) == 2


# What changes


def test_what_is_believed_no_longer_is_not_current(as_anna: Principal, admin_connection: Admin) -> None:
    id = luna(as_anna)
    before = current(as_anna)
    (fact_id,) = [row.source_id for row in indexed(as_anna).values() if row.predicate == "species"]
    (ended,) = commit(as_anna, InvalidateFact(target_fact_id=str(fact_id), mode="retract"))
    after = current(as_anna)
    assert before - after == {text for text in before if "Katze" in text}
    assert len(before - after) == 1
    undo.undo_event(principal=as_anna, event_id=ended.event_id)
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna):
        believed = set(Fact.objects.believed().values_list("pk", flat=True))
        rows = set(
            Projection.objects.filter(source_kind="fact", superseded_at=None).values_list("source_id", flat=True)
        )
    assert rows == believed
    assert id is not None
    check_counts(admin_connection)


def test_an_ended_fact_is_believed_with_its_end(as_anna: Principal, admin_connection: Admin) -> None:
    luna(as_anna)
    (fact_id,) = [row.source_id for row in indexed(as_anna).values() if row.predicate == "species"]
    commit(as_anna, InvalidateFact(target_fact_id=str(fact_id), mode="end"))
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna):
        rows = Projection.objects.filter(predicate="species").order_by("recorded_at")
        before, after = list(rows)
        current = ProjectionTerm.objects.filter(id__in=[before.pk, after.pk], lexeme="katz")
        assert dict(current.values_list("id", "is_current")) == {before.pk: False, after.pk: True}
    assert before.superseded_at is not None
    assert after.superseded_at is None
    assert after.valid_to is not None
    check_counts(admin_connection)


def test_a_new_name_and_an_alias_renew_the_card(as_anna: Principal, admin_connection: Admin) -> None:
    id = luna(as_anna)
    indexed(as_anna)
    commit(as_anna, AssertFact(subject_ref=str(id), predicate="name", object_value="Lunetta"))
    aliases.add_alias(principal=as_anna, entity_id=id, alias="Mausezahn", scope_ref=as_anna.default_scope)
    (card,) = [row for row in indexed(as_anna).values() if row.source_kind == "entity" and row.source_id == id]
    assert card.text.split("\n")[0] == "Lunetta"
    assert "Mausezahn" in card.text
    with scope(as_anna):
        alias = EntityAlias.objects.get(alias="Mausezahn")
    aliases.end_alias(principal=as_anna, alias_id=alias.pk, mode="retract")
    (card,) = [row for row in indexed(as_anna).values() if row.source_kind == "entity" and row.source_id == id]
    assert "Mausezahn" not in card.text
    assert "mausezah" not in dump(admin_connection).lower()
    check_counts(admin_connection)


def test_a_merge_takes_the_card_away_and_a_split_brings_it_back(as_anna: Principal, admin_connection: Admin) -> None:
    one, other = luna(as_anna), luna(as_anna, "Lunchen")
    assert len({text for text in current(as_anna, kind="entity") if text.startswith("Lun")}) == 2
    merges.merge_entities(principal=as_anna, source_id=other, target_id=one)
    (left,) = [text for text in current(as_anna, kind="entity") if text.startswith("Lun")]
    assert "Lunchen" in left.split("\n")[1]
    check_counts(admin_connection)
    splits.split_entity(principal=as_anna, source_id=other)
    back = {text.split("\n")[0] for text in current(as_anna, kind="entity") if text.startswith("Lun")}
    assert back == {"Luna", "Lunchen"}
    with scope(as_anna):
        believed = set(Fact.objects.believed().filter(mirror_of=None).values_list("pk", flat=True))
        rows = Projection.objects.filter(source_kind="fact", superseded_at=None).values_list("source_id", flat=True)
        assert set(rows) == believed
    check_counts(admin_connection)


# Who sees it


def test_who_may_see_it_follows_at_once_and_is_found_again_later(
    as_anna: Principal, client_for: Any, anna: User, admin_connection: Admin
) -> None:
    luna(as_anna)
    indexed(as_anna)
    with scope(as_anna):
        fact_id = Fact.objects.get(predicate="species").pk
    Work.objects.all().delete()
    sensitivity.classify_fact(principal=as_anna, fact_id=fact_id, level=3)
    assert Work.objects.filter(kind="index", scope_ref=as_anna.default_scope).count() == 1
    row = admin_connection.execute(
        "SELECT id, classification, terms_pending, vector_pending, indexed_classification FROM memory_projections "
        "WHERE source_id = %s",
        [fact_id],
    ).fetchone()
    assert row is not None
    assert row[1:] == (3, True, True, None)
    assert admin_connection.execute("SELECT 1 FROM projection_terms WHERE id = %s", [row[0]]).fetchone() is None
    check_counts(admin_connection)
    with scope(as_anna, clearance=2):
        assert not Projection.objects.filter(source_id=fact_id).exists()
    index.run(scope_ref=as_anna.default_scope)
    check_counts(admin_connection)
    levels = admin_connection.execute("SELECT classification FROM lexeme_counts WHERE lexeme = 'katz'").fetchall()
    assert levels == [(3,)]
    sensitivity.classify_fact(principal=as_anna, fact_id=fact_id, level=1)
    index.run(scope_ref=as_anna.default_scope)
    check_counts(admin_connection)
    with scope(as_anna, clearance=1):
        assert ProjectionTerm.objects.filter(lexeme="katz").exists()


def test_a_message_that_turns_out_to_be_sensitive_is_hidden_in_search(
    as_anna: Principal, admin_connection: Admin
) -> None:
    (message,) = said(as_anna, "Ich nehme jetzt Sertralin.")
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna, write=as_anna.default_scope):
        Message.objects.filter(pk=message.message_id).update(classification=3)
    index.run(scope_ref=as_anna.default_scope)
    check_counts(admin_connection)
    with scope(as_anna, clearance=2):
        assert not Projection.objects.filter(source_kind="episode").exists()
        assert not ProjectionTerm.objects.filter(lexeme__startswith="sertral").exists()


def test_nobody_else_finds_it(as_anna: Principal, as_clara: Principal) -> None:
    luna(as_anna)
    indexed(as_anna)
    with scope(as_clara):
        assert not Projection.objects.filter(scope_ref=as_anna.default_scope).exists()
        assert not ProjectionTerm.objects.filter(lexeme="katz").exists()
    with pytest.raises(Problem) as refused:
        said(as_clara, "hallo", scope_ref=as_anna.default_scope)
    assert refused.value.code == "scope_denied"


# Conversations


def said(principal: Principal, *texts: str, scope_ref: str | None = None) -> list[Episode]:
    """Messages of one chat, stored as episodes."""
    home = scope_ref or principal.default_scope
    made = []
    with scope(principal, write=home):
        chat = Chat.objects.create(scope_ref=home, created_at=MAY)
        for position, text in enumerate(texts):
            message = Message.objects.create(
                scope_ref=home,
                classification=2,
                chat_id=chat.pk,
                seq=position + 1,
                role=Message.Role.USER,
                text=text,
                created_at=MAY,
                sent_at=MAY,
                sent_zone="Europe/Berlin",
            )
            made.append(
                Episode(
                    message_id=message.pk,
                    chat_id=chat.pk,
                    session_id="",
                    position=position,
                    speaker="Anna",
                    role="user",
                    text=text,
                    sent_at=MAY,
                    external_id=f"D{position}",
                    scope_ref=home,
                    classification=2,
                )
            )
    episodes.store(principal=principal, episodes=made)
    return made


def test_messages_are_found_and_stored_again_nothing_changes(as_anna: Principal, admin_connection: Admin) -> None:
    made = said(as_anna, "Wir waren am Bodensee.", "Das Wasser war kalt.")
    index.run(scope_ref=as_anna.default_scope)
    first = dump(admin_connection)
    episodes.store(principal=as_anna, episodes=made)
    assert index.run(scope_ref=as_anna.default_scope).indexed == 0
    assert dump(admin_connection) == first
    with scope(as_anna):
        row = Projection.objects.get(source_kind="episode", position=0)
    assert (row.ref, row.speaker, row.external_id) == (f"msg:{made[0].message_id}", "Anna", "D0")
    assert (row.occurred_at, row.chat_id, row.session_id) == (MAY, made[0].chat_id, str(made[0].chat_id))
    assert row.valid_from is None
    check_counts(admin_connection)


def test_a_long_message_is_found_by_its_parts_and_a_shorter_one_loses_them(
    as_anna: Principal, admin_connection: Admin
) -> None:
    long = " ".join(f"Satz {number} über den Garten." for number in range(300)) + " Ganz hinten steht Rhabarber."
    (made,) = said(as_anna, long)
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna):
        rows = list(Projection.objects.filter(source_kind="episode").order_by("part"))
    assert len(rows) > 3
    assert " ".join(row.text for row in rows) == long
    assert "rhabarb" in rows[-1].lexemes
    episodes.store(principal=as_anna, episodes=[_with_text(made, "Nur noch kurz.")])
    index.run(scope_ref=as_anna.default_scope)
    with scope(as_anna):
        assert [row.text for row in Projection.objects.filter(source_kind="episode")] == ["Nur noch kurz."]
    assert "rhabarb" not in dump(admin_connection).lower()
    check_counts(admin_connection)


def _with_text(episode: Episode, text: str) -> Episode:
    return Episode(**{name: getattr(episode, name) for name in Episode.__slots__} | {"text": text})


def test_a_forgotten_message_leaves_no_word(as_anna: Principal, admin_connection: Admin) -> None:
    made = said(as_anna, "Das Kennwort ist Zwiebelkuchen.", "Ein Kuchen ohne Kennwort.")
    index.run(scope_ref=as_anna.default_scope)
    assert "zwiebel" in dump(admin_connection).lower()
    episodes.forget(principal=as_anna, scope_ref=as_anna.default_scope, message_ids=[made[0].message_id])
    assert "zwiebel" not in dump(admin_connection).lower()
    assert "kennwort" in dump(admin_connection).lower()
    check_counts(admin_connection)


# Leaving and coming


def test_an_erased_scope_leaves_nothing_to_find(anna: User, ben: User, admin_connection: Admin) -> None:
    group = groups.create_group(user=anna, name="Familie")
    shared = f"group:{group.pk}"
    said(person(anna), "Der Schlüssel liegt unter der Fußmatte.", scope_ref=shared)
    luna(person(anna))
    index.run(scope_ref=shared)
    indexed(person(anna))
    groups.close_group(user=anna, group_id=group.pk)
    work.run_due()
    elsewhere = "SELECT count(*) FROM projection_terms WHERE scope_ref <> %s"
    before = admin_connection.execute(elsewhere, [shared]).fetchone()
    erasure.erase_group(user=anna, group_id=group.pk)
    assert "fußmatt" not in dump(admin_connection).lower()
    assert "fussmatt" not in dump(admin_connection).lower()
    assert admin_connection.execute(elsewhere, [shared]).fetchone() == before
    erasure.delete_user(user=anna)
    assert user_scope(anna.sub) not in dump(admin_connection)


def test_work_for_a_scope_that_nobody_may_write_waits_without_failing(anna: User) -> None:
    group = groups.create_group(user=anna, name="Familie")
    groups.close_group(user=anna, group_id=group.pk)
    index.ask(f"group:{group.pk}")
    work.run_due()
    assert not Work.objects.filter(kind="index", scope_ref=f"group:{group.pk}").exists()


def test_what_is_imported_is_found(as_anna: Principal, ben: User, admin_connection: Admin) -> None:
    luna(as_anna)
    index.run(scope_ref=as_anna.default_scope)
    index.run(scope_ref=user_scope(ben.sub))
    with export.export_own(principal=as_anna) as file:
        lines = file.read()
    assert b"projection" not in lines
    archives.receive(principal=person(ben), file=io.BytesIO(lines), scope_ref=user_scope(ben.sub))
    while work.run_due():
        pass
    assert any(text.startswith("Luna\n") for text in current(person(ben), kind="entity"))
    assert any("Katze" in text for text in current(person(ben), kind="fact"))
    check_counts(admin_connection)


# Parts


@pytest.mark.parametrize(
    "text",
    ["", "kurz", "x" * (3 * MAX_PART), "ein Wort " * 900, "Ein Satz. " * 700, "一" * 4500, "a\n" * 3000],
    ids=["nothing", "short", "one word", "words", "sentences", "without blanks", "lines"],
)
def test_parts_lose_nothing(text: str) -> None:
    pieces = parts(text)
    assert all(len(piece) <= MAX_PART for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert len(pieces) == 1 or all(pieces)
