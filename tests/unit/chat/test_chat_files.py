"""Reading exports that are older, newer, larger or more broken than the usual ones."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from gedaechtnis.chat.imports import files, json_items
from gedaechtnis.chat.imports.files import ChatFiles, UnreadableFile
from gedaechtnis.chat.imports.html_text import text_of_html
from gedaechtnis.chat.imports.stream import Flaw, ImportedChat, ImportedMessage, Item

BERLIN = ZoneInfo("Europe/Berlin")


def read(folder: Path, document: Any, name: str = "conversations.json") -> list[Item]:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8-sig")
    return list(ChatFiles.at(path, zone=BERLIN))


def only(items: list[Item]) -> dict[str, ImportedMessage]:
    (chat,) = items
    assert isinstance(chat, ImportedChat)
    return {message.external_id: message for message in chat.messages}


def conversation(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation whose messages follow each other, unless they name a `parent`."""
    mapping: dict[str, Any] = {}
    before = None
    for number, message in enumerate(messages, start=1):
        id = message.pop("id", f"n{number}")
        mapping[id] = {"id": id, "parent": message.pop("parent", before), "children": [], "message": message}
        before = id
    return {"title": "T", "create_time": 1700000000, "conversation_id": "c", "mapping": mapping, **more}


def said(text: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **more}


def content(kind: str, role: str = "assistant", recipient: str = "all", **fields: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "recipient": recipient, "content": {"content_type": kind, **fields}}


def test_every_known_piece_of_a_message_finds_its_place(tmp_path: Path) -> None:
    canvas = json.dumps({"name": "Plan", "type": "document", "content": "# The plan"})
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-9"}
    heard = {"content_type": "audio_transcription", "text": "Good morning", "direction": "in"}
    pointer = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_2"}
    rows = only(
        read(
            tmp_path,
            [
                conversation(
                    content("multimodal_text", "user", parts=[image, heard, pointer, None, "", "And this?"]),
                    content("code", recipient="canmore.create_textdoc", text=canvas, language="json"),
                    content("code", recipient="python", text="print(1)", language="python"),
                    content("execution_output", "tool", text="1"),
                    content("thoughts", thoughts=[{"summary": "Short", "content": "Long"}]),
                    content("reasoning_recap", content="Thought for 3 s"),
                    content("tether_quote", "tool", url="https://x.org", title="X", text="Quoted"),
                    content("super_widget_2027", title="A widget", text="with words"),
                    said("See \ue200cite\ue202turn0\ue201 here", "assistant", metadata={
                        "content_references": [{"matched_text": "\ue200cite\ue202turn0\ue201", "alt": "([X](https://x.org))",
                                                "items": [{"url": "https://x.org", "title": "X"}]}]}),
                )
            ],
        )
    )  # fmt: skip
    shown = {id: ([(part.kind, part.is_hidden) for part in row.parts], row.is_hidden) for id, row in rows.items()}
    assert shown == {
        "n1": ([("image", False), ("transcript", False), ("audio", False), ("text", False)], False),
        "n2": ([("canvas", False)], False),
        "n3": ([("tool_call", True)], True),
        "n4": ([("tool_result", True)], True),
        "n5": ([("thinking", True)], True),
        "n6": ([("thinking", True)], True),
        "n7": ([("quote", False)], True),
        "n8": ([("super_widget_2027", False)], False),
        "n9": ([("text", False), ("citation", False)], False),
    }
    assert rows["n1"].text == "Good morning\n\nAnd this?"
    assert rows["n1"].parts[0].name == "file-9"
    assert (rows["n2"].text, rows["n2"].parts[0].name) == ("# The plan", "Plan")
    assert rows["n5"].text == "Short\n\nLong"
    assert rows["n8"].text == "A widget\n\nwith words"
    assert rows["n9"].text == "See ([X](https://x.org)) here"


@pytest.mark.parametrize(
    ("raw", "read_as"),
    [
        (1714556400.5, datetime(2024, 5, 1, 9, 40, 0, 500000, UTC)),
        (1714556400500, datetime(2024, 5, 1, 9, 40, 0, 500000, UTC)),
        ("2024-05-01T11:40:00+02:00", datetime(2024, 5, 1, 9, 40, tzinfo=UTC)),
        ("2024-05-01T11:40:00", datetime(2024, 5, 1, 9, 40, tzinfo=UTC)),
        (None, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("soon", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1e300, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (float("nan"), datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_in_any_form_and_else_that_of_the_one_before(
    tmp_path: Path, raw: Any, read_as: datetime
) -> None:
    assert only(read(tmp_path, [conversation(said("x", create_time=raw))]))["n1"].sent_at == read_as


def test_odd_trees_lose_nothing(tmp_path: Path) -> None:
    deep = conversation(*[said(f"t{number}") for number in range(3000)], conversation_id="deep")
    torn = conversation(said("a"), said("b", parent="gone"), said("c"), current_node="nowhere", conversation_id="torn")
    ring = conversation(said("a", parent="n2"), said("b", parent="n1"), conversation_id="ring")
    bare = {"id": "bare", "mapping": {"k": {"message": said("only a message")}}}
    items = read(tmp_path, [deep, torn, ring, bare])
    chats = {item.external_id: item for item in items if isinstance(item, ImportedChat)}
    assert {id: len(chat.messages) for id, chat in chats.items()} == {"deep": 3000, "torn": 3, "ring": 2, "bare": 1}
    assert all(message.is_current for message in chats["deep"].messages)


def test_broken_messages_are_named_and_the_others_kept(tmp_path: Path) -> None:
    damaged = conversation(said("a"), said("b"))
    damaged["mapping"]["n1"]["message"] = "nonsense"
    items = read(tmp_path, [damaged, 7, {"mapping": []}, conversation(said(None), content("text", "user"))])
    assert [item.reason for item in items if isinstance(item, Flaw)] == ["broken_message", "no_messages", "no_messages"]
    kept = [item for item in items if isinstance(item, ImportedChat)]
    assert [[(row.text, row.is_hidden) for row in chat.messages] for chat in kept] == [
        [("b", False)],
        [("", True), ("", True)],
    ]


def test_blocks_of_claude_of_any_age(tmp_path: Path) -> None:
    def row(id: str, **more: Any) -> dict[str, Any]:
        return {"uuid": id, "sender": "assistant", "text": "", "content": [], **more}

    artifact = {"type": "tool_use", "name": "artifacts", "input": {"title": "App", "content": "<p>"}}
    search = {"type": "web_search_tool_result", "content": [{"title": "Found", "url": "https://x.org"}]}
    cited = {"type": "text", "text": "So it is.", "citations": [{"details": {"url": "https://x.org"}}]}
    rows = only(
        read(
            tmp_path,
            {
                "uuid": "c",
                "chat_messages": [
                    row("a", sender="human", text=None, content=None),
                    row("b", content=[artifact, {"type": "voice_note", "title": "Note", "text": "Spoken"}]),
                    row("c", content=[search, cited]),
                    row("d", content=[{"type": "hologram"}], files=["plain.txt", {"file_uuid": "f-1"}]),
                    row("e", text="Thought aloud", content=[{"type": "thinking", "thinking": "Thought aloud"}]),
                    row("f", sender="narrator", content="just text"),
                ],
            },
        )
    )
    assert rows["b"].text == "<p>\n\nNote\n\nSpoken"
    assert [part.kind for part in rows["c"].parts] == ["tool_result", "text", "citation"]
    assert [(part.kind, part.name) for part in rows["d"].parts] == [
        ("hologram", ""), ("file", "plain.txt"), ("file", "f-1"),
    ]  # fmt: skip
    assert rows["e"].is_hidden
    assert (rows["f"].role, rows["f"].speaker, rows["f"].text) == ("other", "narrator", "just text")
    assert all(message.is_current for message in rows.values())


def test_one_conversation_alone_and_one_under_a_name(tmp_path: Path) -> None:
    assert only(read(tmp_path, conversation(said("alone"))))["n1"].text == "alone"
    assert only(read(tmp_path, {"conversations": [conversation(said("below"))]}))["n1"].text == "below"


def test_what_the_activity_says_in_a_language_that_is_not_known(tmp_path: Path) -> None:
    entry = {"header": "Applications Gemini", "title": "Requête : bonjour", "time": "2026-03-10T18:12:00.000Z"}
    entries = [{**entry, "safeHtmlItem": [{"html": "<p>Salut</p>"}], "subtitles": [{"name": "1 fichier"}]}]
    rows = list(only(read(tmp_path, entries)).values())
    assert [(row.role, row.text) for row in rows] == [("user", "Requête : bonjour"), ("assistant", "Salut")]
    assert rows[0].parts[-1].name == "1 fichier"


def test_the_files_of_an_archive_are_read_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations-10.json", json.dumps([conversation(said("ten"))]))
        archive.writestr("conversations-2.json", json.dumps([conversation(said("two"))]))
        archive.writestr("user.json", "{}")
    read = ChatFiles.at(path, zone=BERLIN)
    texts = [item.messages[0].text for item in read if isinstance(item, ImportedChat)]
    assert texts == ["two", "ten"]
    assert read.passed_over == ["user.json"]


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_whatever_is_damaged_is_named_and_raises_nothing_else(packed: int) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", packed) as archive:
        for name in ("../../conversations.json", "/conversations.jsonl", "user.json"):
            archive.writestr(name, json.dumps([conversation(said("some words " * 20))]))
    for place in range(whole.getbuffer().nbytes):
        damaged = bytearray(whole.getvalue())
        damaged[place] ^= 0xFF
        with suppress(UnreadableFile):
            assert list(ChatFiles.in_upload(io.BytesIO(damaged), "export.zip", zone=BERLIN))


def test_a_small_archive_that_would_unpack_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("picture.png", bytes(2 << 20))
        archive.writestr("conversations.json", " " * (1 << 20))
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(UnreadableFile, match="no_chats"):
        list(ChatFiles.in_upload(bomb, "export.zip", zone=BERLIN))
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", (1 << 20) - 1)
    with pytest.raises(UnreadableFile, match="too_large"):
        ChatFiles.in_upload(bomb, "export.zip", zone=BERLIN)


def test_lines_are_recognised_by_a_long_first_one_whatever_the_file_is_called(tmp_path: Path) -> None:
    row = {"chat": "c", "id": "m", "role": "user", "sent_at": "2024-05-01T09:00:00Z", "text": "long " * 100_000}
    assert only(read(tmp_path, json.dumps(row), "export"))["m"].text == row["text"]


@pytest.mark.parametrize("never", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", -62_135_596_800])
def test_a_time_at_the_edge_of_the_calendar_is_none(tmp_path: Path, never: str | int) -> None:
    """The curator and the pages go hours and days back and forth from it."""
    row = {"chat": "c", "id": "m", "role": "user", "sent_at": never, "text": "long ago"}
    assert read(tmp_path, json.dumps(row)) == [Flaw(file="conversations.json", unit="line", number=1, reason="no_time")]
    given = {**said("long ago"), "create_time": never}
    rows = only(read(tmp_path, conversation(given, create_time=1_714_500_000)))
    assert rows["n1"].sent_at == datetime.fromtimestamp(1_714_500_000, UTC)


def test_an_entry_without_end_is_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "MAX_ENTRY_CHARACTERS", 1 << 20)
    path = tmp_path / "conversations.json"
    path.write_text(f'[{json.dumps(conversation(said("first")))}, {{"title": "{"x" * (4 << 20)}')
    chat, flaw = ChatFiles.at(path, zone=BERLIN)
    assert isinstance(chat, ImportedChat)
    assert flaw == Flaw(file=path.name, unit="entry", number=2, reason="too_long")


def test_html_becomes_text_with_its_form() -> None:
    html = (
        "<h2>Steps</h2><ol><li>One</li><li>Two <a href='https://x.org'>here</a></li></ol>"
        "<pre><code>a = 1\n  b = 2</code></pre><table><tr><td>1</td><td>2</td></tr></table>"
        "A&nbsp;&lt;b&gt;<style>x</style>"
    )
    assert text_of_html(html) == ("Steps\n\n- One\n- Two here (https://x.org)\n\na = 1\n  b = 2\n\n1 | 2 |\n\nA\xa0<b>")
