"""What the core asks of layers above without knowing them; bound once, when the apps start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quotation that was found in a stored message of the person."""

    message_id: UUID
    sent_at: datetime
    zone: str


MeaningFinder = Callable[[str, "str | None"], "list[UUID]"]
QuoteFinder = Callable[[str, str, str], "Quote | None"]
QuoteClassifier = Callable[[str, str, int], None]
Publisher = Callable[[str, dict[str, Any]], None]


def _no_quotes(scope_ref: str, ref: str, text: str) -> Quote | None:
    return None


def _classify_nothing(scope_ref: str, ref: str, level: int) -> None:
    return None


def _mean_nothing(name: str, kind: str | None) -> list[UUID]:
    return []


def _publish_nowhere(scope_ref: str, payload: dict[str, Any]) -> None:
    return None


find_quote: QuoteFinder = _no_quotes
"""(scope_ref, `msg:<id>`, text) → the message of the scope's person that contains the text, or None."""

classify_quoted: QuoteClassifier = _classify_nothing
"""(scope_ref, `msg:<id>`, level) → the message is at least as sensitive as what was learned from it."""

find_by_meaning: MeaningFinder = _mean_nothing
"""(name, kind) → entities of the open scope whose description is close in meaning, the closest first."""

publish: Publisher = _publish_nowhere
"""(scope_ref, ids) → tell open windows; called after commit, must not raise."""


def bind_quote_finder(function: QuoteFinder) -> None:
    global find_quote
    find_quote = function


def bind_quote_classifier(function: QuoteClassifier) -> None:
    global classify_quoted
    classify_quoted = function


def bind_meaning_finder(function: MeaningFinder) -> None:
    global find_by_meaning
    find_by_meaning = function


def bind_publisher(function: Publisher) -> None:
    global publish
    publish = function
