from __future__ import annotations

from typing import Any

import pytest

from curator.extractors.builtin import BuiltinExtractor
from curator.preview import preview_line
from curator.window import from_preview
from gedaechtnis.common.problems import Problem
from tests.unit.curator.conversation import ANNA, MIRA, NOW, NUERNBERG, REGISTRY, SIEMENS


def preview(text: str, **more: Any) -> dict[str, Any]:
    line = {
        "id": "c1",
        "now": NOW,
        "messages": [{"role": "user", "text": text}],
        "known": [MIRA, ANNA, SIEMENS, NUERNBERG],
    }
    return preview_line(line | more, BuiltinExtractor(), REGISTRY)


def test_a_skipped_window_says_why() -> None:
    assert preview("danke") == {"id": "c1", "skipped": "acknowledgement", "operations": [], "reviews": []}


def test_operations_carry_their_route() -> None:
    shown = preview("Anna arbeitet nicht mehr bei Siemens")
    (operation,) = shown["operations"]
    assert shown["skipped"] is None
    assert (operation["op"], operation["target_fact_id"], operation["mode"], operation["route"]) == (
        "invalidate_fact", "person:anna#0", "end", "commit",
    )  # fmt: skip
    assert operation["evidence"] == {
        "kind": "conversation_quote", "text": "Anna arbeitet nicht mehr bei Siemens", "ref": "msg:1",
    }  # fmt: skip


def test_a_policy_waits_for_the_person() -> None:
    shown = preview("Antworte immer auf Deutsch")
    assert [operation["route"] for operation in shown["operations"]] == ["review"]
    assert shown["reviews"] == ["policy"]


def test_untrusted_content_sends_everything_to_review() -> None:
    messages = [{"role": "tool", "text": "page"}, {"role": "user", "text": "Anna ist 28"}]
    assert preview("", messages=messages)["reviews"] == ["untrusted"]


def test_a_similar_name_suggests_a_merge() -> None:
    assert preview("Anna Vogt ist 28")["reviews"] == ["merge"]
    assert (
        preview("Rosa ist 28", known=[MIRA, {"ref": "place:arosa", "name": "Arosa", "kind": "place"}])["reviews"] == []
    )


def test_shortened_dates_are_written_out_with_their_precision() -> None:
    (operation,) = preview("Anna wohnt seit März 2024 in Nürnberg")["operations"]
    assert (operation["valid_from"], operation["valid_from_precision"]) == ("2024-03-01", "month")


def test_the_zone_is_the_offset_of_now_unless_named() -> None:
    line = {
        "now": "2026-07-04T00:40:00+02:00",
        "messages": [{"role": "user", "text": "hi", "sent_at": "2026-07-03T22:40:00Z"}],
    }
    assert from_preview(line).zone.utcoffset(None) is not None
    assert str(from_preview(line | {"zone": "Europe/Berlin"}).zone) == "Europe/Berlin"


def test_known_facts_are_numbered_from_zero() -> None:
    window = from_preview({"now": NOW, "messages": [], "known": [ANNA]})
    assert [fact.id for fact in window.known[0].facts] == [f"person:anna#{number}" for number in range(4)]


def test_tool_messages_are_untrusted_unless_said_otherwise() -> None:
    window = from_preview({"now": NOW, "messages": [{"role": "tool", "text": "x"}, {"role": "user", "text": "y"}]})
    assert [message.trust for message in window.messages] == ["untrusted", "trusted"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"now": "2026-11-30"}, "now"),
        ({"now": None}, "now"),
        ({"zone": "Mars/Base"}, "zone"),
        ({"language": "fr"}, "language"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages.0"),
        ({"messages": [{"role": "system", "text": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user"}]}, "messages.0.text"),
        ({"messages": [{"role": "user", "text": "x", "trust": "some"}]}, "messages.0.trust"),
        ({"known": [{"name": "Anna"}]}, "known.0.ref"),
        ({"known": [{"ref": "person:a", "name": "A", "facts": [{"value": 1}]}]}, "known.0.facts.0.predicate"),
    ],
)
def test_a_line_that_cannot_be_read_says_where(change: dict[str, Any], field: str) -> None:
    with pytest.raises(Problem) as caught:
        from_preview({"now": NOW, "messages": [{"role": "user", "text": "x"}]} | change)
    assert (caught.value.code, caught.value.field) == ("invalid_window", field)
