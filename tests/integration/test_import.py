"""Bringing a memory from elsewhere: both times, all history, and nothing at all where something is wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO, StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from gedaechtnis.chat import services as chats
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person, user_scope
from gedaechtnis.memory.answers import FactView, ImportView
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult
from gedaechtnis.memory.selectors import asof, entities, export, proposals
from gedaechtnis.memory.services import facts, governance, merges, splits
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.transfer import archives
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import ScopeClock
from gedaechtnis.world.models import Entity, Fact, Import, ImportPiece
from tests.conftest import make_user

Lines = list[dict[str, Any]]


def say(principal: Principal, *operations: dict[str, Any], scope_ref: str | None = None) -> list[OperationResult]:
    proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
    return commit_proposal(
        principal=principal, proposal=proposal, scope_ref=scope_ref or principal.default_scope
    ).results


def entity(ref: str, name: str, **more: Any) -> dict[str, Any]:
    return {"op": "upsert_entity", "id_hint": ref, "kind": ref.partition(":")[0], "canonical_name": name, **more}


def fact(subject: str, predicate: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, "object_value": value, **more}


def relation(subject: str, predicate: str, target: str, **more: Any) -> dict[str, Any]:
    return {
        "op": "assert_relationship",
        "subject_ref": subject,
        "predicate": predicate,
        "object_ref": target,
        **more,
    }


def live(user: User, client_for: Callable[..., Any]) -> None:
    """A memory in which all that gets lost easily has happened."""
    me = person(user)
    chats.post_message(
        principal=me, chat_id=chats.main_chat(principal=me).id, text="Ich wohne in Nürnberg. 🐈", client_id="1"
    )
    say(
        me,
        entity("pet:luna", "Luna 🐈", aliases=["Mäuschen"]),
        entity("place:nuernberg", "Nürnberg"),
        entity("place:fuerth", "Fürth"),
        entity("person:anna-keller", "Anna Keller"),
        entity("person:aenne-mueller", "Änne Müller"),
        entity("repo:haus", "Haus"),
    )
    for number, city in enumerate(("place:nuernberg", "place:fuerth", "place:nuernberg")):  # a chain of three
        say(me, relation("person:anna-keller", "lives_in", city, valid_from=f"20{18 + number}-01-01"))
    say(me, fact("person:anna-keller", "age", 19, valid_from="2020-01-01"))
    say(me, fact("person:anna-keller", "age", 18, valid_from="2019-06-01", correction=True))  # backdated
    say(
        me,
        fact("pet:luna", "feeding_time_morning", "07:00", valid_from="unknown"),
        fact("pet:luna", "feeding_time_morning", "08:00", valid_from="2031-01-01"),  # future
        fact("person:anna-keller", "eats", "Fleisch", polarity=False),
        fact("person:anna-keller", "likes", {"größe": 1.5, "teile": [1, 2.0, 1e-7]}),
        relation("person:anna-keller", "friend_of", "person:aenne-mueller"),
        fact("person:anna-keller", "convention", "kurz", applies_to_ref="repo:haus"),
    )
    say(me, fact("person:anna-keller", "likes", "Tee"))
    say(me, fact("person:anna-keller", "likes", "Tee", evidence={"kind": "note", "text": "noch einmal"}))
    note = say(me, fact("pet:luna", "note", "verwechselt"))[0]
    assert note.fact_id is not None
    facts.retract_fact(principal=me, fact_id=note.fact_id, reason="falsche Katze")
    ids = [entities.get_entity(principal=me, ref=ref).id for ref in ("person:aenne-mueller", "person:anna-keller")]
    merges.merge_entities(principal=me, source_id=ids[0], target_id=ids[1])
    say(me, fact("person:anna-keller", "speaks", "Deutsch"))
    splits.split_entity(principal=me, source_id=ids[0])
    agent = client_for(user, agent_role="assistant")
    for value in ("Thunfisch", "Hering"):
        body = {"operations": [fact("pet:luna", "likes", value)]}
        assert agent.post("/api/world/proposals", body).json()["results"][0]["outcome"] == "pending"
    first = proposals.list_proposals(principal=me)[0]
    governance.reject_proposal(principal=me, proposal_id=first.id, reason="mag sie nicht")


def take(principal: Principal) -> bytes:
    with export.export_own(principal=principal) as file:
        return file.read()


def lines_of(data: bytes) -> Lines:
    return [json.loads(line) for line in data.splitlines()]


def rows_of(data: bytes) -> list[bytes]:
    return sorted(data.splitlines()[1:])


def bring(principal: Principal, data: bytes, **more: Any) -> ImportView:
    """Receive and write a whole file."""
    own = principal.default_scope
    received = archives.receive(principal=principal, file=BytesIO(data), scope_ref=own, **more)
    *_, last = archives.write(scope_ref=own, import_id=received.id)
    return last


def questions(principal: Principal) -> list[tuple[UUID, Any, Any]]:
    """Fifty questions about entities at moments on both axes, drawn from what changed when."""
    draw = random.Random(20261130)  # noqa: S311
    with scope(principal):
        known = list(Fact.objects.order_by("recorded_at").values_list("recorded_at", flat=True))
        known += list(Fact.objects.exclude(superseded_at=None).values_list("superseded_at", flat=True))
        valid = list(Fact.objects.order_by("valid_from", "id").values_list("valid_from", flat=True))
        subjects = list(Entity.objects.order_by("id").values_list("id", flat=True))
    jitter = (timedelta(0), timedelta(microseconds=-1), timedelta(days=40))
    return [
        (draw.choice(subjects), draw.choice(valid) + draw.choice(jitter), draw.choice(known) + draw.choice(jitter[:2]))
        for _number in range(50)
    ]


def answers(principal: Principal, asked: list[tuple[UUID, Any, Any]]) -> list[list[Any]]:
    return [
        list(asof.entity_facts(principal=principal, entity_id=id, valid_at=valid, known_at=known).facts)
        for id, valid, known in asked
    ]


def again(name: str, sub: UUID) -> User:
    """The same person in another installation."""
    user = User(username=name, sub=sub, first_name=name.capitalize(), language="de", time_zone="Europe/Berlin")
    user.save()
    return user


def test_case_c103_an_export_restores_both_times_in_another_installation(
    anna: User, ben: User, client_for: Callable[..., Any], django_db_setup: Callable[[], None]
) -> None:
    for user in (anna, ben):
        live(user, client_for)
    taken = {user: take(person(user)) for user in (anna, ben)}
    asked = questions(person(anna))
    before = answers(person(anna), asked)
    assert len([answer for answer in before if answer]) > 10
    django_db_setup()

    there = {user: again(user.username, user.sub) for user in (anna, ben)}
    first = bring(person(there[anna]), taken[anna])
    assert (first.state, first.keeps_ids, first.left_out) == ("done", True, {})
    assert first.rows == first.rows_done == len(taken[anna].splitlines()) - 2
    second = bring(person(there[ben]), taken[ben], keep_ids=True)
    assert (second.state, second.keeps_ids) == ("done", True)
    for user in (anna, ben):
        assert rows_of(take(person(there[user]))) == rows_of(taken[user])
    assert answers(person(there[anna]), asked) == before
    assert not ImportPiece.objects.exists()

    # Life goes on: what is learned now is learned later than all that came.
    me = person(there[anna])
    last = lines_of(taken[anna])[0]["tick"]
    result = say(me, fact("pet:luna", "likes", "Sahne"))[0]
    assert result.outcome == "committed"
    with scope(me):
        assert Fact.objects.get(pk=result.fact_id).recorded_at.isoformat().replace("+00:00", "Z") > last


def test_where_others_live_the_ids_are_made_anew(anna: User, ben: User, client_for: Callable[..., Any]) -> None:
    live(anna, client_for)
    taken = take(person(anna))
    me = person(ben)
    done = bring(me, taken)
    assert (done.state, done.keeps_ids, done.left_out) == ("done", False, {})
    mine = take(me)
    old, new = lines_of(taken), lines_of(mine)
    assert old[-1] == new[-1]  # as many rows
    ids = {line["row"]["id"] for line in old[1:-1]}
    assert not ids & {line["row"]["id"] for line in new[1:-1]}
    assert not [line for line in mine.splitlines() if any(id.encode() in line for id in ids)]  # nothing points back
    assert str(anna.sub).encode() not in mine
    # The same file from here is the same memory: its ids differ, its order does not.
    told = [[seen(row) for row in history(principal)] for principal in (person(anna), me)]
    assert told[0] == told[1]
    assert say(me, fact("pet:luna", "feeding_time_morning", "08:00", valid_from="2031-01-01"))[0].outcome == "restated"
    assert rows_of(take(person(anna))) == rows_of(taken)


def seen(row: FactView) -> tuple[Any, ...]:
    return row.subject_ref, row.predicate, row.object.label, row.status, row.valid_from, row.recorded_at, row.confidence


def history(principal: Principal) -> list[FactView]:
    found = entities.search_entities(principal=principal).items
    return [
        row
        for one in found
        for row in asof.history(principal=principal, entity_id=one.id, beliefs="all")
        if row.predicate != "name"
    ]


def test_it_goes_on_where_it_was_stopped(
    anna: User, ben: User, client_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    live(anna, client_for)
    taken, me = take(person(anna)), person(ben)
    monkeypatch.setattr(archives, "_PIECES_AT_ONCE", 2)
    own = me.default_scope
    received = archives.receive(principal=me, file=BytesIO(taken), scope_ref=own)
    assert (received.state, received.rows_done) == ("running", 0)
    progress = archives.write(scope_ref=own, import_id=received.id)
    part = next(progress)
    progress.close()  # the worker dies
    assert 0 < part.rows_done < part.rows
    assert archives.get_import(principal=me, import_id=received.id) == part
    # Nobody writes in between, and nobody else sees it.
    with pytest.raises(Problem, match="scope_denied"):
        facts.introduce(principal=me, kind="place", name="Garten", scope_ref=own)
    with pytest.raises(NotFound):
        archives.get_import(principal=person(anna), import_id=received.id)
    while work.run_due():
        pass
    done = archives.get_import(principal=me, import_id=received.id)
    assert (done.state, done.rows_done) == ("done", done.rows)
    assert lines_of(take(me))[-1] == lines_of(taken)[-1]
    assert facts.introduce(principal=me, kind="place", name="Garten", scope_ref=own).outcome == "committed"


# ── What is refused, wholly ──────────────────────────────────────────────────


def garbled(data: bytes, change: Callable[[Lines], Any]) -> bytes:
    lines = lines_of(data)
    change(lines)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def row(lines: Lines, table: str) -> dict[str, Any]:
    found: dict[str, Any] = next(line["row"] for line in lines if line.get("table") == table)
    return found


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("unknown_version", lambda lines: lines[0].update(version=2)),
        ("invalid_export", lambda lines: lines[0].update(format="other")),
        ("invalid_export", lambda lines: lines[0].update(version="1")),
        ("invalid_export", lambda lines: lines[0].pop("scope_ref")),
        ("invalid_export", lambda lines: lines[0].update(tick="2999-01-01T00:00:00Z")),
        ("invalid_export", lambda lines: lines.pop()),
        ("invalid_export", lambda lines: lines.pop(3)),
        ("invalid_export", lambda lines: lines.append({"rows": {}})),
        ("invalid_export", lambda lines: lines[2].update(table="identity_user")),
        ("invalid_export", lambda lines: lines[2]["row"].update(scope_ref="global")),
        ("invalid_export", lambda lines: row(lines, "facts").pop("slot")),
        ("invalid_export", lambda lines: row(lines, "facts").update(id=7)),
        ("invalid_export", lambda lines: row(lines, "facts").update(recorded_at="yesterday")),
        ("invalid_export", lambda lines: row(lines, "facts").update(statement="a\x00b")),
        ("invalid_export", lambda lines: row(lines, "facts").update(polarity="yes")),
        ("invalid_export", lambda lines: lines[0]["predicates"].update({"x:y": {}})),
        ("predicate_differs", lambda lines: lines[0]["predicates"]["name"].update(cardinality="set")),
        ("wrong_scope_kind", lambda lines: lines[0].update(scope_ref=f"group:{UUID(int=1)}")),
    ],
)
def test_a_file_that_is_wrong_is_refused_before_anything_is_written(
    anna: User, ben: User, code: str, change: Callable[[Lines], Any]
) -> None:
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=user_scope(anna.sub))
    me = person(ben)
    before = take(me)
    with pytest.raises(Problem) as refused:
        bring(me, garbled(take(person(anna)), change))
    assert refused.value.code == code, refused.value
    assert rows_of(take(me)) == rows_of(before)
    assert ScopeClock.objects.get(pk=me.default_scope).state == "open"


def test_what_the_database_refuses_leaves_the_scope_new(anna: User, ben: User) -> None:
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=user_scope(anna.sub))
    me = person(ben)
    data = garbled(take(person(anna)), lambda lines: row(lines, "facts").update(confidence=7))
    done = bring(me, data)
    assert (done.state, done.problem, done.rows_done) == ("refused", "IntegrityError", 0)
    with scope(me):
        assert [found.canonical_name for found in Entity.objects.all()] == ["Ben"]
        assert not ImportPiece.objects.exists()
    assert bring(me, take(person(anna))).state == "done"  # once more, with a whole file


def test_only_an_empty_memory_takes_an_import(anna: User, ben: User, client_for: Callable[..., Any]) -> None:
    data = take(person(anna))
    me = person(ben)
    facts.introduce(principal=me, kind="place", name="Garten", scope_ref=me.default_scope)
    with pytest.raises(Problem, match="scope_not_empty"):
        bring(me, data)


def test_what_names_things_that_are_not_here_is_left_out_and_counted(
    anna: User, ben: User, clara: User, client_for: Callable[..., Any]
) -> None:
    family = groups.create_group(user=anna, name="Familie Weber")
    shared = f"group:{family.pk}"
    made = facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    assert made.entity_id is not None
    me = person(anna)
    facts.add_note(principal=me, entity_id=made.entity_id, text="geheim", scope_ref=me.default_scope)
    data = take(me)
    assert bring(person(clara), data).left_out == {"facts": 1, "fact_evidence": 1}
    groups.add_member(user=anna, group_id=family.pk, username="ben")
    assert bring(person(ben), data).left_out == {}
    notes = asof.entity_facts(principal=person(ben), entity_id=made.entity_id, predicate="note")
    assert [note.object.value for note in notes.facts] == ["geheim"]


def test_predicates_come_along_for_review(
    anna: User, client_for: Callable[..., Any], django_db_setup: Callable[[], None]
) -> None:
    Predicate.objects.create(key="garten:beet", source="garten", cardinality="functional")
    catalogue.forget()
    say(person(anna), entity("place:garten", "Garten"), fact("place:garten", "garten:beet", "Rosen"))
    data = take(person(anna))
    django_db_setup()
    me = person(again("anna", anna.sub))
    assert bring(me, data).state == "done"
    known = Predicate.objects.get(key="garten:beet")
    assert (known.cardinality, known.state, known.source) == ("functional", "unreviewed", "import")
    assert say(me, fact("place:garten", "garten:beet", "Dahlien"))[0].closed_fact_ids


# ── The doors ────────────────────────────────────────────────────────────────


def test_by_rest(anna: User, ben: User, client_for: Callable[..., Any]) -> None:
    live(anna, client_for)
    data = take(person(anna))
    client = client_for(ben)
    send = client._client.post
    headers = client._headers
    response = send("/api/import", data, content_type="application/jsonl", headers=headers)
    assert response.status_code == 202, response.content
    address = f"/api/import/{response.json()['id']}"
    assert client.get(address).json()["state"] == "running"
    assert client_for(anna).get(address).status_code == 404
    while work.run_due():
        pass
    assert client.get(address).json()["state"] == "done"
    assert client.get("/api/world/entities/pet:luna").json()["name"] == "Luna 🐈"
    assert send("/api/import", data, content_type="application/jsonl", headers=headers).status_code == 409
    assert send("/api/import", data, content_type="application/json", headers=headers).status_code == 415
    agent = client_for(anna, agent_role="assistant")
    refused = agent._client.post("/api/import", data, content_type="application/jsonl", headers=agent._headers)
    assert refused.json()["code"] == "person_required"


def test_by_command(anna: User, tmp_path: Any, client_for: Callable[..., Any]) -> None:
    live(anna, client_for)
    file = tmp_path / "anna.jsonl"
    file.write_bytes(take(person(anna)))
    make_user("dora")
    out = StringIO()
    call_command("import", str(file), user="dora", stdout=out)
    rows = len(file.read_bytes().splitlines()) - 2
    assert f"{rows} of {rows} rows" in out.getvalue()
    assert Import.objects.count() == 0  # behind the policies
    with pytest.raises(CommandError, match="scope_not_empty"):
        call_command("import", str(file), user="dora", stdout=out)


def test_nobody_clears_a_scope_that_is_not_being_imported(anna: User) -> None:
    me = person(anna)
    with pytest.raises(DatabaseError, match="nothing is being imported"), scope(me, write=me.default_scope):
        archives._clear(me.default_scope)
