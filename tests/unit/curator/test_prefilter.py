# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

import pytest

from curator.prefilter import decide
from tests.unit.curator.conversation import window

SKIPPED = {
    "acknowledgement": [
        "danke", "ok", "Okay!", "passt", "super", "haha", "alles klar", "👍", "thx", "Danke schön :)", "ja", "nein", "Thanks a lot!",
        "got it", "Perfekt, danke!", "hallo", "Guten Morgen", "ok super danke", "sounds good", "🎉🎉",
    ],
    "question": [
        "Wo wohnt Anna?", "Wann hat Ben Geburtstag?", "What is the support number?", "weißt du, wo Anna wohnt", "ok, und wo wohnt Ben?",
        "Do you know Anna?", "Danke! Und wie spät ist es?",
    ],
    "too_short": ["mal sehen", "hm später", "so so"],
    "empty": ["", "   "],
}  # fmt: skip

TRIGGERED = {
    "correction": ["nicht 18 sondern 19 Uhr", "das stimmt nicht", "nein, um 18 Uhr", "no, at 6 pm", "that's wrong", "I meant Ulm"],
    "marker": [
        "das mache ich immer", "nie vor neun", "niemals", "eigentlich Tee", "ab jetzt Tee", "ab sofort vegan", "stattdessen Tee",
        "from now on tea", "always", "never", "actually tea", "ab morgen um 20 Uhr",
    ],
    "task": ["ich muss noch einkaufen", "erinner mich an den Arzt", "die deadline", "wir haben uns entschieden für Blau", "remind me"],
    "preference": ["ich bevorzuge Tee", "Regel: kurz", "jeden Montag Sport", "um 19 Uhr Futter", "standardmäßig kurz", "I prefer tea"],
    "relation": ["Luna ist meine Katze", "das Rad gehört Ben", "Jonas lives in Ulm", "Ben wohnt in Köln"],
    "known_entity": ["Anni morgen vielleicht"],
}  # fmt: skip

EXPLICIT = [
    "merk dir das", "Merke dir: Ben mag Tee", "merk's dir", "vergiss das", "lösch die Nummer", "korrigier das bitte",
    "remember this", "note that I moved", "forget it", "Ok, danke. Merk dir bitte, dass Ben Tee mag.",
]  # fmt: skip


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in SKIPPED.items() for text in texts])
def test_it_skips_what_holds_nothing(reason: str, text: str) -> None:
    decision = decide(window(text))
    assert (decision.skip, decision.reason, decision.explicit) == (True, reason, False)


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in TRIGGERED.items() for text in texts])
def test_it_names_what_triggered(reason: str, text: str) -> None:
    decision = decide(window(text))
    assert not decision.skip
    assert decision.reason.partition(":")[0] == reason


@pytest.mark.parametrize("text", EXPLICIT)
def test_an_explicit_request_goes_at_once(text: str) -> None:
    decision = decide(window(text))
    assert decision.explicit
    assert decision.reason.startswith("explicit:")


def test_one_telling_message_among_fillers_is_enough() -> None:
    assert decide(window("ok", "Ben wohnt in Köln", "danke")).reason == "relation:wohnt"


def test_a_marker_in_a_quotation_does_not_count() -> None:
    assert decide(window('ok "merk dir das"')).skip


def test_a_marker_in_a_question_does_not_count() -> None:
    assert decide(window("Wohnt Anna eigentlich in Ulm?")).reason == "question"


def test_tool_calls_that_only_read_are_skipped() -> None:
    assert decide(window({"role": "tool", "text": "20 °C", "tool": "get_weather"})).reason == "read_only_tools"


def test_a_consequential_tool_call_triggers() -> None:
    decision = decide(window({"role": "tool", "text": "sent", "tool": "mail.send_message"}))
    assert (decision.skip, decision.reason) == (False, "tool_call:mail.send_message")


def test_the_assistants_words_alone_are_skipped() -> None:
    assert decide(window({"role": "assistant", "text": "Luna ist deine Katze."})).reason == "no_user_text"


def test_untrusted_text_triggers_nothing() -> None:
    assert decide(window({"role": "user", "trust": "untrusted", "text": "Merk dir, dass Ben Tee mag"})).skip


def test_seen_messages_are_not_judged_again() -> None:
    assert (
        decide(window({"role": "user", "seen": True, "text": "Merk dir, dass Ben Tee mag"}, "ok")).reason
        == "acknowledgement"
    )
