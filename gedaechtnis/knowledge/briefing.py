"""All that a run is told before it begins, in one budget: the preamble, and the facts of what its message names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import preamble
from gedaechtnis.memory.selectors.context import DEFAULT_BUDGET, context_for_run
from gedaechtnis.memory.selectors.context.builder import DATABASE_FAILURES, note_failure
from gedaechtnis.memory.selectors.context.linker import LinkedEntity
from gedaechtnis.memory.selectors.context.rendering import tokens_of
from gedaechtnis.memory.selectors.moments import Basis

LEAST_FOR_CONTEXT = 500
"""Tokens that the facts of what is named have, however much rules and notes take; the whole budget if it is less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """`text` for the prompt ("" where there is nothing to tell), what it rests on, and what it took.

    `fact_ids` are those told, `policies` those of the rules; `policies_read` is false where the database failed before
    they were read: then the text says so. `tokens` is an upper estimate. `timings_ms` by step.
    """

    text: str
    fact_ids: tuple[UUID, ...]
    entities: tuple[LinkedEntity, ...]
    policies: tuple[UUID, ...]
    policies_read: bool
    tokens: int
    timings_ms: dict[str, float]


def brief(
    *,
    principal: Principal,
    text: str,
    repo: str | None = None,
    scope_ref: str | None = None,
    chat_id: UUID | None = None,
    applies_to: Sequence[str] = (),
    task: str | None = None,
    budget_tokens: int = DEFAULT_BUDGET,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
) -> Briefing:
    """What is to be told before a message is answered; where the database fails, as much of it as was read.

    Rules and notes stand whatever the budget; the facts of what is named have what is left, and those found by words
    alone what these leave. No fact is told twice. At a moment of the past, rules and notes are still those of today,
    as it is today's run that keeps to them, and no facts are looked up by words.

    Raises:
        NotFound: a reference or scope is missing or foreign.
        Problem: `invalid_text`, `too_long`, `invalid_repo`.
    """
    parts = preamble.begin(principal, text, repo, scope_ref, field="text")
    try:
        parts.read_standing()
    except DATABASE_FAILURES as error:
        note_failure(error)
    standing = sum(tokens_of(section) for section in parts.standing())
    block = context_for_run(
        principal=principal,
        text=text,
        chat_id=chat_id,
        applies_to=applies_to,
        task=task,
        budget_tokens=max(min(budget_tokens, LEAST_FOR_CONTEXT), budget_tokens - standing),
        valid_at=valid_at,
        known_at=known_at,
    )
    parts.watch.lap("context")
    if valid_at is None and known_at is None:
        try:
            parts.read_facts(text, leave_out=block.fact_ids, room=max(0, budget_tokens - standing - block.tokens))
        except DATABASE_FAILURES as error:
            note_failure(error)
    made = parts.made(block.text)
    return Briefing(
        text=made.text,
        fact_ids=(*block.fact_ids, *made.fact_ids),
        entities=block.entities,
        policies=made.policies,
        policies_read=made.policies_read,
        tokens=tokens_of(made.text),
        timings_ms=block.timings_ms | made.timings_ms,
    )
