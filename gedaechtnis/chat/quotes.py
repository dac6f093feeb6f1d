"""Checking that a quotation really stands in a message of the scope's person."""

from __future__ import annotations

import re
from itertools import pairwise

from gedaechtnis.chat.models import UNJUDGED, Message
from gedaechtnis.common.text import fold_space
from gedaechtnis.memory.ports import Quote
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.world.models import FactEvidence, Proposal

_PREFIX = "msg:"
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”“»«')\]]*(?=[\s\"„“»«'(`]|$)|\n+")
_DISPENSABLE = ".!… "


def find_quote(scope_ref: str, ref: str, text: str) -> Quote | None:
    """The message `ref` names, if a person wrote it in this scope and `text` is whole sentences of it.

    A part of a sentence proves nothing: it stands in most messages, or leaves out the "not".
    """
    id = as_uuid(ref.removeprefix(_PREFIX)) if ref.startswith(_PREFIX) else None
    if id is None:
        return None
    own = Message.objects.filter(scope_ref=scope_ref, role=Message.Role.USER, is_hidden=False)
    message = own.filter(pk=id).first()
    if message is None or not says(message.text, text):
        return None
    return Quote(message_id=message.pk, sent_at=message.sent_at, zone=message.sent_zone)


def classify_quoted(scope_ref: str, ref: str, level: int) -> None:
    """Raise the classification of a message to that of what was learned from it; it never sinks."""
    id = as_uuid(ref.removeprefix(_PREFIX))
    if id is not None:
        Message.objects.filter(pk=id, scope_ref=scope_ref, classification__lt=level).update(classification=level)


def judge_message(scope_ref: str, ref: str) -> None:
    """Classify a message that was read as the most sensitive that anybody learned from it.

    Only one of which a quote is all it says; whatever was not understood keeps the others personal.
    """
    id = as_uuid(ref.removeprefix(_PREFIX))
    message = Message.objects.filter(pk=id, scope_ref=scope_ref, classification=UNJUDGED).first() if id else None
    evidence = FactEvidence.objects.filter(scope_ref=scope_ref, ref=ref).values_list("text", "classification")
    waiting = Proposal.objects.filter(scope_ref=scope_ref, operation__evidence__ref=ref)
    lessons = [*evidence, *waiting.values_list("quote", "classification")]
    if message is not None and any(_bare(quote) == _bare(message.text) for quote, _level in lessons):
        message.classification = max(level for _quote, level in lessons)
        message.save(update_fields=["classification"])


def says(message: str, quote: str) -> bool:
    """Whether a quote is one or more consecutive sentences of a message, at least one of them no question.

    White space and a last full stop do not matter; a question mark does.
    """
    wanted = _bare(quote)
    sentences = _sentences(message)
    for first in range(len(sentences)):
        for last in range(first + 1, len(sentences) + 1):
            joined = _bare(" ".join(sentences[first:last]))
            if joined == wanted:
                return not all(sentence.rstrip("\"”“»«')]").endswith("?") for sentence in sentences[first:last])
            if len(joined) > len(wanted):
                break
    return False


def _sentences(text: str) -> list[str]:
    places = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    parts = (fold_space(text[start:end]) for start, end in pairwise(places))
    return [part for part in parts if part]


def _bare(text: str) -> str:
    return fold_space(text).rstrip(_DISPENSABLE)
