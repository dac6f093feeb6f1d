"""The first look at a window, without a model: is there anything to learn here?

Every decision carries a reason, so that a person can see why something was not learned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from curator import sentences, words
from curator.window import Window, WindowMessage
from gedaechtnis.common.text import name_key

_CONSEQUENTIAL_TOOL = re.compile(
    r"(?:^|[_.:-])(?:write|send|create|modify|update|delete|remove|set|turn|switch|edit|add|post|move|book|order|pay)",
    re.IGNORECASE,
)
_NUMBER_OR_CONTACT = re.compile(r"\d|@")
_FEW_WORDS = 3


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is a stable code, followed by the words that decided where there are any (`marker:immer`).

    `explicit` = the person asked for it ("merk dir …"): curate at once, without debounce.
    """

    skip: bool
    reason: str
    explicit: bool = False


_TRIGGERS: tuple[tuple[str, words.Words], ...] = (
    ("correction", words.CORRECTIONS),
    ("marker", words.MARKERS),
    ("task", words.TASKS),
    ("preference", words.PREFERENCES),
)


def decide(window: Window) -> Decision:
    """Decide over the new messages of a window. The first trigger found wins; explicit requests come first."""
    new = window.new_messages
    own = [message for message in new if message.learnable]
    spoken = [(message, sentences.without_foreign(message.text)) for message in own]
    for _, text in spoken:
        if found := words.EXPLICIT.find(text):
            return Decision(skip=False, reason=f"explicit:{found.group().lower()}", explicit=True)
    if tool := next((message.tool for message in new if _is_consequential(message)), None):
        return Decision(skip=False, reason=f"tool_call:{tool}")
    if not own:
        return Decision(skip=True, reason="read_only_tools" if any(m.role == "tool" for m in new) else "no_user_text")
    verdicts = [_judge(text, window) for _, text in spoken]
    return next((verdict for verdict in verdicts if not verdict.skip), verdicts[-1])


def _is_consequential(message: WindowMessage) -> bool:
    return message.role == "tool" and message.tool is not None and _CONSEQUENTIAL_TOOL.search(message.tool) is not None


def _judge(text: str, window: Window) -> Decision:
    if not text.strip():
        return Decision(skip=True, reason="empty")
    if words.FILLERS.covers(text):
        return Decision(skip=True, reason="acknowledgement")
    stated = [part for part in sentences.split(text) if not part.is_question and not words.FILLERS.covers(part.own)]
    if not stated:
        return Decision(skip=True, reason="question")
    statement = " ".join(part.own for part in stated)
    for code, table in _TRIGGERS:
        if found := table.find(statement):
            return Decision(skip=False, reason=f"{code}:{found.group().lower()}")
    if found := words.RELATIONS.find(statement):
        return Decision(skip=False, reason=f"relation:{found.group().lower()}")
    if name := _known_name(statement, window):
        return Decision(skip=False, reason=f"known_entity:{name}")
    if len(statement.split()) <= _FEW_WORDS and not _NUMBER_OR_CONTACT.search(statement):
        return Decision(skip=True, reason="too_short")
    return Decision(skip=False, reason="statement")


def _known_name(text: str, window: Window) -> str | None:
    key = f" {name_key(text)} "
    names = (name for entity in window.known for name in (entity.name, *entity.aliases))
    return next((name for name in names if name_key(name) and f" {name_key(name)} " in key), None)
