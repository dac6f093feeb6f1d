"""Chats from elsewhere: nothing of them is lost, nothing is doubled, and nobody else sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from gedaechtnis.chat import episodes, selectors, services
from gedaechtnis.chat.imports import service
from gedaechtnis.chat.imports.files import ChatFiles
from gedaechtnis.chat.models import Chat, ChatImport, EpisodeMark, Message
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person, user_scope
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services import erasure
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Projection
from tests.conftest import text_of

DATA = Path(__file__).parent.parent / "data" / "chats"
REAL = [
    DATA / "chatlore/chatgpt/conversations.json",
    DATA / "chatlore/claude/conversations.json",
    DATA / "chatlore/gemini/MyActivity.json",
    DATA / "logactyl/chatgpt-synthetic-export.zip",
    DATA / "logactyl/claude-synthetic-export.zip",
]
Line = dict[str, Any]


def bring(path: Path, *, user: str = "anna", **options: Any) -> tuple[str, str]:
    """Run the command; what it said, and what it complained about."""
    out, err = StringIO(), StringIO()
    call_command("import_chats", str(path), user=user, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def send(client: Any, path: Path, query: str = "") -> Any:
    address = f"/api/chats/import{query}"
    body = path.read_bytes()
    return client._client.post(address, body, content_type="application/octet-stream", headers=client._headers)


def chats(principal: Principal) -> dict[str, Chat]:
    with scope(principal):
        return {chat.external_id: chat for chat in Chat.objects.exclude(source="")}


def messages(principal: Principal, chat: str | None = None) -> list[Message]:
    with scope(principal):
        rows = Message.objects.exclude(external_id=None)
        rows = rows.filter(chat_id=chats(principal)[chat].pk) if chat else rows
        return list(rows.order_by("chat_id", "seq"))


def projections(principal: Principal) -> dict[str, Projection]:
    with scope(principal):
        found = Projection.objects.filter(source_kind="episode").order_by("source_id", "part")
        return {row.external_id or str(row.source_id): row for row in found}


def line(number: int, text: str, **more: Any) -> Line:
    at = datetime(2024, 5, 1, 9, tzinfo=UTC) + timedelta(minutes=number)
    row = {"chat": "c1", "id": f"m{number}", "speaker": "", "role": "user", "sent_at": at.isoformat(), "text": text}
    return row | more


def written(path: Path, lines: list[Line | str]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in lines))
    return path


# ── Everything arrives ───────────────────────────────────────────────────────

_WORDS = frozenset(
    {"text", "content", "thinking", "summary", "extracted_content", "prompt", "code", "user_instructions", "file_name"}
)


def words_of(path: Path) -> set[str]:
    """Every text, name and code that the files of an export hold below their messages."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if Path(name).name.startswith("conversations")]
            documents = [json.loads(archive.read(name)) for name in names]
    else:
        documents = [json.loads(path.read_text())]
    found: set[str] = set()

    def collect(value: Any, below: bool) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, str) and below and name in _WORDS and inner.strip():
                    found.add(inner.strip())
                elif name == "parts":
                    found.update(part.strip() for part in inner if isinstance(part, str) and part.strip())
                collect(inner, below or name in {"message", "chat_messages"})
        elif isinstance(value, list):
            for inner in value:
                collect(inner, below)

    collect(documents, False)
    return found


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


@pytest.mark.parametrize("path", [path for path in REAL if "gemini" not in path.parts], ids=lambda path: path.parts[-2])
def test_every_piece_of_text_of_a_real_export_is_there(anna: User, as_anna: Principal, path: Path) -> None:
    bring(path)
    stored = messages(as_anna)
    readable = {row.text for row in stored} | {text for row in stored for text in texts_in(row.parts)}
    raw = {text.strip() for row in stored for text in texts_in(row.original)}
    wanted = words_of(path)
    assert len(wanted) >= 5
    assert wanted <= raw
    unread = {text for text in wanted if not any(text in said for said in readable)}
    # A text that repeats all blocks is not told twice.
    assert all(text.startswith("I should provide a compact test interaction") for text in unread)


def test_a_tree_keeps_its_branches_and_its_current_line(anna: User, as_anna: Principal) -> None:
    bring(REAL[0], format="chatgpt")
    rows = {row.external_id: row for row in messages(as_anna, "11111111-aaaa-4bbb-8ccc-000000000001")}
    assert list(rows) == ["sys", "u1", "a1", "a2", "u2", "t1", "c1", "x1", "a3"]
    assert [id for id, row in rows.items() if not row.is_current] == ["a1"]
    assert {id for id, row in rows.items() if row.is_hidden} == {"sys", "t1", "x1"}
    assert rows["a1"].parent == rows["a2"].parent == "u1"
    assert (rows["x1"].role, rows["x1"].speaker) == ("other", "python")
    assert rows["u2"].sent_at == datetime(2026, 1, 1, 10, 1, 40, tzinfo=UTC)
    assert [part["kind"] for part in rows["u2"].parts] == ["image", "text"]
    assert rows["u1"].parts[-1] == {"kind": "file", "name": "explain.txt"}


def test_blocks_that_were_not_shown_stay_out_of_what_was_said(anna: User, as_anna: Principal) -> None:
    bring(REAL[1])
    rows = {row.external_id: row for row in messages(as_anna)}
    assert rows["m3"].text == "Retried answer: move x out of the inner scope."
    assert [part["kind"] for part in rows["m3"].parts if part.get("is_hidden")] == [
        "context", "tool_call", "tool_result", "tool_call", "tool_result",
    ]  # fmt: skip
    assert not rows["m2"].is_current
    assert rows["m3"].is_current
    assert rows["b1"].parts == [{"kind": "file", "name": "photo.png"}]


def test_prompts_without_conversations_become_a_chat_a_day(anna: User, as_anna: Principal) -> None:
    _out, err = bring(REAL[2])
    assert set(chats(as_anna)) == {"2026-03-10", "2026-03-12", "undated"}
    rows = messages(as_anna, "2026-03-10")
    assert rows[0].text == "Give me a recipe for Neapolitan pizza dough"
    assert rows[1].text == "Here is a simple recipe:\n\n- 500 g flour\n- 325 g water\n\nMix & rest."
    assert rows[0].session == rows[3].session != rows[4].session
    assert [row.text for row in rows if row.is_hidden] == ["Gave feedback: Good response"]
    assert messages(as_anna, "2026-03-12")[0].text == "Wie spät ist es in Tokio?"
    assert messages(as_anna, "undated")[0].text == "Entry with a broken time"
    assert "MyActivity.json, entry 7: its time cannot be read" in err
    assert "MyActivity.json, entry 8: it belongs to another product" in err


def test_what_could_not_be_read_is_named(anna: User) -> None:
    out, err = bring(REAL[0])
    assert "2 new chats, 11 new messages; 0 messages were there before." in out
    assert "conversations.json, chat 3: it holds no messages" in err
    assert "conversations.json, chat 4: it holds no messages" in err


def test_an_archive_names_its_other_files(anna: User) -> None:
    out, err = bring(REAL[3])
    assert "8 files hold no chats" in out
    assert err == ""


def test_a_folder_is_read_file_by_file(anna: User, as_anna: Principal) -> None:
    bring(DATA)
    assert {chat.source for chat in chats(as_anna).values()} == {"chatgpt", "claude", "gemini"}
    assert len(chats(as_anna)) == 2 + 4 + 3 + 3 + 3


@pytest.mark.parametrize("content", ["", "{}", "[]", "no json", '[{"name": "anna"}]'])
def test_a_file_without_chats_is_refused(anna: User, as_anna: Principal, tmp_path: Path, content: str) -> None:
    path = tmp_path / "any.json"
    path.write_text(content)
    with pytest.raises(CommandError, match="No chats were found"):
        bring(path)
    with scope(as_anna):
        assert not ChatImport.objects.exists()


def test_a_file_of_another_format_than_named_is_refused(anna: User) -> None:
    with pytest.raises(CommandError, match="chats of another format"):
        bring(REAL[0], format="claude")


def test_a_file_that_was_cut_off_gives_what_is_whole(anna: User, as_anna: Principal, tmp_path: Path) -> None:
    whole = REAL[0].read_text()
    path = tmp_path / "conversations.json"
    path.write_text(whole[: whole.index('"Trip ideas"')])
    _out, err = bring(path)
    assert len(chats(as_anna)) == 1
    assert "entry 2: it is not JSON, or cut off" in err


# ── JSON Lines ───────────────────────────────────────────────────────────────


def test_lines_become_messages_and_broken_ones_are_named(anna: User, as_anna: Principal, tmp_path: Path) -> None:
    lines: list[Line | str] = [
        line(1, "Hello", speaker="Caroline", role="other", title="Two friends", session="s1", mood="glad"),
        "{not json",
        line(3, "Without an id", id=None),
        line(4, "No such role", role="narrator"),
        line(5, "No such day", sent_at="2024-02-31T10:00:00Z"),
        line(6, "") | {"text": None},
        "",
        line(8, "Hi, with half a \ud800 and a \x00 😀", speaker="Melanie", role="other", session="s1"),
        line(9, "In another chat", chat=7, id=9),
        line(10, "Local time", sent_at="2024-07-01T10:00:00"),
        "[]",
    ]
    out, err = bring(written(tmp_path / "talk.jsonl", lines), format="jsonl")
    assert "2 new chats, 4 new messages" in out
    for number, why in {
        2: "not JSON", 3: "“id” is missing", 4: "none of user", 5: "no time", 6: "“text”", 11: "no message",
    }.items():  # fmt: skip
        assert f"line {number}: " in err
        assert why in next(said for said in err.splitlines() if f"line {number}: " in said)
    first, second, third = messages(as_anna, "c1")
    assert (first.speaker, first.role, first.session, first.original) == ("Caroline", "other", "s1", {"mood": "glad"})
    assert second.text == "Hi, with half a \ufffd and a \ufffd 😀"
    assert third.sent_at == datetime(2024, 7, 1, 8, tzinfo=UTC)
    assert chats(as_anna)["c1"].title == "Two friends"
    assert messages(as_anna, "7")[0].external_id == "9"


def test_an_id_used_twice_keeps_the_first_words(anna: User, as_anna: Principal, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl", [line(1, "First"), line(1, "First"), line(1, "Second")])
    _out, err = bring(path)
    assert [row.text for row in messages(as_anna)] == ["First"]
    assert "1 places" in err
    assert "line 3: was there before with other words" in err


# ── Again, and further ───────────────────────────────────────────────────────


@pytest.mark.parametrize("path", REAL, ids=lambda path: "-".join(path.parts[-2:]))
def test_importing_again_changes_nothing(anna: User, path: Path, admin_connection: psycopg.Connection[Any]) -> None:
    def state() -> list[Any]:
        tables = ("chats", "messages", "memory_projections")
        return [admin_connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in tables]

    bring(path)
    before = state()
    out, _err = bring(path)
    assert "0 new chats, 0 new messages" in out
    assert state() == before


def test_a_longer_export_adds_what_is_new_and_follows_the_branch(
    anna: User, as_anna: Principal, tmp_path: Path
) -> None:
    bring(REAL[0])
    before = {row.external_id: row.pk for row in messages(as_anna)}
    conversations = json.loads(REAL[0].read_text())
    mapping = conversations[0]["mapping"]
    mapping["n1"] = {
        "id": "n1",
        "parent": "a1",
        "children": [],
        "message": {
            "author": {"role": "user"},
            "create_time": 1767270000.0,
            "content": {"content_type": "text", "parts": ["Back to the first answer, then."]},
        },
    }
    mapping["a1"]["children"] = ["n1"]
    conversations[0]["current_node"] = "n1"
    longer = tmp_path / "conversations.json"
    longer.write_text(json.dumps(conversations))
    out, _err = bring(longer)
    assert "0 new chats, 1 new messages; 11 messages were there before." in out
    rows = {row.external_id: row for row in messages(as_anna)}
    assert {id: rows[id].pk for id in before} == before
    line_of = [id for id, row in rows.items() if row.is_current and row.chat_id == rows["n1"].chat_id]
    assert line_of == ["sys", "u1", "a1", "n1"]
    found = projections(as_anna)
    assert [found[id].position for id in ("u1", "a1", "n1")] == [1, 2, 3]
    assert len({found[id].session_id for id in ("u1", "a1", "n1")}) == 1
    assert found["a2"].session_id != found["u1"].session_id


def test_killed_on_the_way_it_goes_on_and_doubles_nothing(anna: User, as_anna: Principal, tmp_path: Path) -> None:
    lines: list[Line | str] = [line(n, f"Message {n}", chat=f"c{n // 50}") for n in range(350)]
    path = written(tmp_path / "talk.jsonl", lines)
    command = [sys.executable, "-m", "tests.killed_import", str(path), "anna", "2"]
    done = subprocess.run(command, env=os.environ, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    assert 0 < len(messages(as_anna)) < 350
    while work.run_due():
        pass
    assert [row.external_id for row in messages(as_anna)] == [f"m{number}" for number in range(350)]
    assert len(projections(as_anna)) == 350
    out, _err = bring(path)
    assert "0 new chats, 0 new messages; 350 messages were there before." in out


def test_whoever_leaves_during_an_import_leaves_nothing(
    anna: User, as_anna: Principal, tmp_path: Path, admin_connection: psycopg.Connection[Any], monkeypatch: Any
) -> None:
    monkeypatch.setattr(service, "PIECE_MESSAGES", 1)
    lines: list[Line | str] = [line(n, f"Message {n}", chat=f"c{n}") for n in range(3)]
    files = ChatFiles.at(written(tmp_path / "talk.jsonl", lines), zone=as_anna.zone)
    received = service.receive(principal=as_anna, files=files)
    written_pieces = service.write(scope_ref=as_anna.default_scope, import_id=received.id)
    assert next(written_pieces).messages == 1
    erasure.delete_user(user=anna)
    with pytest.raises(Problem, match="scope_denied"):
        next(written_pieces)
    work.run_due()
    for table in ("chats", "messages", "chat_imports", "chat_import_pieces", "memory_projections", "work"):
        asked = f"SELECT count(*) FROM {table} WHERE scope_ref = %s"
        assert admin_connection.execute(asked, [as_anna.default_scope]).fetchone() == (0,), table


def test_the_command_goes_on_with_what_was_stopped(anna: User, as_anna: Principal, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl", [line(number, f"Message {number}") for number in range(5)])
    files = ChatFiles.at(path, zone=as_anna.zone)
    waiting = service.receive(principal=as_anna, files=files)
    assert messages(as_anna) == []
    out, _err = bring(REAL[0])
    assert "Going on" in out
    assert service.get_import(principal=as_anna, import_id=waiting.id).state == "done"
    assert len(messages(as_anna, "c1")) == 5


# ── Who sees it ──────────────────────────────────────────────────────────────


def test_nobody_else_sees_anything(anna: User, as_clara: Principal) -> None:
    bring(REAL[0])
    with scope(as_clara):
        assert not Message.objects.exists()
        assert not Chat.objects.exists()
        assert not ChatImport.objects.exists()
        assert not Projection.objects.exists()
    with scope(person(anna)):
        import_id = ChatImport.objects.get().pk
    with pytest.raises(NotFound):
        service.get_import(principal=as_clara, import_id=import_id)


def test_two_people_have_the_same_chat_each(anna: User, ben: User) -> None:
    for user in (anna, ben):
        bring(REAL[0], user=user.username)
    assert len(messages(person(anna))) == len(messages(person(ben))) == 11


def test_an_imported_chat_is_only_read(anna: User, as_anna: Principal) -> None:
    bring(REAL[0])
    chat = chats(as_anna)["22222222-aaaa-4bbb-8ccc-000000000002"]
    with pytest.raises(Problem) as refused:
        services.post_message(principal=as_anna, chat_id=chat.pk, text="Hallo")
    assert refused.value.code == "imported_chat"


def test_a_file_is_sent_and_written_by_and_by(
    anna: User, clara: User, as_anna: Principal, client_for: Callable[..., Any]
) -> None:
    client = client_for(anna)
    for path in (REAL[1], REAL[4]):
        answer = send(client, path)
        assert answer.status_code == 202, answer.content
        address = f"/api/chats/import/{answer.json()['id']}"
        assert client.get(address).json()["state"] == "running"
        assert client_for(clara).get(address).status_code == 404
        while work.run_due():
            pass
        seen = client.get(address).json()
        assert (seen["state"], seen["messages"]) == ("done", seen["staged"])
    assert seen["passed_over"] == ["projects.json", "users.json"]
    assert projections(as_anna)["m4"].text == "That worked, thanks."
    listed = client.get("/api/chats", {"limit": 4}).json()
    rest = client.get("/api/chats", {"limit": 4, "cursor": listed["cursor"]}).json()
    assert len(listed["items"]) == 4
    assert len({chat["id"] for chat in (*listed["items"], *rest["items"])}) == 7
    refused = send(client, REAL[1], "?format=gemini")
    assert (refused.status_code, refused.json()["code"]) == (422, "other_format")


def test_an_agent_brings_no_chats(anna: User, client_for: Callable[..., Any]) -> None:
    agent = client_for(anna, agent_role="assistant")
    answer = send(agent, REAL[0])
    assert (answer.status_code, answer.json()["code"]) == (403, "person_required")


# ── What is found, and what is learned ───────────────────────────────────────


def test_said_turns_become_episodes_and_hidden_ones_do_not(anna: User, as_anna: Principal) -> None:
    bring(REAL[0])
    found = projections(as_anna)
    assert set(found) == {"u1", "a1", "a2", "u2", "c1", "a3", "b1", "b2"}
    line_of = ["u1", "a2", "u2", "c1", "a3"]
    assert [found[id].position for id in line_of] == [1, 2, 3, 4, 5]
    assert len({found[id].session_id for id in line_of}) == 1
    assert found["a1"].session_id not in {found[id].session_id for id in line_of}
    assert (found["u1"].speaker, found["a2"].speaker) == ("Anna", "ChatGPT")
    assert found["u1"].occurred_at == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert found["u1"].classification == 2
    assert not any(row.terms_pending for row in found.values())


def test_own_messages_become_episodes_day_by_day(anna: User, as_anna: Principal) -> None:
    chat = services.main_chat(principal=as_anna)
    at = datetime(2026, 3, 1, 19, tzinfo=UTC)
    texts = {"Ich habe heute Kuchen gebacken.": at, "Er ist gut geworden.": at + timedelta(hours=6)}  # 2 a.m. in Berlin
    for text, sent_at in {**texts, "Und gut geschlafen.": at + timedelta(hours=14)}.items():
        services.post_message(principal=as_anna, chat_id=chat.id, text=text, sent_at=sent_at)
    while work.run_due():
        pass
    with scope(as_anna):
        rows = list(Projection.objects.filter(source_kind="episode", role="user").order_by("position"))
        mark = EpisodeMark.objects.get(chat_id=chat.id)
        assert mark.seq == Chat.objects.get(pk=chat.id).last_seq
    assert [row.text for row in rows] == [*texts, "Und gut geschlafen."]
    assert rows[0].session_id == rows[1].session_id != rows[2].session_id
    assert rows[0].speaker == "Anna"


def test_a_speaker_is_the_person_of_that_name_where_there_is_one(
    anna: User, as_anna: Principal, tmp_path: Path
) -> None:
    operations = [
        {"op": "upsert_entity", "id_hint": f"person:{ref}", "kind": "person", "canonical_name": name}
        for ref, name in (("caroline", "Caroline"), ("melanie-roth", "Melanie Roth"))
    ]
    for ref, name in (("melanie-kurz", "Melanie Kurz"), ("melanie-lang", "Melanie Lang")):
        operations.append(
            {"op": "upsert_entity", "id_hint": f"person:{ref}", "kind": "person"}
            | {"canonical_name": name, "aliases": ["Melanie"]}
        )
    commit_proposal(principal=as_anna, proposal=MemoryMutationProposal.model_validate({"operations": operations}))
    names = ["Caroline", "Melanie", "Anna", "Nobody"]
    lines: list[Line | str] = [line(n, f"I am {name}", speaker=name, role="other") for n, name in enumerate(names)]
    bring(written(tmp_path / "talk.jsonl", lines))
    found = projections(as_anna)
    assert [len(found[f"m{n}"].entity_ids) for n in range(4)] == [1, 0, 1, 0]
    assert [found[f"m{n}"].speaker for n in range(4)] == names


def test_only_learning_reads_what_was_said(anna: User, as_anna: Principal, tmp_path: Path) -> None:
    lines: list[Line | str] = [
        line(1, "Meine Schwester Lena wohnt in Augsburg.", sent_at="2019-03-01T10:00:00+01:00"),
        line(2, "Gut zu wissen.", role="assistant", sent_at="2019-03-01T10:01:00+01:00"),
    ]
    path = written(tmp_path / "talk.jsonl", lines)
    bring(path)
    evidence = "SELECT ref, text FROM fact_evidence WHERE kind = 'message'"
    with scope(as_anna), connection.cursor() as cursor:
        cursor.execute(evidence)
        assert cursor.fetchall() == []
    out, _err = bring(path, learn=True)
    assert "The curator has read 1 chats" in out
    said = next(row for row in messages(as_anna) if row.role == "user")
    with scope(as_anna), connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT ref FROM fact_evidence WHERE ref LIKE 'msg:%'")
        assert cursor.fetchall() == [(f"msg:{said.pk}",)]


def test_hidden_and_abandoned_turns_are_not_learned_from(anna: User, as_anna: Principal) -> None:
    bring(REAL[3], learn=True)
    hidden = next(row for row in messages(as_anna) if row.external_id == "c1-context")
    from gedaechtnis.chat.quotes import find_quote  # noqa: PLC0415

    with scope(as_anna):
        assert find_quote(user_scope(anna.sub), f"msg:{hidden.pk}", "Keep responses deterministic.") is None


# ── Leaving, and coming back ─────────────────────────────────────────────────


def test_the_list_of_chats_names_where_they_are_from(anna: User, as_anna: Principal) -> None:
    bring(REAL[1])
    views = selectors.list_chats(principal=as_anna)
    assert {view.source for view in views} == {"claude"}
    assert views[0].created_at > views[-1].created_at


def test_episodes_are_made_once_by_two_runs(anna: User, as_anna: Principal) -> None:
    bring(REAL[0])
    assert episodes.project(scope_ref=user_scope(anna.sub)) == 0


# ── Pages ────────────────────────────────────────────────────────────────────


def test_many_messages_become_episodes_in_several_goes(
    anna: User, as_anna: Principal, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "_AT_ONCE", 2)
    files = ChatFiles.at(written(tmp_path / "t.jsonl", [line(n, f"Message {n}") for n in range(5)]), zone=as_anna.zone)
    received = service.receive(principal=as_anna, files=files)
    list(service.write(scope_ref=as_anna.default_scope, import_id=received.id))
    settings.GEDAECHTNIS_WORK_LEASE_SECONDS = 0
    made = []
    for _go in range(4):
        for item in work.claim():
            if item.kind == "episodes":
                work.run(item)
                made.append(len(projections(as_anna)))
    assert sorted(set(made)) == [2, 4, 5]


def test_the_pages_show_where_a_chat_is_from_and_fold_what_was_hidden(
    anna: User, clara: User, as_anna: Principal, page_for: Callable[[User], Client]
) -> None:
    bring(DATA)
    page = page_for(anna)
    listed = text_of(page.get("/gespraeche/"))
    for words in ("Rust lifetimes", "Claude", "Postgres indexing", "ChatGPT", "Gemini", "Ohne Titel"):
        assert words in listed
    chat = chats(as_anna)["aaaaaaaa-1111-4222-8333-000000000001"]
    address = f"/gespraeche/{chat.pk}/"
    shown = text_of(page.get(address))
    assert "Retried answer: move x out" in shown
    assert "main.rs" in shown
    assert "x does not live long enough." not in shown
    everything = text_of(page.get(f"{address}?all=1"))
    assert "x does not live long enough." in everything
    assert "internal reasoning" in everything
    assert page_for(clara).get(address).status_code == 404
    assert "Rust lifetimes" not in text_of(page_for(clara).get("/gespraeche/"))


def test_a_long_chat_is_read_page_by_page(
    anna: User, as_anna: Principal, page_for: Callable[[User], Client], tmp_path: Path
) -> None:
    bring(written(tmp_path / "talk.jsonl", [line(number, f"Satz {number}.") for number in range(250)]))
    rows = messages(as_anna)
    address = f"/gespraeche/{rows[0].chat_id}/"
    page = page_for(anna)
    first = text_of(page.get(address))
    assert "Satz 99." in first
    assert "Satz 100." not in first
    assert "?after=100" in first
    assert "Satz 100." in text_of(page.get(f"{address}?after=100"))
    around = text_of(page.get(f"{address}?message={rows[200].pk}"))
    assert f'id="message-{rows[200].pk}"' in around
    for odd in ("after=x", "after=99999999999999999999", "message=1", "after=-1", "after=²"):
        assert page.get(f"{address}?{odd}").status_code == 200


def test_a_file_is_brought_on_the_page(anna: User, page_for: Callable[[User], Client]) -> None:
    page = page_for(anna)
    assert page.post("/gespraeche/holen/").status_code == 422
    with REAL[3].open("rb") as file:
        assert page.post("/gespraeche/holen/", {"file": file}).headers["Location"] == "/gespraeche/"
    assert "0 von 15 Nachrichten" in text_of(page.get("/gespraeche/"))
    while work.run_due():
        pass
    assert "15 neue Nachrichten" in text_of(page.get("/gespraeche/"))
    with (DATA / "chatlore/LICENSE").open("rb") as file:
        refused = page.post("/gespraeche/holen/", {"file": file})
    assert "Es wurden keine Chats gefunden" in text_of(refused)
