"""What a run should know before it begins: three questions to the database, whatever the size of the memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import ParamSpec
from uuid import UUID

from django.db import InterfaceError, InternalError, OperationalError

from gedaechtnis.common import clock
from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.common.stopwatch import Stopwatch
from gedaechtnis.common.text import check_text
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import usage
from gedaechtnis.memory.selectors import moments
from gedaechtnis.memory.selectors.context import events, facts, linker, ranking, related, rendering
from gedaechtnis.memory.selectors.context.events import Happened
from gedaechtnis.memory.selectors.context.linker import LinkedEntity, Links
from gedaechtnis.memory.selectors.moments import Basis, Moment
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchQuery
from gedaechtnis.scoping.context import scope

logger = logging.getLogger(__name__)

P = ParamSpec("P")

MAX_TEXT = 100_000
DEFAULT_BUDGET = 2000
_MOST_SEARCHED = 2
_GOOD_SCORE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """`text` for the prompt ("" where nothing is known), what it rests on, and what it took.

    `tokens` is an upper estimate. `policies` is empty: they come with the preamble. `timings_ms` by step.
    """

    text: str = ""
    fact_ids: tuple[UUID, ...] = ()
    entities: tuple[LinkedEntity, ...] = ()
    policies: tuple[UUID, ...] = ()
    tokens: int = 0
    timings_ms: dict[str, float]


def build_context(
    *,
    principal: Principal,
    text: str,
    chat_id: UUID | None = None,
    applies_to: Sequence[str] = (),
    task: str | None = None,
    budget_tokens: int = DEFAULT_BUDGET,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
) -> ContextBlock:
    """What is known of the things that a message speaks of, and what its writer prefers.

    `applies_to` and `task` are references to what the reader works in: facts of other contexts are left out.
    `chat_id` helps to tell namesakes apart. At a moment of the past, names are those of today.

    Raises:
        NotFound: a reference is missing or foreign.
        Problem: `invalid_text`, `too_long`.
    """
    check_text(text, field="text", limit=MAX_TEXT)
    watch = Stopwatch()
    named = [*applies_to, *([task] if task else [])]
    with scope(principal):
        is_past = valid_at is not None or known_at is not None
        moment = moments.settle(principal=principal, valid_at=valid_at, known_at=known_at) if is_past else None
        at = moment.valid_at if moment else clock.now()
        links = linker.link(principal=principal, text=text, named=named, at=at)
        watch.lap("link")
        read = None if links.is_empty else _read(text, links, principal, chat_id, moment, at, watch)
    if read is None:
        searched = _searched(principal, text, valid_at, known_at)
        with scope(principal):
            if searched:
                links.entities = linker.referred(principal=principal, refs=searched, at=at)
            watch.lap("search")
            read = _read(text, links, principal, chat_id, moment, at, watch)
    happened, found = read
    ranked = ranking.rank(
        found.facts,
        here={entity.ref for entity in (*links.contexts, *links.entities)},
        is_confined=bool(links.contexts),
        at=at,
    )
    rendered = rendering.render(
        principal=principal,
        entities=links.entities,
        me=links.me,
        facts=ranked.facts,
        winners=ranked.winners,
        events=happened.events,
        unclear=links.unclear,
        elsewhere=ranked.elsewhere,
        has_more=found.has_more,
        budget=budget_tokens,
    )
    told = set(rendered.fact_ids)
    usage.told((fact.scope_ref, fact.id) for fact in found.facts if fact.id in told)
    watch.lap("render")
    return ContextBlock(
        text=rendered.text,
        fact_ids=rendered.fact_ids,
        entities=tuple(links.entities),
        tokens=rendered.tokens,
        timings_ms=watch.laps,
    )


def _searched(
    principal: Principal, text: str, valid_at: datetime | None, known_at: datetime | Basis | None
) -> tuple[str, ...]:
    """The few things that a search finds, for a message that names none. No scope is open: a model may be asked.

    What only resembles in meaning is not enough: a word of it must be there, and a fact must answer it well.
    """
    if not lexemes(text):
        return ()
    query = SearchQuery(
        text=text,
        source_kinds=("entity", "fact"),
        valid_at=valid_at,
        known_at=known_at,
        limit=_MOST_SEARCHED,
    )
    hits = [hit for hit in search.search(principal=principal, query=query).hits if hit.voices.get("lexical")]
    refs = (hit.fact.subject_ref if hit.fact else hit.ref for hit in hits if not hit.fact or hit.score >= _GOOD_SCORE)
    return tuple(dict.fromkeys(ref for ref in refs if ref.partition(":")[0] not in linker.SHELVES))


DATABASE_FAILURES = (OperationalError, InterfaceError, InternalError)
"""What is wrong with the database: not with the question, and not with the program."""


def note_failure(error: Exception) -> None:
    """Count that something was left out of what a run is told."""
    # The error's message may quote values; its kind is enough to count by.
    logger.error("context left empty: %s", type(error).__name__, extra={"metric": "context_failures"})


def never_failing(build: Callable[P, ContextBlock]) -> Callable[P, ContextBlock]:
    """Where the database fails, an empty block: memory never breaks a run.

    What is wrong with the question is still raised, and so is what is wrong with the program.
    """

    @wraps(build)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ContextBlock:
        try:
            return build(*args, **kwargs)
        except DATABASE_FAILURES as error:
            note_failure(error)
            return ContextBlock(timings_ms={})

    return guarded


context_for_run = never_failing(build_context)


def _settle_names(links: Links, meant: Sequence[LinkedEntity | None]) -> None:
    """Link those namesakes of whom it showed who is meant; the others stay unclear."""
    still_unclear = []
    for name, entity in zip(links.unclear, meant, strict=True) if meant else ():
        if entity is None:
            still_unclear.append(name)
        else:
            links.add(entity)
    links.unclear = still_unclear


def _read(
    text: str,
    links: Links,
    principal: Principal,
    chat_id: UUID | None,
    moment: Moment | None,
    at: datetime,
    watch: Stopwatch,
) -> tuple[Happened, facts.Found]:
    """What happened to what is linked, and what is believed of it.

    Settles the names that are not clear, and links whoever the text names by a relation ("Tims Schwester").
    """
    known = moment.known_at if moment else None
    happened = events.happened(links.entities, links.unclear, chat_id=chat_id, at=at, known=known)
    _settle_names(links, happened.meant)
    watch.lap("events")
    kin = related.named(text, links)
    if moment is not None:
        found = facts.believed_at(links.entities, links.me, moment, related=kin)
    else:
        found = facts.believed_now(links.entities, links.me, related=kin, scopes=principal.read_scopes, at=at)
    for entity in found.related:
        links.add(entity)
    watch.lap("facts")
    return happened, found
