"""What a search asks for and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from gedaechtnis.memory.answers import FactView
from gedaechtnis.memory.selectors.moments import Basis

Mode = Literal["hybrid", "keyword", "semantic"]
SourceKind = Literal["entity", "entity_live", "fact", "event", "episode", "summary", "rollup"]
Voice = Literal["lexical", "semantic", "temporal", "graph"]

MAX_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A question with its restrictions, which hold before the limit.

    `kinds` are kinds of entities; `chat` an id or the id it had where it was imported from; `time_range` `[from, to)`.
    `repo` restricts nothing: what is known of that repository comes first among hits that are about as good.
    Without `valid_at` what has ended is found too, marked and ranked below what holds.
    """

    text: str
    mode: Mode = "hybrid"
    kinds: tuple[str, ...] = ()
    source_kinds: tuple[str, ...] = ()
    chat: str | None = None
    predicate: str | None = None
    repo: str | None = None
    time_range: tuple[datetime, datetime] | None = None
    valid_at: datetime | None = None
    known_at: datetime | Basis | None = None
    limit: int = 10
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found, as the graph has it at the moment asked about.

    `score` is between 0 and 1 and compares within one answer. `voices` says which voices found it, and what each added
    to the score before it was brought between 0 and 1. `fact` is what `fact_id` names. A superseded hit no longer held
    at that moment: since when stands in `valid_to`, what holds instead in `superseded_by`.
    """

    source_kind: str
    ref: str
    fact_id: UUID | None
    fact: FactView | None
    message_id: UUID | None
    external_id: str | None
    chat: UUID | None
    text: str
    score: float
    voices: Mapping[str, float]
    valid_from: datetime | None
    valid_to: datetime | None
    occurred_at: datetime | None
    speaker: str
    scope_ref: str
    is_superseded: bool
    superseded_by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Hits, the best first. `missing` says in the reader's language which voices were absent and why."""

    hits: tuple[Hit, ...]
    missing: tuple[str, ...]
    basis: str
    cursor: str | None
    is_truncated: bool
    used_length: int
